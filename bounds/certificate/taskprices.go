package certificate

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// mostCells is the largest number of cells that is verified. The verification's time grows with its square.
const mostCells = 1 << 14

// verifyPrices checks that the GPUs cannot earn the prices of all tasks before the bound.
func (w *Witness) verifyPrices(p *schedule.Problem) error {
	if w.Cells < 1 || w.Cells > mostCells {
		return fmt.Errorf("cells is %d; it lies between 1 and %d", w.Cells, mostCells)
	}
	if len(w.Prices) != len(p.Tasks) {
		return fmt.Errorf("there are %d prices for %d tasks", len(w.Prices), len(p.Tasks))
	}
	for i, x := range w.Prices {
		if !(x >= 0 && x < float64(inf)) {
			return fmt.Errorf("the price of task %d is %v; it is a number that is not less than 0", i+1, x)
		}
	}
	e := newEarner(p, w)
	_, last := e.subtree(0)
	need := new(big.Int)
	for _, x := range e.prices {
		need.Add(need, x.big())
	}
	have := product(last[e.cells].big(), big.NewInt(int64(p.GPUs())))
	if have.Cmp(need) >= 0 {
		return fmt.Errorf("before %v s the GPUs can earn %v; the prices add up to %v only", w.Bound,
			seconds(have.Lsh(have, e.unit)), seconds(need.Lsh(need, e.unit)))
	}
	return nil
}

// An earner computes the most that tasks can earn on nodes of an empty GPU, by the number of cells.
type earner struct {
	problem *schedule.Problem
	// limit is the bound less its slack, in units of 2^-1074 s / 1e9.
	limit *big.Int
	// cells is the number of whole cells that can be used, one less than [Witness.Cells].
	cells int
	// prices are in units of 2^(unit-1074).
	prices []amount
	unit   uint
	// node is the most that one node of a size can earn.
	node map[mig.Slices][]amount
}

func newEarner(p *schedule.Problem, w *Witness) *earner {
	e := &earner{
		problem: p, limit: product(exact(w.Bound), slackKept), cells: w.Cells - 1, node: map[mig.Slices][]amount{},
	}
	// A task may earn its price on each node.
	most := exact(slices.Max(w.Prices)).BitLen() + bits.Len(uint(len(p.GPU.Tree())*len(w.Prices)))
	e.unit = uint(max(0, most-limitBits))
	for _, x := range w.Prices {
		whole := exact(x)
		e.prices = append(e.prices, newAmount(whole.Rsh(whole, e.unit)))
	}
	for _, size := range p.GPU.Sizes() {
		e.node[size] = e.knapsack(size)
	}
	return e
}

// cellsFor returns the number of whole cells that a time takes, or e.cells+1 if that is less.
func (e *earner) cellsFor(t mig.Seconds) int {
	if t == inf {
		return e.cells + 1
	}
	cells := product(exact(t), product(slackWhole, big.NewInt(int64(e.cells+1))))
	if cells.Quo(cells, e.limit).BitLen() > 31 {
		return e.cells + 1
	}
	return min(int(cells.Int64()), e.cells+1)
}

// knapsack returns the most that different tasks can earn one after the other on a size.
func (e *earner) knapsack(size mig.Slices) []amount {
	most := make([]amount, e.cells+1)
	for i, price := range e.prices {
		takes := e.cellsFor(e.problem.Tasks[i].On(size))
		for c := e.cells; c >= takes; c-- {
			most[c] = greater(most[c], most[c-takes].plus(price))
		}
	}
	return most
}

// subtree returns the most that a node and the nodes below it can earn: destroyed if every used node is destroyed in
// the end, and last if the topmost used nodes are not.
func (e *earner) subtree(v int) (destroyed, last []amount) {
	n := &e.problem.GPU.Tree()[v]
	destroyed, last = e.below(v)
	used, earned := make([]amount, e.cells+1), amount{}
	for x, most := range e.node[n.Size()] {
		if !earned.less(most) {
			continue // more cells earn the same
		}
		earned = most
		for c, rest := range destroyed[:e.cells+1-x] {
			used[x+c] = greater(used[x+c], rest.plus(most))
		}
	}
	create := e.cellsFor(e.problem.Model.Cost(n.Profile.Create))
	destroy := e.cellsFor(e.problem.Model.Cost(leastDestroy(e.problem.GPU, n.Size())))
	for c := e.cells; c >= create; c-- {
		last[c] = greater(last[c], used[c-create])
		if c >= create+destroy {
			destroyed[c] = greater(destroyed[c], used[c-create-destroy])
		}
	}
	return destroyed, last
}

// below returns the tables of subtree without the node itself. The caller may change them.
func (e *earner) below(v int) (destroyed, last []amount) {
	children := e.problem.GPU.Tree()[v].Children
	switch len(children) {
	case 0:
		return make([]amount, e.cells+1), make([]amount, e.cells+1)
	case 1:
		return e.subtree(children[0])
	}
	leftDestroyed, leftLast := e.subtree(children[0])
	rightDestroyed, rightLast := e.subtree(children[1])
	// While the first create in one subtree runs, the other waits.
	wait := e.cellsFor(leastCreate(e.problem, v))
	return beside(leftDestroyed, rightDestroyed, wait), beside(leftLast, rightLast, wait)
}

// beside returns the most that two subtrees can earn. If both do, one waits for the other.
func beside(left, right []amount, wait int) []amount {
	out := make([]amount, len(left))
	for c := range out {
		out[c] = greater(left[c], right[c])
		if c >= wait {
			out[c] = greater(out[c], greater(left[c].plus(right[c-wait]), left[c-wait].plus(right[c])))
		}
	}
	return out
}
