package certificate

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// mostCells is the largest number of cells that is verified. The time grows with its square.
const mostCells = 1 << 14

// verifyPrices checks that the GPUs cannot earn the prices of all tasks before the bound. A slice is busy with the
// nodes that cover it one after the other, as in [Witness.verifyChains]. In whole cells, which only shortens it, all of
// that takes less than Cells cells. The tasks on a node are different, so the most that they earn in some cells is a
// knapsack's value; a task may well be on several nodes, which only makes GPUs earn more.
func (w *Witness) verifyPrices(p *schedule.Problem) error {
	if len(p.Start) > 0 {
		return fmt.Errorf("prices prove nothing for GPUs that hold instances at the start")
	}
	if w.Cells < 1 || w.Cells > mostCells {
		return fmt.Errorf("cells is %d; it lies between 1 and %d", w.Cells, mostCells)
	}
	if len(w.Prices) != len(p.Tasks) {
		return fmt.Errorf("there are %d prices for %d tasks", len(w.Prices), len(p.Tasks))
	}
	var need float64
	for i, x := range w.Prices {
		if !(x >= 0) || math.IsInf(x, 1) {
			return fmt.Errorf("the price of task %d is %v; it is a number that is not less than 0", i+1, x)
		}
		need += x
	}
	e := earner{
		problem: p, cell: w.below() / mig.Seconds(w.Cells), cells: w.Cells - 1,
		node: map[mig.Slices][]float64{},
	}
	for _, size := range p.GPU.Sizes() {
		e.node[size] = e.knapsack(size, w.Prices)
	}
	_, last := e.subtree(0)
	if have := last[e.cells] * float64(p.GPUs()); !(have < need) {
		return fmt.Errorf("before %v s the GPUs can earn %v; the prices add up to %v only", w.Bound, have, need)
	}
	return nil
}

// An earner computes what tasks can earn on nodes, by the number of cells.
type earner struct {
	problem *schedule.Problem
	cell    mig.Seconds
	cells   int
	// node is what one node of a size can earn.
	node map[mig.Slices][]float64
}

// in returns how many whole cells a time takes, or more than all if that is too many.
func (e *earner) in(t mig.Seconds) int {
	return int(math.Floor(min(float64(t/e.cell)*(1-1e-12), float64(e.cells+1))))
}

// knapsack returns the most that different tasks can earn one after the other on a size.
func (e *earner) knapsack(size mig.Slices, prices []float64) []float64 {
	most := make([]float64, e.cells+1)
	for i, price := range prices {
		takes := e.in(e.problem.Tasks[i].On(size))
		for c := e.cells; c >= takes; c-- {
			most[c] = max(most[c], most[c-takes]+price)
		}
	}
	return most
}

// subtree returns the most that a node and those below it can earn: if every node is destroyed
// in the end, and if the topmost ones that are used are not.
func (e *earner) subtree(v int) (destroyed, last []float64) {
	n := &e.problem.GPU.Tree()[v]
	destroyed, last = e.below(v)
	used := make([]float64, e.cells+1)
	earned := 0.0
	for x, most := range e.node[n.Size()] {
		if most > earned { // the same for more cells is worth nothing
			earned = most
			for c := x; c <= e.cells; c++ {
				used[c] = max(used[c], most+destroyed[c-x])
			}
		}
	}
	create, destroy := e.in(e.problem.Model.Cost(n.Profile.Create)), e.in(leastDestroy(e.problem, n.Size()))
	destroyed, last = slices.Clone(destroyed), slices.Clone(last)
	for c := create; c <= e.cells; c++ {
		last[c] = max(last[c], used[c-create])
		if c >= create+destroy {
			destroyed[c] = max(destroyed[c], used[c-create-destroy])
		}
	}
	return destroyed, last
}

// below is subtree without the node itself.
func (e *earner) below(v int) (destroyed, last []float64) {
	children := e.problem.GPU.Tree()[v].Children
	switch len(children) {
	case 0:
		return make([]float64, e.cells+1), make([]float64, e.cells+1)
	case 1:
		return e.subtree(children[0])
	}
	leftDestroyed, leftLast := e.subtree(children[0])
	rightDestroyed, rightLast := e.subtree(children[1])
	// While the first create in one subtree runs, the other waits.
	wait := e.in(leastCreate(e.problem, v))
	return e.beside(leftDestroyed, rightDestroyed, wait), e.beside(leftLast, rightLast, wait)
}

// beside returns the most that two subtrees can earn. If both do, one waits for the other.
func (e *earner) beside(left, right []float64, wait int) []float64 {
	out := make([]float64, e.cells+1)
	for c := range out {
		out[c] = max(left[c], right[c])
		if c >= wait {
			out[c] = max(out[c], left[c]+right[c-wait], left[c-wait]+right[c])
		}
	}
	return out
}
