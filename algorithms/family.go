package algorithms

import (
	"cmp"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// A family is the sequence of allocations that phase 1 of FAR considers (FAR 3.1, after Turek, Wolf and Yu, SPAA 1992).
// Allocation 0 gives every task the size with the least work. Each further allocation gives the longest task the size
// with the least work among the larger ones.
//
// Consecutive allocations differ in one task. So the family is stored as spans: a task has a size from one allocation
// up to another. The spans of a size that contain allocation k are the allocation's tasks of that size in LPT order.
type family struct {
	// spans holds the spans of each size, by index in GPU.Sizes, longest first (LPT) and then in order of arrival.
	spans [][]taskSpan
	// bound is, by allocation, a lower bound in seconds on the makespan of every schedule with that allocation.
	bound []float64
}

// A taskSpan is a task that the allocations from <= k < to run on the span's size.
type taskSpan struct {
	time     float64 // seconds on the size
	task     int32
	from, to int32
}

func (s *taskSpan) holds(k int) bool { return int(s.from) <= k && k < int(s.to) }

// sliceWork returns s*t(s). The conversion rounds it, because a fused multiply-add would change ties.
func sliceWork(size mig.Slices, t float64) float64 { return float64(float64(size) * t) }

// newFamily builds the family. Every task must fit at least one size.
//
// It breaks ties as the released code does: it takes the smallest of several sizes with equal work and the first of
// several tasks with equal duration.
func newFamily(p algo.Problem) *family {
	n := len(p.Tasks)
	b := &familyBuilder{tasks: p.Tasks, sizes: p.GPU.Sizes(), current: make([]taskSpan, n), size: make([]int, n)}
	b.spans = make([][]taskSpan, len(b.sizes))
	longest := make(heap.Heap[float64], 0, n) // tasks, keyed by minus the duration
	for i := range n {
		b.enter(i, b.cheapest(i, 0), 0)
		longest.Push(heap.Item[float64]{Key: -b.current[i].time, Tie: int32(i), ID: int32(i)})
	}
	slicesInAll := float64(int(p.GPU.ComputeSlices) * p.GPUs())
	for {
		i := int(longest[0].ID)
		b.bound = append(b.bound, max(b.work/slicesInAll, b.current[i].time))
		next := b.cheapest(i, b.size[i]+1)
		if next < 0 {
			break
		}
		b.leave(i, len(b.bound))
		b.enter(i, next, len(b.bound))
		longest.ReplaceFirst(heap.Item[float64]{Key: -b.current[i].time, Tie: int32(i), ID: int32(i)})
	}
	for i := range n {
		b.leave(i, len(b.bound))
	}
	for _, s := range b.spans {
		slices.SortFunc(s, func(a, b taskSpan) int {
			return cmp.Or(cmp.Compare(b.time, a.time), int(a.task-b.task))
		})
	}
	return &b.family
}

// A familyBuilder builds a family, one allocation after the other.
type familyBuilder struct {
	family
	tasks task.Batch
	sizes []mig.Slices
	work  float64 // the sum of size times duration in the current allocation, in slice-seconds
	// current and size are, by task, its span and the index of its size in the current allocation.
	current []taskSpan
	size    []int
}

// cheapest returns the index, from c on, of the size with the least work for a task; -1 if it fits no such size.
func (b *familyBuilder) cheapest(i, c int) int {
	best, least := -1, math.Inf(1)
	for ; c < len(b.sizes); c++ {
		work := sliceWork(b.sizes[c], float64(b.tasks[i].On(b.sizes[c])))
		if work < least {
			best, least = c, work
		}
	}
	return best
}

// enter gives a task a size from allocation k on.
func (b *familyBuilder) enter(i, c, k int) {
	t := float64(b.tasks[i].On(b.sizes[c]))
	b.size[i] = c
	b.current[i] = taskSpan{time: t, task: int32(i), from: int32(k)}
	b.work += sliceWork(b.sizes[c], t)
}

// leave ends a task's span before allocation k.
func (b *familyBuilder) leave(i, k int) {
	c := b.size[i]
	b.current[i].to = int32(k)
	b.spans[c] = append(b.spans[c], b.current[i])
	b.work -= sliceWork(b.sizes[c], b.current[i].time)
}
