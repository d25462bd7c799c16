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
	// length is the number of allocations.
	length int
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
	b := newFamilyBuilder(p)
	longest := make(heap.Heap[float64], 0, n) // tasks, keyed by minus the duration
	for i := range n {
		b.enter(i, b.best[i*b.columns], 0)
		longest.Push(heap.Item[float64]{Key: -b.current[i].time, Tie: int32(i), ID: int32(i)})
	}
	slicesInAll := float64(int(p.GPU.ComputeSlices) * p.GPUs())
	for k := 0; ; k++ {
		i := int(longest[0].ID)
		c := int(b.size[i])
		b.bound = append(b.bound, max((b.work+b.charge)/slicesInAll, b.current[i].time+b.create[c]))
		next := b.best[i*b.columns+c+1]
		if next < 0 {
			b.length = k + 1
			break
		}
		b.leave(i, k+1)
		b.enter(i, next, k+1)
		longest.ReplaceFirst(heap.Item[float64]{Key: -b.current[i].time, Tie: int32(i), ID: int32(i)})
	}
	for i := range n {
		b.leave(i, b.length)
	}
	for _, s := range b.spans {
		slices.SortFunc(s, func(a, b taskSpan) int {
			return cmp.Or(cmp.Compare(b.time, a.time), int(a.task-b.task))
		})
	}
	f := b.family
	return &f
}

// A familyBuilder builds a family, one allocation after the other.
type familyBuilder struct {
	family
	tasks  task.Batch
	sizes  []mig.Slices
	create []float64 // seconds by size index
	// best has a row of columns entries for each task. Entry c is the size index with the least work among c and the
	// following indices; -1 if the task fits no such size. The first entry is the task's size in allocation 0.
	best    []int8
	columns int

	// work is the sum of size times duration in the current allocation, and charge the slice-seconds of creating each
	// used size once.
	work, charge float64
	used         []int      // tasks by size index
	current      []taskSpan // by task
	size         []int8     // index by task
}

func newFamilyBuilder(p algo.Problem) *familyBuilder {
	sizes := p.GPU.Sizes()
	n, m := len(p.Tasks), len(sizes)
	b := &familyBuilder{
		family: family{spans: make([][]taskSpan, m)}, sizes: sizes, create: make([]float64, m),
		tasks: p.Tasks, best: make([]int8, n*(m+1)), columns: m + 1,
		used: make([]int, m), current: make([]taskSpan, n), size: make([]int8, n),
	}
	for c, size := range sizes {
		b.create[c], _ = operationSeconds(p.Model, p.GPU.Profile(size))
	}
	for i := range p.Tasks {
		row := b.best[i*(m+1) : (i+1)*(m+1)]
		row[m] = -1
		least := math.Inf(1)
		for c := m - 1; c >= 0; c-- {
			t := float64(p.Tasks[i].On(sizes[c]))
			row[c] = row[c+1]
			work := sliceWork(sizes[c], t)
			if work <= least && !math.IsInf(t, 1) {
				least, row[c] = work, int8(c)
			}
		}
	}
	return b
}

// enter gives a task a size from allocation k on.
func (b *familyBuilder) enter(i int, c int8, k int) {
	t := float64(b.tasks[i].On(b.sizes[c]))
	b.size[i] = c
	b.current[i] = taskSpan{time: t, task: int32(i), from: int32(k)}
	b.work += sliceWork(b.sizes[c], t)
	if b.used[c]++; b.used[c] == 1 {
		b.charge += sliceWork(b.sizes[c], b.create[c])
	}
}

// leave ends a task's span before allocation k.
func (b *familyBuilder) leave(i, k int) {
	c := b.size[i]
	b.current[i].to = int32(k)
	b.spans[c] = append(b.spans[c], b.current[i])
	b.work -= sliceWork(b.sizes[c], b.current[i].time)
	if b.used[c]--; b.used[c] == 0 {
		b.charge -= sliceWork(b.sizes[c], b.create[c])
	}
}
