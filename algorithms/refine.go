package algorithms

import (
	"context"
	"math"
	"slices"
	"sort"

	"miglab/algorithms/plan"
	"miglab/harness/mig"
)

// A change is a move (back < 0) or a swap of tasks between two nodes of a size.
type change struct {
	from, to int32 // nodes
	task     int32 // goes from -> to
	back     int32 // goes to -> from; -1 for a move
}

// A refinement is the state of phase 3 (FAR 3.3, Algorithm 2), which also improves the overlap of batches (FAR 4.3).
type refinement struct {
	plan *treePlan
	// end is, by compute slice of all GPUs, when the slice's last task ends. As in the paper, a move adds and subtracts
	// only the durations of its tasks, without reconfiguration.
	end        []float64
	movesOnly  bool             // leaves swaps out
	iterations int              // the largest number of iterations
	retime     func() []float64 // if it is not nil, computes end after every change, in place of the sums
	log        []change         // the changes
}

// locate returns the node, and the part of end of its GPU. end is by compute slice of all GPUs.
func (p *treePlan) locate(node int32, end []float64) (n *mig.Node, endOfGPU []float64) {
	g, v := p.tree.Locate(node)
	k := len(end) / p.tree.GPUs
	return &p.tree.Nodes[v], end[g*k : (g+1)*k]
}

// delay adds seconds to the ends of the slices that a node keeps from others. Size 3 at slice 0 also keeps slice 3.
func (p *treePlan) delay(node int32, by float64, end []float64) {
	n, end := p.locate(node, end)
	for s := range end {
		if n.Mask()>>s&1 == 1 {
			end[s] += by
		}
	}
}

// improve runs Algorithm 2 for at most r.iterations iterations, or until ctx is done. An iteration visits the nodes of
// the critical slices from the leaves up, and goes on to the parent of a node that it cannot relieve. The iteration
// that reaches a root is the last. After each iteration that changed the plan, improve calls changed.
func (r *refinement) improve(ctx context.Context, changed func()) {
	for left := r.iterations; left > 0 && ctx.Err() == nil; left-- {
		before := len(r.log)
		atRoot := r.iterate()
		if len(r.log) > before {
			changed()
		}
		if atRoot {
			return
		}
	}
}

// iterate runs one iteration and reports whether it reached a root.
func (r *refinement) iterate() bool {
	tree := r.plan.tree
	omega := slices.Max(r.end)
	queue := r.criticalLeaves(omega)
	for i := 0; i < len(queue); i++ {
		node := queue[i]
		_, v := tree.Locate(node)
		parent := tree.Nodes[v].Parent
		if parent < 0 {
			return true
		}
		if r.relieve(node, omega) {
			if r.retime != nil {
				r.end = r.retime()
				omega = slices.Max(r.end)
			}
			continue
		}
		up := node + int32(parent-v)
		if !slices.Contains(queue, up) {
			queue = append(queue, up)
		}
	}
	return false
}

// endRounding is larger than the relative error of the sums that keep the ends of slices up to date.
const endRounding = 1e-12

// criticalLeaves returns the leaves on critical slices, which reach the makespan omega.
func (r *refinement) criticalLeaves(omega float64) (leaves []int32) {
	for node := range int32(r.plan.tree.Count()) {
		n, end := r.plan.locate(node, r.end)
		if len(n.Children) == 0 && end[n.Start] >= omega*(1-endRounding) {
			leaves = append(leaves, node)
		}
	}
	return leaves
}

// relieve moves a task from a critical node to the node of its size that is free first, or swaps it for a shorter task
// there (Algorithm 2, lines 11-22). It reports whether it changed the plan.
//
// Algorithm 2 as printed moves from I^a to I. The paper's text and the released code move the other way, as here.
func (r *refinement) relieve(node int32, omega float64) bool {
	tree := r.plan.tree
	n, _ := r.plan.locate(node, r.end)
	other, end := int32(-1), math.Inf(1)
	for o := range int32(tree.Count()) {
		same, ends := r.plan.locate(o, r.end)
		if o != node && same.Size() == n.Size() {
			nodeEnd := slices.Max(ends[same.Start : same.Start+same.Size()]) // end(I) of line 11
			if nodeEnd < end {
				other, end = o, nodeEnd
			}
		}
	}
	margin := omega - end
	if other < 0 || margin <= 0 {
		return false
	}
	list, there := r.plan.lists[node], r.plan.lists[other]
	i := closestBelow(list, margin)
	if i >= 0 {
		r.apply(change{from: node, to: other, task: list[i].Index, back: -1}, list[i].Seconds)
		return true
	}
	if r.movesOnly {
		return false
	}
	i, j := closestSwap(list, there, margin)
	if i >= 0 {
		swap := change{from: node, to: other, task: list[i].Index, back: there[j].Index}
		r.apply(swap, list[i].Seconds-there[j].Seconds)
	}
	return i >= 0
}

// apply makes a change that shortens the node c.from, and lengthens c.to, by gain seconds.
func (r *refinement) apply(c change, gain float64) {
	r.plan.transfer(c.from, c.to, c.task)
	if c.back >= 0 {
		r.plan.transfer(c.to, c.from, c.back)
	}
	r.plan.delay(c.from, -gain, r.end)
	r.plan.delay(c.to, gain, r.end)
	r.log = append(r.log, c)
}

// undo reverts all changes but the first n.
func (r *refinement) undo(n int) {
	for i := len(r.log) - 1; i >= n; i-- {
		c := r.log[i]
		r.plan.transfer(c.to, c.from, c.task)
		if c.back >= 0 {
			r.plan.transfer(c.from, c.to, c.back)
		}
	}
	r.log = r.log[:n]
}

// count returns the numbers of moves and swaps in the log.
func (r *refinement) count() (moves, swaps int) {
	for _, c := range r.log {
		if c.back < 0 {
			moves++
		} else {
			swaps++
		}
	}
	return moves, swaps
}

// leastGain is the least difference in seconds between the margin and a task to be moved, as in the released code. Sums
// of durations round, so that a task as long as the margin could otherwise move to and fro without any gain.
const leastGain = 1e-5

// closestBelow considers the tasks that are shorter than the margin by more than leastGain. It returns the index of the
// task whose duration is closest to half the margin, or -1.
func closestBelow(list []plan.Task, margin float64) int {
	half := float64(margin / 2)
	i := sort.Search(len(list), func(j int) bool { return list[j].Seconds <= half })
	// list[i] is the longest task up to half the margin, list[i-1] the shortest above.
	best := -1
	if i < len(list) && list[i].Seconds < margin-leastGain {
		best = i
	}
	if i > 0 && list[i-1].Seconds < margin-leastGain && (best < 0 || list[i-1].Seconds-half < half-list[i].Seconds) {
		best = i - 1
	}
	return best
}

// closestSwap considers the pairs of a task of each list in which the first is longer than the second by less than the
// margin. It returns the indices of the pair whose difference is closest to half the margin, or -1 and -1.
func closestSwap(list, there []plan.Task, margin float64) (int, int) {
	half := float64(margin / 2)
	bestI, bestJ, off := -1, -1, math.Inf(1)
	consider := func(i, j int) {
		d := list[i].Seconds - there[j].Seconds
		if d > 0 && d < margin && math.Abs(d-half) < off {
			bestI, bestJ, off = i, j, math.Abs(d-half)
		}
	}
	// As list[i] gets shorter, so does the partner with a difference of half the margin.
	j := 0
	for i := range list {
		for j < len(there) && list[i].Seconds-there[j].Seconds < half {
			j++
		}
		if j < len(there) {
			consider(i, j)
		}
		if j > 0 {
			consider(i, j-1)
		}
	}
	return bestI, bestJ
}
