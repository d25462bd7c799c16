package bounds

import (
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A band contains the sets of tasks that the nodes below a node can run within the limit, judged by slice weights. It
// excludes sets that are too much for the slices below the node, that leave too much for the other slices, or that
// waste too much. Their chains exceed the limit, because the charges add up to the weighted loads.
type band []sumLimit

// A sumLimit holds for sets of tasks if the values of their tasks add up to at most a limit.
type sumLimit struct {
	// low has the sums of the sets of the first lowTasks tasks, high the sums of the sets of the other tasks.
	low, high []float64
	most      float64
}

const lowTasks = MaxChainTasks / 2

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
	for _, r := range b.room {
		b.all += r
	}
	b.all = float64(b.all * float64(p.GPUs()))
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
			if p.Model == mig.Free || len(p.Start) > 0 {
				dead = 0
			}
			dead = min(dead, n.Profile.Create)
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

// band returns the band of node v.
func (b *bandMaker) band(v int) band {
	p, tree := b.problem, b.problem.GPU.Tree()
	var below float64
	others := slices.Clone(b.weights)
	for _, l := range newCover(p.GPU, tree[v].Instance) {
		below += b.room[l]
		others[l] = 0
	}
	n, several := len(p.Tasks), p.GPUs() > 1
	inside, kept, wasted := make([]float64, n), make([]float64, n), make([]float64, n)
	mostKept, mostWasted := b.all-below, b.all
	for i := range p.Tasks {
		in, out, outOthers := b.impossible, b.impossible, b.impossible
		for u := range tree {
			charge, under := b.charge(u, i, b.weights), isBelow(tree, u, v)
			if under {
				in = min(in, charge)
			} else {
				outOthers = min(outOthers, b.charge(u, i, others))
			}
			if !under || several {
				out = min(out, charge)
			}
			if several {
				outOthers = min(outOthers, charge)
			}
		}
		inside[i], kept[i], wasted[i] = in, -outOthers, in-out
		mostKept -= outOthers
		mostWasted -= out
	}
	return band{newSumLimit(inside, below), newSumLimit(kept, mostKept), newSumLimit(wasted, mostWasted)}
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
