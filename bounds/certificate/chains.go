package certificate

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// maxChained is the largest number of tasks for which chains are verified. It takes 3^n
// steps to compare all assignments.
const maxChained = 18

// verifyChains checks that no assignment of the tasks to the nodes of the trees keeps every slice busy for less than
// the bound. Nodes that cover the same slice exist one after the other. So the slice is busy with each such node that
// has tasks: with its create (unless it exists at the start), its tasks and its destroy. Only the last node need not be
// destroyed; at best this is the longest destroy, that of the largest node. An instance that exists at the start is
// busy until an instant, and is destroyed if any other node is used on the slice.
//
// Under [mig.Sequential] two disjoint subtrees do not create at the same time. During the
// first create in one subtree, no created node of the other exists, nor a node above both.
// So the slices of the other wait, at least for the shortest create.
//
// The best assignment for a subtree depends only on the set of its tasks. So the subtrees
// are combined from the leaves up, by set.
func (w *Witness) verifyChains(p *schedule.Problem) error {
	if len(p.Tasks) > maxChained {
		return fmt.Errorf("chains are verified for at most %d tasks, not for %d", maxChained, len(p.Tasks))
	}
	all, below := 1<<len(p.Tasks)-1, float64(w.below())
	// load is the least busy time of the GPUs so far, by set.
	var load []float64
	for gpu := range p.GPUs() {
		nodes := len(p.GPU.Tree())
		a := assignment{
			p, make([]*schedule.Existing, nodes), make([][]float64, nodes), make([][]float64, nodes),
			make([][]float64, nodes),
		}
		for i, e := range p.Start {
			for v, n := range p.GPU.Tree() {
				if e.GPU == gpu && n.Start == e.Instance.Start && n.Size() == e.Instance.Size() {
					a.there[v] = &p.Start[i]
				}
			}
		}
		_, last := a.tables(0)
		if p.Model == mig.Sequential && p.GPUs() == 1 && len(p.Start) == 0 && last[all] < below {
			o := order{a: &a, wait: a.wait(0), known: map[part]groups{}}
			last[all] = below
			for _, way := range o.ways(part{set: all}, below) {
				last[all] = min(last[all], o.until(way))
			}
		}
		if load == nil {
			load = last
		} else {
			load = dividedLoads(load, last, 0)
		}
	}
	if busy := load[all]; busy < below {
		return fmt.Errorf("chains prove %v s only, not %v: there is an assignment of the tasks that keeps no slice "+
			"busy for longer", busy, w.Bound)
	}
	return nil
}

// An assignment assigns tasks to the nodes of one GPU.
type assignment struct {
	p *schedule.Problem
	// there are the start instances, by node.
	there []*schedule.Existing
	// destroyed and last are the tables of the subtrees, by node. inner are those of the nodes below a node with tasks.
	destroyed, last, inner [][]float64
}

func (a *assignment) cost(takes mig.Seconds) float64 { return float64(a.p.Model.Cost(takes)) }

// tables returns for each set of tasks how long the busiest slice of a subtree is busy at
// least if the set is assigned to it: with all destroys, and without the longest.
func (a *assignment) tables(v int) (destroyed, last []float64) {
	node := &a.p.GPU.Tree()[v]
	sets := 1 << len(a.p.Tasks)
	switch c := node.Children; len(c) {
	case 0:
		destroyed, last = make([]float64, sets), make([]float64, sets)
		for set := 1; set < sets; set++ {
			destroyed[set], last[set] = math.Inf(1), math.Inf(1)
		}
	case 1:
		destroyed, last = a.tables(c[0])
	default:
		leftDestroyed, leftLast := a.tables(c[0])
		rightDestroyed, rightLast := a.tables(c[1])
		wait := a.wait(v)
		destroyed, last = dividedLoads(leftDestroyed, rightDestroyed, wait), dividedLoads(leftLast, rightLast, wait)
	}
	a.inner[v] = slices.Clone(destroyed)
	defer func() { a.destroyed[v], a.last[v] = destroyed, last }()
	size := node.Size()
	create, destroy := a.cost(node.Profile.Create), float64(leastDestroy(a.p, size))
	if e := a.there[v]; e != nil {
		for set := range sets {
			destroyed[set] += float64(e.BusyUntil) + destroy
			if set != 0 {
				last[set] += destroy
			}
		}
		a.run(destroyed, size)
		a.run(last, size)
		for set := 1; set < sets; set++ {
			last[set] += float64(e.BusyUntil)
		}
		return destroyed, last
	}
	used := make([]float64, sets)
	copy(used, destroyed)
	a.run(used, size)
	for set := 1; set < sets; set++ {
		last[set] = min(last[set], used[set]+create)
		destroyed[set] = min(destroyed[set], used[set]+create+destroy)
	}
	return destroyed, last
}

// run changes a table so that any tasks of each set may run on an instance of a size instead of below it.
func (a *assignment) run(busy []float64, size mig.Slices) {
	for i := range a.p.Tasks {
		took := float64(a.p.Tasks[i].On(size))
		for set := range busy {
			if set>>i&1 != 0 {
				busy[set] = min(busy[set], busy[set&^(1<<i)]+took)
			}
		}
	}
}

// wait returns how long one of the two subtrees of a node waits for the other.
func (a *assignment) wait(v int) float64 {
	for u, there := range a.there {
		if there != nil && u > v && a.p.GPU.Tree()[u].Mask()&a.p.GPU.Tree()[v].Mask() != 0 {
			return 0
		}
	}
	return float64(leastCreate(a.p, v))
}

// leastCreate returns how long it takes at least to create a node below another for some task; 0 if operations may run
// at the same time.
func leastCreate(p *schedule.Problem, v int) mig.Seconds {
	if p.Model != mig.Sequential {
		return 0
	}
	tree, least := p.GPU.Tree(), inf
	for _, n := range tree[v+1:] { // those below come after it
		fits := slices.ContainsFunc(p.Tasks, func(t task.Task) bool { return t.Fits(n.Size()) })
		if fits && n.Mask()&tree[v].Mask() != 0 {
			least = min(least, n.Profile.Create)
		}
	}
	return least
}

// dividedLoads divides each set in the best way between two subtrees that share no slice.
func dividedLoads(left, right []float64, wait float64) []float64 {
	busy := make([]float64, len(left))
	busy[0] = max(left[0], right[0])
	for set := 1; set < len(busy); set++ {
		least := min(max(left[set], right[0]), max(left[0], right[set]))
		for part := (set - 1) & set; part != 0; part = (part - 1) & set {
			x, y := left[part], right[set^part]
			if x > y {
				x, y = y, x
			}
			if y < least {
				least = min(least, max(y, x+wait))
			}
		}
		busy[set] = least
	}
	return busy
}
