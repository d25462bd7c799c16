package bounds

import (
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A band excludes sets of tasks: if it does not contain a set, no schedule within the time limit runs exactly this set
// on the nodes below the band's node, because the tasks would need more weighted time than the slices have. The weights
// are slice weights. A band is a list of limits on sums, all of which a set must meet.
type band []sumLimit

// A sumLimit is met by a set of tasks if the values of its tasks add up to at most a limit.
type sumLimit struct {
	// low has the sum of each set of the first lowTasks tasks, high the sum of each set of the other tasks.
	low, high []float64
	most      float64
}

// lowTasks splits a set in halves, so that two short tables give the sum of any set.
const lowTasks = MaxChainTasks / 2

// newSumLimit returns the limit "at most most" on sums of values, one for each task.
func newSumLimit(values []float64, most float64) sumLimit {
	k := min(lowTasks, len(values))
	return sumLimit{sums(values[:k]), sums(values[k:]), most}
}

// contains reports whether a set meets all limits. Bit i of the set represents task i.
func (b band) contains(set int) bool {
	for i := range b {
		limit := &b[i]
		if limit.low[set&(1<<lowTasks-1)]+limit.high[set>>lowTasks] > limit.most {
			return false
		}
	}
	return true
}

// newBands returns the bands of the nodes with two children, by shape of the node; see [shapes].
func newBands(p *algo.Problem, weights []float64, limit mig.Seconds) map[int][]band {
	b := bandMaker{problem: p, weights: weights, limit: limit, room: rooms(p, weights, limit)}
	b.all = float64(sum(b.room) * float64(p.GPUs()))
	b.impossible = float64(2*b.all) + 1 // more than all, also if all is 0
	bands := map[int][]band{}
	for v, node := range p.GPU.Tree() {
		if len(node.Children) > 1 {
			shape := shapes(p.GPU)[v]
			bands[shape] = append(bands[shape], b.band(v))
		}
	}
	return bands
}

// rooms returns the weighted time of each slice between the shortest create of an instance on it and the limit. Before
// that create has ended, the slice runs no task.
func rooms(p *algo.Problem, weights []float64, limit mig.Seconds) []float64 {
	room := make([]float64, len(weights))
	for l, w := range weights {
		idle := limit
		for _, n := range p.GPU.Tree() {
			if n.Mask()>>l&1 == 0 || !fitsSome(p.Tasks, n.Size()) {
				continue
			}
			idle = min(idle, p.Model.Cost(n.Profile.Create))
		}
		room[l] = float64(w*float64(limit-idle)) * (1 + rounding)
	}
	return room
}

// A bandMaker computes the bands of nodes.
type bandMaker struct {
	problem *algo.Problem
	weights []float64
	limit   mig.Seconds
	room    []float64 // by slice of a GPU, see [rooms]
	all     float64   // the room of all slices of all GPUs
	// impossible is the charge of a task that a node cannot run within the limit. It exceeds every room.
	impossible float64
}

// band returns the band of node v. It contains a set S of tasks if
//
//	the sum over S of below                              <= the room of v's slices,
//	the sum over the other tasks of beside               <= the room of all other slices, and
//	the sum over S of below + over the others of outside <= the room of all slices.
//
// For a task, below is its least charge on a node below v, and outside its least charge on any other node. beside is
// the least charge on these other nodes if only slices that v does not cover are charged.
//
// A sumLimit is about S alone, so sums over the others become sums over all tasks minus sums over S.
func (b *bandMaker) band(v int) band {
	p, tree := b.problem, b.problem.GPU.Tree()
	var room float64                  // of v's slices
	others := slices.Clone(b.weights) // 0 for v's slices
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

// charge returns the time of task i on node u times the weights of u's slices, or b.impossible if the time exceeds the
// limit.
func (b *bandMaker) charge(u, i int, weights []float64) float64 {
	p := b.problem
	node := &p.GPU.Tree()[u]
	t := float64(p.Tasks[i].On(node.Size()))
	if t > float64(b.limit) {
		return b.impossible
	}
	return min(b.impossible, float64(newCover(p.GPU, node.Instance).weight(weights)*t))
}
