package algorithms

import (
	"math"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// forest is the repartitioning trees of all GPUs of a problem (FAR Fig. 4; one
// tree a GPU, FAR 3.2), flattened. Node i of GPU g has index g*treeSize+i.
type forest struct {
	tree  []mig.Node
	gpus  int
	sizes []mig.Slices
	// size is, by node of the tree, the index of its size.
	size []int8
	// width is, by node of the tree, the number of compute slices it keeps from
	// others: 4 for 3 slices at 0.
	width []float64
	// idle is, by node of the tree, how many of those do no work.
	idle []float64
}

func newForest(p algo.Problem) *forest {
	f := &forest{tree: p.GPU.Tree(), gpus: p.GPUs(), sizes: p.GPU.Sizes()}
	compute := mig.Mask(1<<p.GPU.ComputeSlices - 1)
	for _, n := range f.tree {
		for c, s := range f.sizes {
			if s == n.Size() {
				f.size = append(f.size, int8(c))
			}
		}
		width := (n.Mask() & compute).Count()
		f.width = append(f.width, float64(width))
		f.idle = append(f.idle, float64(width-n.Size()))
	}
	return f
}

func (f *forest) nodes() int { return f.gpus * len(f.tree) }

// A repartitioner runs phase 2 of FAR (Algorithm 1) on one allocation after the
// other, reusing its memory.
type repartitioner struct {
	forest *forest
	family *family
	costs  costs
	// shared says that the operations of a GPU exclude each other ([mig.Sequential]).
	shared bool
	slices float64 // compute slices of all GPUs

	free    endHeap
	used    []bool    // by node: has run a task
	channel []float64 // by GPU: reconfig_end of Algorithm 1
	queue   [][]span  // by size index: unscheduled tasks, longest first
}

func newRepartitioner(p algo.Problem, f *family) *repartitioner {
	r := &repartitioner{
		forest: newForest(p), family: f, costs: newCosts(p),
		shared: p.Model == mig.Sequential,
		slices: float64(int(p.GPU.ComputeSlices) * p.GPUs()),
	}
	r.used = make([]bool, r.forest.nodes())
	r.channel = make([]float64, p.GPUs())
	r.queue = make([][]span, len(r.forest.sizes))
	return r
}

// recorder is told what phase 2 decides; nil where only the makespan matters.
type recorder interface {
	// place says that a node runs a task, after those it was given before.
	place(node, task int32)
	// destroy says that a node that ran tasks is destroyed.
	destroy(node int32)
}

// makespan schedules allocation k by Algorithm 1 and returns the end of the last
// task in seconds. It gives up and returns +Inf as soon as the makespan is known
// to exceed limit.
//
// Under [mig.Sequential] the operations of a GPU follow one another (lines 9-11
// and 19-20); several GPUs have a channel each.
func (r *repartitioner) makespan(k int, limit float64, rec recorder) float64 {
	f := r.forest
	left := 0
	for c, spans := range r.family.spans {
		q := r.queue[c][:0]
		for i := range spans {
			if spans[i].holds(k) {
				q = append(q, spans[i])
			}
		}
		r.queue[c] = q
		left += len(q)
	}
	clear(r.used)
	clear(r.channel)
	r.free = r.free[:0]
	for g := range f.gpus {
		r.free.push(endEntry{0, int32(g * len(f.tree))})
	}
	// At any time: what lies below the ends of the open instances, idle or busy,
	// plus the work of the unscheduled tasks, has to fit below the makespan on the
	// slices that can still be used. What a destruction takes beyond the makespan does
	// not: no task may follow on those slices. Rounding must not make it exceed by itself.
	below, width := r.family.area[k], r.slices
	give := limit * (1 + 1e-9)

	next := r.queue
	var heads [mig.MaxSize]int
	var makespan float64
	for left > 0 {
		e := r.free.pop()
		node := int(e.id) % len(f.tree)
		g := int(e.id) / len(f.tree)
		c := f.size[node]
		if h := heads[c]; h < len(next[c]) {
			if !r.used[e.id] {
				r.used[e.id] = true
				end := r.operate(g, e.end, r.costs.create[c])
				below += f.width[node] * (end - e.end)
				if below > give*width {
					return math.Inf(1)
				}
				e.end = end
			}
			t := &next[c][h]
			heads[c]++
			left--
			e.end += t.time
			below += f.idle[node] * t.time
			if e.end > makespan {
				if makespan = e.end; makespan > limit {
					return math.Inf(1)
				}
			}
			if rec != nil {
				rec.place(e.id, t.task)
			}
			r.free.push(e)
			continue
		}
		if r.used[e.id] {
			end := r.operate(g, e.end, r.costs.destroy[c])
			below += f.width[node] * (min(end, give) - min(e.end, give))
			e.end = end
			if rec != nil {
				rec.destroy(e.id)
			}
		}
		children := f.tree[node].Children
		if len(children) == 0 {
			// The slices stay idle to the end.
			below -= f.width[node] * min(e.end, give)
			width -= f.width[node]
		}
		if below > give*width {
			return math.Inf(1)
		}
		for _, child := range children {
			r.free.push(endEntry{e.end, int32(g*len(f.tree) + child)})
		}
	}
	return makespan
}

// operate returns when an operation that is asked for at an instant ends.
func (r *repartitioner) operate(gpu int, from, cost float64) float64 {
	if r.shared {
		from = max(from, r.channel[gpu])
		r.channel[gpu] = from + cost
	}
	return from + cost
}

// best returns the allocation of least makespan, the earliest of several, and its
// makespan: the answer of scheduling the whole family.
//
// Along the family the total area grows and the longest task gets shorter, so the
// bound on the makespan, the larger of the two, falls and then rises. The search
// starts where it is least and goes outward; each side ends where no bound further
// out is below the best makespan found. It relies on the bounds alone, not on
// their shape: times that do not fall with the size are searched as exactly.
func (r *repartitioner) best() (allocation int, makespan float64) {
	bound := r.family.bound
	n := r.family.length
	// leastBelow[k] and leastAbove[k] are the least bounds of 0..k and k..n-1.
	leastBelow, leastAbove := make([]float64, n), make([]float64, n)
	start := 0
	for k := range n {
		leastBelow[k] = bound[k]
		if k > 0 {
			leastBelow[k] = min(bound[k], leastBelow[k-1])
		}
		if bound[k] < bound[start] {
			start = k
		}
	}
	for k := n - 1; k >= 0; k-- {
		leastAbove[k] = bound[k]
		if k < n-1 {
			leastAbove[k] = min(bound[k], leastAbove[k+1])
		}
	}
	allocation, makespan = -1, math.Inf(1)
	try := func(k int) {
		if bound[k] > makespan*(1+1e-9) {
			return
		}
		if m := r.makespan(k, makespan, nil); m < makespan || m == makespan && k < allocation {
			allocation, makespan = k, m
		}
	}
	low, high := start-1, start
	for {
		lowOpen := low >= 0 && leastBelow[low] <= makespan*(1+1e-9)
		highOpen := high < n && leastAbove[high] <= makespan*(1+1e-9)
		switch {
		case !lowOpen && !highOpen:
			return allocation, makespan
		case highOpen && (!lowOpen || bound[high] < bound[low]):
			try(high)
			high++
		default:
			try(low)
			low--
		}
	}
}
