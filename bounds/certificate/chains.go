package certificate

import (
	"fmt"
	"math/bits"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// maxChained is the largest number of tasks for which chains are verified. It takes 3^n
// steps to compare all assignments.
const maxChained = 18

// verifyChains checks that no assignment of the tasks to the nodes of the trees keeps every slice busy for less than
// the bound.
//
// The best assignment for a subtree depends only on the set of its tasks. So the subtrees
// are combined from the leaves up, by set.
func (w *Witness) verifyChains(p *schedule.Problem) error {
	if len(p.Tasks) > maxChained {
		return fmt.Errorf("chains are verified for at most %d tasks, not for %d", maxChained, len(p.Tasks))
	}
	m, all := measure(p, w.Bound), 1<<len(p.Tasks)-1
	// load is the least busy time of the GPUs so far, by set.
	var load []amount
	for gpu := range p.GPUs() {
		a := newAssignment(m, gpu)
		a.setTables(0)
		last := a.last[0]
		if p.Model == mig.Sequential && p.GPUs() == 1 && len(p.Start) == 0 && last[all].less(m.limit) {
			o := order{a: a, wait: m.of(leastCreate(p, 0)), known: map[part]groups{}}
			last[all] = m.limit
			for _, way := range o.ways(part{set: all}, m.limit) {
				last[all] = lesser(last[all], o.until(way))
			}
		}
		if load == nil {
			load = last
		} else {
			load = m.divide(load, last, amount{}, 0)
		}
	}
	if busy := load[all]; busy.less(m.limit) {
		return fmt.Errorf("chains prove %v s only, not %v: there is an assignment of the tasks that keeps no slice "+
			"busy for longer", m.seconds(busy), w.Bound)
	}
	return nil
}

// An assignment assigns tasks to the nodes of one GPU.
type assignment struct {
	*measured
	// there are the start instances, by node.
	there []*schedule.Existing
	// destroyed and last say for each node and each set of tasks how long the busiest slice of the subtree is busy at
	// least if the set is assigned to it: with all destroys, and without the longest. inner is like destroyed, without
	// the node itself.
	destroyed, last, inner [][]amount
}

func newAssignment(m *measured, gpu int) *assignment {
	tree := m.p.GPU.Tree()
	a := &assignment{
		measured: m, there: make([]*schedule.Existing, len(tree)), destroyed: make([][]amount, len(tree)),
		last: make([][]amount, len(tree)), inner: make([][]amount, len(tree)),
	}
	for i, e := range m.p.Start {
		for v, n := range tree {
			if e.GPU == gpu && n.Start == e.Instance.Start && n.Size() == e.Instance.Size() {
				a.there[v] = &m.p.Start[i]
			}
		}
	}
	return a
}

// empty reports whether nothing exists at the start in the subtree of a node, with or without the node itself.
func (a *assignment) empty(v int, itself bool) bool {
	tree := a.p.GPU.Tree()
	for u, there := range a.there {
		if there != nil && (u > v || itself && u == v) && tree[u].Mask()&tree[v].Mask() != 0 {
			return false
		}
	}
	return true
}

// setTables computes the tables of a node and of those below it.
func (a *assignment) setTables(v int) {
	if u := a.shape[v]; u < v && a.empty(u, true) && a.empty(v, true) {
		a.destroyed[v], a.last[v], a.inner[v] = a.destroyed[u], a.last[u], a.inner[u]
		return
	}
	node := &a.p.GPU.Tree()[v]
	sets := 1 << len(a.p.Tasks)
	var destroyed, last []amount
	for _, c := range node.Children {
		a.setTables(c)
	}
	switch c := node.Children; len(c) {
	case 0:
		destroyed = slices.Repeat([]amount{a.limit}, sets)
		destroyed[0] = amount{}
		last = slices.Clone(destroyed)
	case 1:
		destroyed, last = slices.Clone(a.destroyed[c[0]]), slices.Clone(a.last[c[0]])
	default:
		var wait amount
		if a.empty(v, false) {
			wait = a.of(leastCreate(a.p, v))
		}
		destroyed = a.divide(a.destroyed[c[0]], a.destroyed[c[1]], wait, 0)
		from := 0
		if v == 0 && a.p.GPUs() == 1 && a.there[0] == nil {
			from = sets - 1 // no other set is asked for
		}
		last = a.divide(a.last[c[0]], a.last[c[1]], wait, from)
	}
	a.inner[v] = slices.Clone(destroyed)
	a.destroyed[v], a.last[v] = destroyed, last
	size := node.Size()
	create, destroy := a.create[size], a.destroy[size]
	if e := a.there[v]; e != nil {
		busy := a.of(e.BusyUntil)
		for set := range sets {
			destroyed[set] = destroyed[set].plus(busy).plus(destroy)
			if set != 0 {
				last[set] = last[set].plus(destroy)
			}
		}
		a.run(destroyed, size)
		a.run(last, size)
		for set := 1; set < sets; set++ {
			last[set] = last[set].plus(busy)
		}
		return
	}
	used := slices.Clone(destroyed)
	a.run(used, size)
	for set := 1; set < sets; set++ {
		begun := used[set].plus(create)
		last[set] = lesser(last[set], begun)
		destroyed[set] = lesser(destroyed[set], begun.plus(destroy))
	}
}

// run changes a table so that any tasks of each set may run on an instance of a size instead of below it.
func (a *assignment) run(busy []amount, size mig.Slices) {
	for i, takes := range a.takes[size] {
		for set := range busy {
			if set>>i&1 != 0 {
				busy[set] = lesser(busy[set], busy[set&^(1<<i)].plus(takes))
			}
		}
	}
}

// divide divides each set, from one on, in the best way between two subtrees that share no slice. If both have tasks,
// one of them waits for the other. A set that cannot be run before the limit needs no look at those that contain it.
func (m *measured) divide(left, right []amount, wait amount, from int) []amount {
	busy := make([]amount, len(left))
	busy[0] = greater(left[0], right[0])
	for set := max(from, 1); set < len(busy); set++ {
		least := lesser(greater(left[set], right[0]), greater(left[0], right[set]))
		if from == 0 && m.tooLong(busy, set) {
			busy[set] = m.limit
			continue
		}
		last := 0
		if &left[0] == &right[0] { // then the highest task may as well be on the left
			last = 1<<(bits.Len(uint(set))-1) - 1
		}
		for part := (set - 1) & set; part > last; part = (part - 1) & set {
			x, y := left[part], right[set^part]
			if x.hi > least.hi || y.hi > least.hi {
				continue // most are, which saves the comparisons below
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

// tooLong reports whether a set without one of its tasks reaches the limit.
func (m *measured) tooLong(busy []amount, set int) bool {
	for rest := set; rest != 0; rest &= rest - 1 {
		if !busy[set&^(rest&-rest)].less(m.limit) {
			return true
		}
	}
	return false
}
