package bounds

import (
	"slices"

	"miglab/harness/mig"
)

// A head is a topmost used node below another, together with the used nodes below it. chain is the longest chain.
// create is the time for which later heads wait.
type head struct{ chain, create ticks }

// heads holds a node's heads for one assignment of tasks, ordered by chain less create, longest first, and followed by
// zeros. The heads of a node are the topmost used nodes below it.
type heads [mig.MaxSize]head

// longest returns the longest chain if each head waits for the creates of the heads before it; the order of [heads] is
// the best.
func (h *heads) longest() ticks {
	var longest, before ticks
	for i := 0; i < len(h) && h[i].chain > 0; i++ {
		longest = max(longest, before+h[i].chain)
		before += h[i].create
	}
	return longest
}

// longestOfTwo returns the longest chain of the two heads for which it is longest, if all heads are destroyed. Of two
// heads, one waits for the create of the other, and one for its last destroy, which takes gone.
func (h *heads) longestOfTwo(gone ticks) ticks {
	var longest ticks
	for i, x := range h {
		for _, y := range h[:i] {
			if x.chain == 0 {
				return longest
			}
			longest = max(longest, min(
				max(x.chain, y.chain+x.create+gone), max(x.chain+gone, y.chain+x.create),
				max(y.chain, x.chain+y.create+gone), max(y.chain+gone, x.chain+y.create)))
		}
	}
	return longest
}

// firstCreate returns the shortest create of the heads, or most if that is less.
func (h *heads) firstCreate(most ticks) ticks {
	for i := 0; i < len(h) && h[i].chain > 0; i++ {
		most = min(most, h[i].create)
	}
	return most
}

// merge returns the heads of both in the order of [heads].
func (h *heads) merge(o *heads) heads {
	var both heads
	i, j := 0, 0
	for k := range both {
		if o[j].chain == 0 || h[i].chain > 0 && h[i].chain-h[i].create >= o[j].chain-o[j].create {
			both[k] = h[i]
			i++
		} else {
			both[k] = o[j]
			j++
		}
		if both[k].chain == 0 {
			break
		}
	}
	return both
}

// noBetter reports whether each head of o is no longer than the head of h in its place, and whether a node above that
// begins with the shortest create of its heads waits no less with those of o.
func (h *heads) noBetter(o *heads) bool {
	for i := range h {
		if h[i].chain < o[i].chain || h[i].create < o[i].create {
			return false
		}
	}
	return o[0].chain == 0 || h.firstCreate(never) >= o.firstCreate(never)
}

// A headSearch divides the tasks from the root down. It skips divisions that are too long by a chain search's tables.
type headSearch struct {
	chains *chainSearch
	// wait is the least create of a head, and gone the least destroy.
	wait, gone ticks
	// tables holds the longest chains of the subtrees, by kind, node and set.
	tables [2][][]ticks
	// under holds the gross tables of the nodes below each node.
	under [][]ticks
	// loads holds the sums of the tasks' durations, by size and set.
	loads [mig.MaxSize + 1][]ticks
	known map[headsKey]knownHeads
	// steps counts the steps. Results are incomplete once it exceeds most.
	steps, most int
}

// A headsKey identifies a call of subtree, or of below. node is the first node of the shape.
type headsKey struct {
	node, set int
	kind      chainKind
	below     bool
}

// knownHeads holds all heads with chains below a limit.
type knownHeads struct {
	limit ticks
	list  []heads
}

// A head search takes at most headSteps steps, and headStepsASet more for each set of tasks. For 14 tasks this takes
// milliseconds; most batches take a tenth of that.
const (
	headSteps     = 1 << 20
	headStepsASet = 32
)

// heads returns the chains term of one GPU, or the limit if that is less. least is the term by the tables.
//
// Under [mig.Sequential] the tables charge one create for each pair of used subtrees, but the last of k heads waits for
// k-1 creates. Package certificate proves this.
//
// The more assignments lie below the limit, the longer the search takes, so a low limit is tried first. If the steps
// run out, heads returns the value that the earlier limits proved.
func (c *chainSearch) heads(least ticks) ticks {
	limit, wait := c.ticks(c.limit), delay(c.problem, 0, &c.create)
	if wait == 0 || least >= limit {
		return min(least, limit)
	}
	h := c.newHeadSearch(wait)
	for step := wait/8 + 1; least < limit; step *= 2 {
		next := min(limit, least+step)
		found := next
		for _, x := range h.subtree(0, c.all, net, next) {
			found = min(found, x.longest())
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
	h := &headSearch{
		chains: c, wait: wait, under: make([][]ticks, len(tree)), known: map[headsKey]knownHeads{},
		most: headSteps + headStepsASet*(c.all+1), gone: beyond,
	}
	for _, size := range c.problem.GPU.Sizes() {
		if fitsSome(c.problem.Tasks, size) {
			h.gone = min(h.gone, c.destroy[size])
		}
	}
	h.tables[gross], h.tables[net] = make([][]ticks, len(tree)), make([][]ticks, len(tree))
	for v := range tree {
		shape := shapes(c.problem.GPU)[v]
		h.under[v] = c.under[shape].gross
		t := c.subtrees[shape]
		if h.tables[net][shape] == nil {
			h.tables[net][shape] = c.net(t)
		}
		h.tables[gross][v], h.tables[net][v] = t.gross, h.tables[net][shape]
	}
	for size, times := range c.times {
		if times == nil {
			continue
		}
		h.loads[size] = sums(times)
	}
	return h
}

// subtree returns the heads of a subtree for each way to run a set of tasks whose chains are below the limit. It leaves
// out a way if the heads of another are no longer.
func (h *headSearch) subtree(v, set int, kind chainKind, limit ticks) []heads {
	if set == 0 {
		return []heads{{}}
	}
	key := headsKey{node: shapes(h.chains.problem.GPU)[v], set: set, kind: kind}
	k := h.known[key]
	if k.limit >= limit || h.steps > h.most {
		return k.list
	}
	size := h.chains.problem.GPU.Tree()[v].Size()
	own := h.chains.create[size]
	if kind == gross {
		own += h.chains.destroy[size]
	}
	var used []head
	least := limit
	use := func(rest int, x ticks, kind chainKind) {
		under := []heads{{}}
		if rest != 0 {
			under = h.below(v, rest, kind, least-x)
		}
		for _, y := range under {
			chain, create := x+y.longest(), h.wait
			if h.chains.orders {
				create = y.firstCreate(h.chains.create[size])
				if kind == gross {
					chain = max(chain, x+y.longestOfTwo(h.gone))
				}
			} else {
				least = min(least, chain)
			}
			if chain < limit {
				used = addHead(used, head{chain, create})
			}
		}
	}
	for here := set; here != 0; here = (here - 1) & set {
		h.steps++
		x, rest := own+h.loads[size][here], set^here
		if x+h.under[v][rest] >= least {
			continue
		}
		use(rest, x, gross)
		if h.chains.orders && kind == net && rest != 0 {
			use(rest, x+h.chains.destroy[size], net)
		}
	}
	list := slices.Clone(h.below(v, set, kind, limit))
	for _, x := range used {
		list = h.add(list, heads{x})
	}
	h.known[key] = knownHeads{limit, list}
	return list
}

// addHead adds x to a list unless a member is as good or better. It removes the members that x beats.
func addHead(list []head, x head) []head {
	noBetter := func(a, b head) bool { return a.chain >= b.chain && a.create >= b.create }
	if slices.ContainsFunc(list, func(o head) bool { return noBetter(x, o) }) {
		return list
	}
	return append(slices.DeleteFunc(list, func(o head) bool { return noBetter(o, x) }), x)
}

// below returns the heads of subtree if the node itself runs no task. The set must not be empty.
func (h *headSearch) below(v, set int, kind chainKind, limit ticks) []heads {
	children := h.chains.problem.GPU.Tree()[v].Children
	switch len(children) {
	case 0:
		return nil
	case 1:
		return h.subtree(children[0], set, kind, limit)
	}
	key := headsKey{node: shapes(h.chains.problem.GPU)[v], set: set, kind: kind, below: true}
	k := h.known[key]
	if k.limit >= limit || h.steps > h.most {
		return k.list
	}
	a, b := h.tables[kind][children[0]], h.tables[kind][children[1]]
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
			list = h.join(list, h.subtree(children[0], part, kind, limit),
				h.subtree(children[1], rest, kind, limit), limit)
		}
		if part == 0 {
			break
		}
	}
	h.known[key] = knownHeads{limit, list}
	return list
}

// join adds the pairs of heads of the left and the right subtree whose chains are below the limit.
func (h *headSearch) join(list, left, right []heads, limit ticks) []heads {
	for i := range left {
		for j := range right {
			both := left[i].merge(&right[j])
			if both.longest() < limit {
				list = h.add(list, both)
			}
		}
	}
	return list
}

// add adds x to a list unless all heads of a member are as short or shorter. It removes members whose heads are all as
// long or longer. If both are joined with the same heads later, this order stays; see noBetter for the nodes above.
func (h *headSearch) add(list []heads, x heads) []heads {
	h.steps += len(list)
	if slices.ContainsFunc(list, func(o heads) bool { return x.noBetter(&o) }) {
		return list
	}
	return append(slices.DeleteFunc(list, func(o heads) bool { return o.noBetter(&x) }), x)
}
