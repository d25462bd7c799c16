package bounds

import (
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A band contains the sets of tasks that the nodes below a node can run within the limit, judged by slice weights. The
// chains of other sets exceed the limit, because the charges add up to the weighted loads.
type band []sumLimit

// A sumLimit holds for sets of tasks if the values of their tasks add up to at most a limit.
type sumLimit struct {
	// low has the sums of the sets of the first lowTasks tasks, high the sums of the sets of the other tasks.
	low, high []float64
	most      float64
}

// lowTasks is half of the tasks, so that a sum is two short look-ups.
const lowTasks = MaxChainTasks / 2

// newSumLimit returns the limit for values by task.
func newSumLimit(values []float64, most float64) sumLimit {
	k := min(lowTasks, len(values))
	return sumLimit{sums(values[:k]), sums(values[k:]), most}
}

func (b band) contains(set int) bool {
	for i := range b {
		limit := &b[i]
		if limit.low[set&(1<<lowTasks-1)]+limit.high[set>>lowTasks] > limit.most {
			return false
		}
	}
	return true
}

// newBands returns the bands of the nodes with two children, by shape.
func newBands(p *algo.Problem, weights []float64, limit mig.Seconds) map[int][]band {
	b := bandMaker{problem: p, weights: weights, limit: limit, room: rooms(p, weights, limit)}
	b.all = float64(sum(b.room) * float64(p.GPUs()))
	b.impossible = float64(2*b.all) + 1
	bands := map[int][]band{}
	for v, node := range p.GPU.Tree() {
		if len(node.Children) > 1 {
			shape := shapes(p.GPU)[v]
			bands[shape] = append(bands[shape], b.band(v))
		}
	}
	return bands
}

// rooms returns the weighted time of each slice up to the limit. A slice runs no task before a create ends.
func rooms(p *algo.Problem, weights []float64, limit mig.Seconds) []float64 {
	room := make([]float64, len(weights))
	for l, w := range weights {
		dead := limit
		for _, n := range p.GPU.Tree() {
			if n.Mask()>>l&1 == 0 || !fitsSome(p.Tasks, n.Size()) {
				continue
			}
			dead = min(dead, p.Model.Cost(n.Profile.Create))
		}
		room[l] = float64(w*float64(limit-dead)) * (1 + rounding)
	}
	return room
}

// A bandMaker computes the bands of nodes.
type bandMaker struct {
	problem *algo.Problem
	weights []float64
	limit   mig.Seconds
	// room is by slice of a GPU; all is the room of all GPUs.
	room []float64
	all  float64
	// impossible is a charge that no band has room for.
	impossible float64
}

// band returns the band of node v. It contains a set S of tasks if
//
//	the sum over S of below                              <= the room below v,
//	the sum over the other tasks of beside               <= the other room, and
//	the sum over S of below + over the others of outside <= all room.
//
// below is the least charge of a task on a node below v, outside its least charge on any other node, and beside the
// least of these other charges on slices that v does not cover. Each limit becomes one on a sum over S alone.
func (b *bandMaker) band(v int) band {
	p, tree := b.problem, b.problem.GPU.Tree()
	var room float64
	others := slices.Clone(b.weights)
	for _, l := range newCover(p.GPU, tree[v].Instance) {
		room += b.room[l]
		others[l] = 0
	}
	n, several := len(p.Tasks), p.GPUs() > 1
	inS, notInS, all := make([]float64, n), make([]float64, n), make([]float64, n)
	mostNotInS, mostInAll := b.all-room, b.all
	for i := range p.Tasks {
		below, outside, beside := b.impossible, b.impossible, b.impossible
		for u := range tree {
			charge, under := b.charge(u, i, b.weights), isBelow(tree, u, v)
			if under {
				below = min(below, charge)
			} else {
				beside = min(beside, b.charge(u, i, others))
			}
			if !under || several {
				outside = min(outside, charge)
			}
			if several {
				beside = min(beside, charge)
			}
		}
		inS[i], notInS[i], all[i] = below, -beside, below-outside
		mostNotInS -= beside
		mostInAll -= outside
	}
	return band{newSumLimit(inS, room), newSumLimit(notInS, mostNotInS), newSumLimit(all, mostInAll)}
}

// charge returns the weighted time of task i on node u, at most b.impossible.
func (b *bandMaker) charge(u, i int, weights []float64) float64 {
	p := b.problem
	node := &p.GPU.Tree()[u]
	t := float64(p.Tasks[i].On(node.Size()))
	if t > float64(b.limit) {
		return b.impossible
	}
	return min(b.impossible, float64(newCover(p.GPU, node.Instance).weight(weights)*t))
}
