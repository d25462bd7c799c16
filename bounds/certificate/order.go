package certificate

import (
	"cmp"
	"slices"

	"miglab/harness/task"
)

// An order refines [Witness.verifyChains] for one GPU that creates one instance at a time (doc.go, "Chains"). A
// group is a topmost node with tasks and the nodes below it. The groups begin one after the other, each with its first
// create, the head, for which the later groups wait. The same holds for the groups below a node with tasks.
type order struct {
	a *assignment
	// wait is the least time of a create.
	wait amount
	// exact selects the proof of [ChainOrders].
	exact bool
	// known caches the results of ways.
	known map[part]knownWays
}

// A part is a set of tasks for the subtree of node v. inner says that only nodes below v run tasks. destroyed says that
// a node above v runs tasks, so that its instance has to be destroyed.
type part struct {
	v, set           int
	inner, destroyed bool
}

// A group is busy for a time, the first part of which is at least a create. Later groups wait for the create.
type group struct{ busy, create amount }

// A way to run a part has its groups in the order in which they end earliest: by the time after the create, longest
// first.
type way []group

// knownWays holds the ways to run a part that were computed for a limit.
type knownWays struct {
	limit amount
	ways  []way
}

// until returns when the last group ends.
func (w way) until() (end amount) {
	var before amount
	for _, g := range w {
		end = greater(end, g.busy.plus(before))
		before = before.plus(g.create)
	}
	return end
}

// latestPair returns when the later of two groups ends if all groups are destroyed, for the two that end last. One of
// the two waits for the create of the other, and one ends before the other by a destroy.
func (o *order) latestPair(w way) (end amount) {
	gone := o.leastDestroy()
	for i, x := range w {
		for _, y := range w[:i] {
			end = greater(end, lesser(x.before(y, gone), y.before(x, gone)))
		}
	}
	return end
}

// before returns when the later of two groups ends if g is created first.
func (g group) before(later group, gone amount) amount {
	waits := later.busy.plus(g.create)
	return lesser(greater(g.busy, waits.plus(gone)), greater(g.busy.plus(gone), waits))
}

// leastDestroy returns the shortest destroy of a node that fits some task.
func (o *order) leastDestroy() amount {
	least := inf
	for _, size := range o.a.p.GPU.Sizes() {
		if slices.ContainsFunc(o.a.p.Tasks, func(t task.Task) bool { return t.Fits(size) }) {
			least = min(least, leastDestroy(o.a.p.GPU, size))
		}
	}
	return o.a.cost(least)
}

// ways returns the ways to run a part so that each group ends before the limit, except ways no better than another. If
// a larger limit was asked before, it also returns the ways that end before that one.
func (o *order) ways(p part, limit amount) []way {
	if p.set == 0 {
		return []way{nil}
	}
	k, ok := o.known[p]
	if ok && !k.limit.less(limit) {
		return k.ways
	}
	var ways []way
	if p.inner {
		ways = o.splitWays(p, limit)
	} else {
		inner := p
		inner.inner = true
		ways = slices.Clone(o.ways(inner, limit))
		for _, g := range o.withNode(p, limit) {
			ways = withWay(ways, way{g})
		}
	}
	o.known[p] = knownWays{limit, ways}
	return ways
}

// withNode returns the groups of a part whose node runs tasks, except groups that are not busy for less than the limit.
func (o *order) withNode(p part, limit amount) (groups []group) {
	node := &o.a.p.GPU.Tree()[p.v]
	own := o.a.cost(node.Profile.Create)
	gone := o.a.cost(leastDestroy(o.a.p.GPU, node.Size()))
	if p.destroyed {
		own = own.plus(gone)
	}
	for rest := (p.set - 1) & p.set; ; rest = (rest - 1) & p.set {
		// The node runs all tasks but rest, which run below it.
		busy := own
		for i := range o.a.p.Tasks {
			if (p.set&^rest)>>i&1 != 0 {
				busy = busy.plus(o.a.units(o.a.p.Tasks[i].On(node.Size())))
			}
		}
		below := part{v: p.v, set: rest, inner: true, destroyed: true}
		if busy.plus(o.a.inner[p.v][rest]).less(limit) {
			groups = append(groups, o.above(below, busy, limit)...)
			if o.exact && !p.destroyed && rest != 0 {
				below.destroyed = false
				groups = append(groups, o.above(below, busy.plus(gone), limit)...)
			}
		}
		if rest == 0 {
			return groups
		}
	}
}

// above returns the groups that are busy for less than the limit if a part's node is busy for a time and the part runs
// below it.
func (o *order) above(p part, busy, limit amount) (groups []group) {
	if !busy.less(limit) {
		return nil
	}
	for _, w := range o.ways(p, limit.minus(busy)) {
		g := group{busy: w.until(), create: o.wait}
		if o.exact {
			g.create = o.a.cost(o.a.p.GPU.Tree()[p.v].Profile.Create)
			for _, first := range w {
				g.create = lesser(g.create, first.create)
			}
			if p.destroyed {
				g.busy = greater(g.busy, o.latestPair(w))
			}
		}
		g.busy = g.busy.plus(busy)
		if g.busy.less(limit) {
			groups = append(groups, g)
		}
	}
	return groups
}

// splitWays returns the ways in which all tasks of a part run in the subtrees of its node's children.
func (o *order) splitWays(p part, limit amount) []way {
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
	var ways []way
	for left := p.set; ; left = (left - 1) & p.set {
		right := p.set &^ left
		if greater(least[children[0]][left], least[children[1]][right]).less(limit) {
			for _, l := range o.ways(part{v: children[0], set: left, destroyed: p.destroyed}, limit) {
				for _, r := range o.ways(part{v: children[1], set: right, destroyed: p.destroyed}, limit) {
					both := slices.Concat(l, r)
					slices.SortFunc(both, byTail)
					if both.until().less(limit) {
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

// byTail orders groups by the time after the create, longest first.
func byTail(a, b group) int {
	x, y := a.busy.plus(b.create), b.busy.plus(a.create)
	return cmp.Or(cmp.Compare(y.hi, x.hi), cmp.Compare(y.lo, x.lo))
}

// withWay adds a way, and leaves out ways whose groups all take as long as those of another way or longer. A node above
// begins with the least create of its groups, so a way also stays if this is less than in the other.
func withWay(ways []way, w way) []way {
	noBetter := func(a, b way) bool {
		if len(a) < len(b) {
			return false
		}
		for i := range b {
			if a[i].busy.less(b[i].busy) || a[i].create.less(b[i].create) {
				return false
			}
		}
		for _, g := range a[len(b):] {
			if !slices.ContainsFunc(b, func(h group) bool { return !g.create.less(h.create) }) {
				return false
			}
		}
		return true
	}
	if slices.ContainsFunc(ways, func(o way) bool { return noBetter(w, o) }) {
		return ways
	}
	return append(slices.DeleteFunc(slices.Clone(ways), func(o way) bool { return noBetter(o, w) }), w)
}
