package certificate

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// maxChained is the largest number n of tasks for which chains are verified. Comparing all assignments takes 3^n steps.
const maxChained = 18

// verifyChains checks that no assignment of the tasks to the nodes of the trees keeps every slice busy for less than
// the bound. Nodes that cover the same slice exist one after the other. So the slice is busy with each such node that
// has tasks: with its create, its tasks and its destroy. Only the last node need not be destroyed; at best this saves
// the longest destroy, which is the largest node's.
//
// Under [mig.Sequential] two disjoint subtrees do not create at the same time. During the first create in one subtree,
// no created node of the other exists, nor a node above both. So its slices wait at least for the shortest create.
//
// The best assignment for a subtree depends only on the set of its tasks, so the subtrees are combined by set. On one
// GPU under [mig.Sequential], an [order] then finds the least busy time.
func (w *Witness) verifyChains(p *schedule.Problem) error {
	heads := p.Model == mig.Sequential && p.GPUs() == 1
	if w.Kind == ChainOrders && !heads {
		return fmt.Errorf("%q is for one GPU that creates one instance at a time", w.Kind)
	}
	if len(p.Tasks) > maxChained {
		return fmt.Errorf("chains are verified for at most %d tasks, not for %d", maxChained, len(p.Tasks))
	}
	all := 1<<len(p.Tasks) - 1
	r := newRuler(w.Bound)
	nodes := len(p.GPU.Tree())
	a := assignment{
		ruler: r, p: p, destroyed: make([][]amount, nodes), last: make([][]amount, nodes),
		inner: make([][]amount, nodes),
	}
	_, last := a.tables(0)
	if heads && last[all].less(r.limit) {
		wait, exact := a.units(leastCreate(p, 0)), w.Kind == ChainOrders
		o := order{a: &a, wait: wait, exact: exact, known: map[part]knownWays{}}
		last[all] = r.limit
		for _, way := range o.ways(part{set: all}, r.limit) {
			last[all] = lesser(last[all], way.until())
		}
	}
	load := last // the least busy time of the GPUs so far, by set
	for range p.GPUs() - 1 {
		load = r.divide(load, last, amount{})
	}
	busy := load[all]
	if busy.less(r.limit) {
		return fmt.Errorf("chains prove %v s only, not %v: there is an assignment of the tasks that keeps no slice "+
			"busy for longer", r.seconds(busy), w.Bound)
	}
	return nil
}

// An assignment assigns tasks to the nodes of one GPU.
type assignment struct {
	*ruler
	p *schedule.Problem
	// destroyed and last hold the results of tables, by node. inner holds destroyed without the node itself.
	destroyed, last, inner [][]amount
}

func (a *assignment) cost(takes mig.Seconds) amount { return a.units(a.p.Model.Cost(takes)) }

// tables returns two tables of the busy time of a subtree's busiest slice, by set of tasks, for the best assignment of
// the set to the subtree: with all destroys, and without the longest.
func (a *assignment) tables(v int) (destroyed, last []amount) {
	node := &a.p.GPU.Tree()[v]
	sets := 1 << len(a.p.Tasks)
	switch c := node.Children; len(c) {
	case 0:
		destroyed = slices.Repeat([]amount{a.limit}, sets)
		destroyed[0] = amount{}
		last = slices.Clone(destroyed)
	case 1:
		destroyed, last = a.tables(c[0])
		destroyed, last = slices.Clone(destroyed), slices.Clone(last)
	default:
		leftDestroyed, leftLast := a.tables(c[0])
		rightDestroyed, rightLast := a.tables(c[1])
		wait := a.units(leastCreate(a.p, v)) // while the first create in one subtree runs
		destroyed, last = a.divide(leftDestroyed, rightDestroyed, wait), a.divide(leftLast, rightLast, wait)
	}
	a.inner[v] = slices.Clone(destroyed)
	a.destroyed[v], a.last[v] = destroyed, last
	size := node.Size()
	create, destroy := a.cost(node.Profile.Create), a.cost(leastDestroy(a.p.GPU, size))
	used := slices.Clone(destroyed)
	a.run(used, size)
	for set := 1; set < sets; set++ {
		begun := used[set].plus(create)
		last[set] = lesser(last[set], begun)
		destroyed[set] = lesser(destroyed[set], begun.plus(destroy))
	}
	return destroyed, last
}

// run lowers each entry of a table by letting an instance of a size run some of the tasks of the set.
func (a *assignment) run(busy []amount, size mig.Slices) {
	for i := range a.p.Tasks {
		took := a.units(a.p.Tasks[i].On(size))
		for set := range busy {
			if set>>i&1 != 0 {
				busy[set] = lesser(busy[set], busy[set&^(1<<i)].plus(took))
			}
		}
	}
}

// leastCreate returns the shortest create of a node below v that fits some task; 0 if operations may overlap.
func leastCreate(p *schedule.Problem, v int) mig.Seconds {
	if p.Model != mig.Sequential {
		return 0
	}
	tree, least := p.GPU.Tree(), inf
	for _, n := range tree[v+1:] { // the nodes below v come after it
		fits := slices.ContainsFunc(p.Tasks, func(t task.Task) bool { return t.Fits(n.Size()) })
		if fits && n.Mask()&tree[v].Mask() != 0 {
			least = min(least, n.Profile.Create)
		}
	}
	return least
}

// divide returns the table of two subtrees that share no slice, dividing each set between them in the best way. If both
// have tasks, one of them waits for the other. A set reaches the limit if the set without one of its tasks does.
func (r *ruler) divide(left, right []amount, wait amount) []amount {
	busy := make([]amount, len(left))
	busy[0] = greater(left[0], right[0])
	for set := 1; set < len(busy); set++ {
		tooLong := false
		for rest := set; rest != 0; rest &= rest - 1 {
			tooLong = tooLong || !busy[set&^(rest&-rest)].less(r.limit)
		}
		if tooLong {
			busy[set] = r.limit
			continue
		}
		least := lesser(greater(left[set], right[0]), greater(left[0], right[set]))
		for part := (set - 1) & set; part != 0; part = (part - 1) & set {
			x, y := left[part], right[set^part]
			if x.hi > least.hi || y.hi > least.hi {
				continue // most parts are too long; this saves the comparisons below
			}
			if y.less(x) {
				x, y = y, x
			}
			if y.less(least) {
				least = lesser(least, greater(y, x.plus(wait)))
			}
		}
		busy[set] = least
	}
	return busy
}
