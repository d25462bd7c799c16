package bounds

import (
	"slices"

	"miglab/harness/mig"
)

// heads are how long the heads of a node are for one assignment, the longest first; 0
// after the last.
type heads [mig.MaxSize]ticks

// longest returns the longest chain when the heads begin in the best order, in which each
// waits for those before it: of two in a row the longer goes first.
func (h *heads) longest(wait ticks) ticks {
	var longest ticks
	for i := 0; i < len(h) && h[i] > 0; i++ {
		longest = max(longest, h[i]+ticks(i)*wait)
	}
	return longest
}

// with returns the heads of both.
func (h *heads) with(o *heads) heads {
	var both heads
	i, j := 0, 0
	for k := range both {
		if h[i] >= o[j] {
			both[k] = h[i]
			i++
		} else {
			both[k] = o[j]
			j++
		}
		if both[k] == 0 {
			break
		}
	}
	return both
}

// noLonger reports whether the k-th longest head is no longer than that of others, for
// each k. That stays so beside any further heads.
func (h *heads) noLonger(o *heads) bool {
	for i := range h {
		if h[i] > o[i] {
			return false
		}
	}
	return true
}

// A headSearch divides the tasks from the root down and leaves out what the tables of a
// chain search say is too long.
type headSearch struct {
	chains *chainSearch
	wait   ticks
	// closed has the tables of the subtrees of nodes, by kind and node, under the gross ones
	// of what is below a node. loads are of instances, by size.
	closed [2][][]ticks
	under  [][]ticks
	loads  [mig.MaxSize + 1][]ticks
	known  map[headsKey]knownHeads
	// steps may not exceed most.
	steps, most int
}

// The kinds of [chainTables].
const (
	gross = iota
	net
)

// A headsKey is what heads depend on: the set of tasks and the first node of the shape.
type headsKey struct {
	node, set, kind int
	below           bool
}

// knownHeads are all with chains below a limit.
type knownHeads struct {
	limit ticks
	list  []heads
}

// headSteps limit a head search, with headStepsASet for each set of tasks: milliseconds
// for 14 tasks, of which most batches take a tenth.
const headSteps, headStepsASet = 1 << 20, 32

// heads returns the chains term of one GPU that is empty at the start, from what the
// tables say; the limit, if that is less.
//
// Under [mig.Sequential] the tables charge one create for each pair of used subtrees. But
// of k heads the last waits for k-1 creates. Let the heads of v be the topmost used nodes
// below it, and wait the least create of a size that fits some task. In the definition of
// the term (see [chains]), for the root and every used node,
//
//	below(v) = the least, over all orders of the heads of v, of the greatest L(j-th head) + (j-1)·wait
//
// is at least what it was, and PROVEN as well: the subtree of each head begins with the
// create of a life in which tasks run. Order the heads by the starts of these. One create
// runs at a time, so those of the heads before the j-th end before that of the j-th
// begins. While they run, nothing counts on the slices of the j-th: the lives in its
// subtree with tasks have not begun, between it and v no node is used, and v and its
// ancestors, used before, between or after, share slices with the node that is being
// created and are not present. So every chain that passes the j-th head is longer by j-1
// creates. The waits within L of a head are for creates below that head, and those of
// heads further up for creates outside the subtree of v. So they are different
// operations, disjoint on the one channel, and add up.
//
// The search takes the longer the more assignments lie below a limit, so a low one is
// tried first. If the steps do not suffice, what the limits before have proven is returned.
func (c *chainSearch) heads(least ticks) ticks {
	limit, wait := c.ticks(c.limit), c.delay(0, &chainStart{})
	if wait == 0 || least >= limit {
		return min(least, limit)
	}
	h := c.newHeadSearch(wait)
	for step := wait/8 + 1; least < limit; step *= 2 {
		next := min(limit, least+step)
		found := next
		for _, x := range h.subtree(0, c.all, net, next) {
			found = min(found, x.longest(wait))
		}
		if h.steps > h.most {
			return least
		}
		least = found
		if found < next {
			break
		}
	}
	return least
}

func (c *chainSearch) newHeadSearch(wait ticks) *headSearch {
	tree := c.problem.GPU.Tree()
	h := &headSearch{chains: c, wait: wait, under: make([][]ticks, len(tree)), known: map[headsKey]knownHeads{}, most: headSteps + headStepsASet*(c.all+1)}
	h.closed[gross], h.closed[net] = make([][]ticks, len(tree)), make([][]ticks, len(tree))
	for v := range tree {
		shape := shapes(c.problem.GPU)[v]
		h.under[v] = c.under[shape].gross
		if t, ok := c.empty[shape]; ok {
			if h.closed[net][shape] == nil {
				h.closed[net][shape] = c.net(t)
			}
			h.closed[gross][v], h.closed[net][v] = t.gross, h.closed[net][shape]
		}
	}
	for size, times := range c.times {
		if times == nil {
			continue
		}
		loads := c.arena.table()
		loads[0] = 0
		for i, t := range times {
			bit := 1 << i
			for set := range bit {
				loads[bit+set] = loads[set] + t
			}
		}
		h.loads[size] = loads
	}
	return h
}

// subtree returns the heads that a set can have when it is assigned to a node and those
// below it, with chains below the limit; without those that others are no longer than.
func (h *headSearch) subtree(v, set, kind int, limit ticks) []heads {
	if set == 0 {
		return []heads{{}}
	}
	key := headsKey{node: shapes(h.chains.problem.GPU)[v], set: set, kind: kind}
	if k, ok := h.known[key]; ok && k.limit >= limit || h.steps > h.most {
		return k.list
	}
	size := h.chains.problem.GPU.Tree()[v].Size()
	own := h.chains.create[size]
	if kind == gross {
		own += h.chains.destroy[size]
	}
	least := limit
	for here := set; here != 0; here = (here - 1) & set {
		h.steps++
		x, rest := own+h.loads[size][here], set^here
		switch {
		case x+h.under[v][rest] >= least:
		case rest == 0:
			least = x
		default:
			for _, y := range h.below(v, rest, gross, least-x) {
				least = min(least, x+y.longest(h.wait))
			}
		}
	}
	list := slices.Clone(h.below(v, set, kind, limit))
	if least < limit {
		list = h.add(list, heads{least})
	}
	h.known[key] = knownHeads{limit, list}
	return list
}

// below is subtree without the node itself, for a set that is not empty.
func (h *headSearch) below(v, set, kind int, limit ticks) []heads {
	children := h.chains.problem.GPU.Tree()[v].Children
	switch len(children) {
	case 0:
		return nil
	case 1:
		return h.subtree(children[0], set, kind, limit)
	}
	key := headsKey{shapes(h.chains.problem.GPU)[v], set, kind, true}
	if k, ok := h.known[key]; ok && k.limit >= limit || h.steps > h.most {
		return k.list
	}
	a, b := h.closed[kind][children[0]], h.closed[kind][children[1]]
	symmetric := &a[0] == &b[0]
	var list []heads
	for part := set; ; part = (part - 1) & set {
		rest := set ^ part
		if symmetric && part < rest {
			break
		}
		h.steps++
		x, y := a[part], b[rest]
		if max(x, y) < limit && (part == 0 || rest == 0 || min(x, y)+h.wait < limit) {
			list = h.join(list, h.subtree(children[0], part, kind, limit), h.subtree(children[1], rest, kind, limit), limit)
		}
		if part == 0 {
			break
		}
	}
	h.known[key] = knownHeads{limit, list}
	return list
}

// join adds the heads of two subtrees side by side to a list.
func (h *headSearch) join(list, left, right []heads, limit ticks) []heads {
	for i := range left {
		for j := range right {
			if both := left[i].with(&right[j]); both.longest(h.wait) < limit {
				list = h.add(list, both)
			}
		}
	}
	return list
}

// add adds heads to a list without those that others are no longer than.
func (h *headSearch) add(list []heads, x heads) []heads {
	h.steps += len(list)
	if slices.ContainsFunc(list, func(o heads) bool { return o.noLonger(&x) }) {
		return list
	}
	return append(slices.DeleteFunc(list, func(o heads) bool { return x.noLonger(&o) }), x)
}
