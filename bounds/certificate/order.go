package certificate

import (
	"cmp"
	"slices"
)

// An order refines [Witness.verifyChains] for one empty GPU that creates one instance at a time (doc.go, "Chains"). A
// group is a topmost node with tasks and the nodes below it. The groups begin one after the other, each with its first
// create, the head, for which the later groups wait. The same holds for the groups below a node with tasks.
type order struct {
	a *assignment
	// wait is the least time of a create.
	wait amount
	// known caches the results of ways.
	known map[part]knownWays
}

// A part is a set of tasks for the subtree of node v. inner says that only nodes below v run tasks. destroyed says that
// a node above v runs tasks, so that its instance has to be destroyed.
type part struct {
	v, set           int
	inner, destroyed bool
}

// knownWays holds the ways to run a part that were computed for a limit. A way is the busy times of its groups in
// descending order.
type knownWays struct {
	limit amount
	ways  [][]amount
}

// until returns when the last group ends if the groups come in the given order.
func (o *order) until(groups []amount) (end amount) {
	var before amount
	for _, busy := range groups {
		end = greater(end, busy.plus(before))
		before = before.plus(o.wait)
	}
	return end
}

// ways returns the ways to run a part so that each group ends before the limit, except ways no better than another. If
// a larger limit was asked before, it also returns the ways that end before that one.
func (o *order) ways(p part, limit amount) [][]amount {
	if p.set == 0 {
		return [][]amount{nil}
	}
	k, ok := o.known[p]
	if ok && !k.limit.less(limit) {
		return k.ways
	}
	var ways [][]amount
	if p.inner {
		ways = o.splitWays(p, limit)
	} else {
		inner := p
		inner.inner = true
		ways = slices.Clone(o.ways(inner, limit))
		busy := o.leastWithNode(p, limit)
		if busy.less(limit) {
			ways = withWay(ways, []amount{busy})
		}
	}
	o.known[p] = knownWays{limit, ways}
	return ways
}

// leastWithNode returns the least busy time of a part whose node runs tasks, or the limit if that is less.
func (o *order) leastWithNode(p part, limit amount) amount {
	node := &o.a.p.GPU.Tree()[p.v]
	own := o.a.cost(node.Profile.Create)
	if p.destroyed {
		own = own.plus(o.a.cost(leastDestroy(o.a.p.GPU, node.Size())))
	}
	for rest := (p.set - 1) & p.set; ; rest = (rest - 1) & p.set {
		// The node runs all tasks but rest, which run below it.
		busy := own
		for i := range o.a.p.Tasks {
			if (p.set&^rest)>>i&1 != 0 {
				busy = busy.plus(o.a.units(o.a.p.Tasks[i].On(node.Size())))
			}
		}
		if busy.plus(o.a.inner[p.v][rest]).less(limit) {
			for _, w := range o.ways(part{v: p.v, set: rest, inner: true, destroyed: true}, limit.minus(busy)) {
				limit = lesser(limit, busy.plus(o.until(w)))
			}
		}
		if rest == 0 {
			return limit
		}
	}
}

// splitWays returns the ways in which all tasks of a part run in the subtrees of its node's children.
func (o *order) splitWays(p part, limit amount) [][]amount {
	children := o.a.p.GPU.Tree()[p.v].Children
	if len(children) == 0 {
		return nil
	}
	if len(children) == 1 {
		return o.ways(part{v: children[0], set: p.set, destroyed: p.destroyed}, limit)
	}
	least := o.a.last
	if p.destroyed {
		least = o.a.destroyed
	}
	var ways [][]amount
	for left := p.set; ; left = (left - 1) & p.set {
		right := p.set &^ left
		if greater(least[children[0]][left], least[children[1]][right]).less(limit) {
			for _, l := range o.ways(part{v: children[0], set: left, destroyed: p.destroyed}, limit) {
				for _, r := range o.ways(part{v: children[1], set: right, destroyed: p.destroyed}, limit) {
					both := slices.Concat(l, r)
					slices.SortFunc(both, descending)
					if o.until(both).less(limit) {
						ways = withWay(ways, both)
					}
				}
			}
		}
		if left == 0 {
			return ways
		}
	}
}

func descending(a, b amount) int { return cmp.Or(cmp.Compare(b.hi, a.hi), cmp.Compare(b.lo, a.lo)) }

// withWay adds a way, and leaves out ways whose groups all take as long as those of another way or longer.
func withWay(ways [][]amount, way []amount) [][]amount {
	noBetter := func(a, b []amount) bool {
		if len(a) < len(b) {
			return false
		}
		for i := range b {
			if a[i].less(b[i]) {
				return false
			}
		}
		return true
	}
	var out [][]amount
	for _, w := range ways {
		if noBetter(way, w) {
			return ways
		}
		if !noBetter(w, way) {
			out = append(out, w)
		}
	}
	return append(out, way)
}
