package algorithms

import (
	"cmp"
	"context"
	"math"
	"slices"

	"miglab/algorithms/plan"
	"miglab/harness/algo"
	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/stats"
)

// A repartitioner runs phase 2 of FAR (Algorithm 1) on one allocation after the other and reuses its memory.
type repartitioner struct {
	tree   *plan.Tree
	family *family
	model  mig.Reconfiguration

	free    heap.Heap[float64] // nodes by the time at which their slices are free
	used    []bool             // by node: whether it has run a task
	channel []float64          // by GPU: reconfig_end of Algorithm 1
	queue   [][]taskSpan       // by size index: the allocation's tasks, longest first
	next    [mig.MaxSize]int   // by size index: the first unscheduled task in queue
}

func newRepartitioner(p algo.Problem, f *family) *repartitioner {
	tree := plan.NewTree(p)
	return &repartitioner{
		tree: tree, family: f, model: p.Model, used: make([]bool, tree.Count()),
		channel: make([]float64, p.GPUs()), queue: make([][]taskSpan, len(p.GPU.Sizes())),
	}
}

// makespan schedules allocation k by Algorithm 1 and returns the end of the last task in seconds, or +Inf if that
// exceeds limit. If to is not nil, it adds each task and destruction to it.
//
// Under [mig.Sequential] the operations of a GPU follow one another (lines 9-11 and 19-20). Each GPU has a channel.
//
// Here a child is free when its parent is destroyed. By line 22, and in the released code, it is free when the parent's
// tasks end, so that its creation can come before an operation on other slices. Few batches end at another time.
func (r *repartitioner) makespan(k int, limit float64, to *treePlan) float64 {
	var makespan float64
	for left := r.load(k); left > 0; {
		node := r.free.Pop()
		g, v := r.tree.Locate(node.ID)
		c := r.tree.Size[v]
		if r.next[c] == len(r.queue[c]) {
			r.split(node, to)
		} else {
			if !r.used[node.ID] {
				r.used[node.ID] = true
				node.Key = r.operate(g, node.Key, r.tree.Nodes[v].Profile.Create)
			}
			t := &r.queue[c][r.next[c]]
			r.next[c]++
			left--
			node.Key += t.time
			makespan = max(makespan, node.Key)
			to.place(node.ID, plan.Task{Seconds: t.time, Index: t.task})
			r.free.Push(node)
		}
		if makespan > limit {
			return math.Inf(1)
		}
	}
	return makespan
}

// split destroys the instance of a node, if it has run tasks, and frees its children.
func (r *repartitioner) split(node heap.Item[float64], to *treePlan) {
	g, v := r.tree.Locate(node.ID)
	if r.used[node.ID] {
		node.Key = r.operate(g, node.Key, r.tree.Nodes[v].Profile.Destroy)
		to.destroy(node.ID)
	}
	for _, child := range r.tree.Nodes[v].Children {
		r.free.Push(heap.Item[float64]{Key: node.Key, ID: int32(g*len(r.tree.Nodes) + child)})
	}
}

// load puts the tasks of allocation k into the queues, empties the GPUs and returns the number of tasks.
func (r *repartitioner) load(k int) int {
	n := 0
	for c, spans := range r.family.spans {
		q := r.queue[c][:0]
		for i := range spans {
			if spans[i].holds(k) {
				q = append(q, spans[i])
			}
		}
		r.queue[c] = q
		n += len(q)
	}
	clear(r.used)
	clear(r.channel)
	clear(r.next[:])
	r.free = r.free[:0]
	for g := range r.tree.GPUs {
		r.free.Push(heap.Item[float64]{ID: int32(g * len(r.tree.Nodes))})
	}
	return n
}

// operate returns the end of an operation that begins at from or, if another occupies the channel, later.
func (r *repartitioner) operate(gpu int, from float64, takes mig.Seconds) float64 {
	cost := float64(r.model.Cost(takes))
	if r.model == mig.Sequential {
		from = max(from, r.channel[gpu])
		r.channel[gpu] = from + cost
	}
	return from + cost
}

// best returns the allocation with the least makespan, the earliest of several, and its makespan. It tries allocations
// in ascending order of their bounds, until the next bound exceeds the best makespan by more than rounding or ctx is
// done.
func (r *repartitioner) best(ctx context.Context) (allocation int, makespan float64) {
	bound := r.family.bound
	order := numbered[int](len(bound))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(bound[a], bound[b]) })
	allocation, makespan = -1, math.Inf(1)
	for _, k := range order {
		if bound[k] > makespan*(1+stats.RoundingError) || allocation >= 0 && ctx.Err() != nil {
			break
		}
		m := r.makespan(k, makespan, nil)
		if m < makespan || m == makespan && k < allocation {
			allocation, makespan = k, m
		}
	}
	return allocation, makespan
}
