package algorithms

import (
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/heap"
	"miglab/harness/mig"
)

// A family is the sequence of allocations that phase 1 of FAR considers (FAR 3.1,
// after Turek, Wolf and Yu, SPAA 1992). Allocation 0 gives every task the size with
// the least work. Each further allocation gives the longest task the size with the
// least work among the larger ones.
//
// Consecutive allocations differ in one task. So the family is stored as spans: a
// task has a size from one allocation up to another. The spans of a size that contain
// allocation k are the allocation's tasks of that size in LPT order, without sorting.
type family struct {
	// length is the number of allocations.
	length int
	// spans holds, by index of the size in GPU.Sizes, the size's spans by
	// descending duration (LPT), tasks of equal duration in order of arrival.
	spans [][]span
	// area is, by allocation, the sum of size times duration, in slice-seconds.
	area []float64
	// bound is, by allocation, a lower bound in seconds on the makespan of every
	// schedule with that allocation.
	bound []float64
}

// A span says that the allocations from <= k < to run a task on the span's size.
type span struct {
	time     float64 // seconds on the size
	task     int32
	from, to int32
}

// holds reports whether allocation k runs the task on the span's size.
func (s *span) holds(k int) bool { return int(s.from) <= k && k < int(s.to) }

// work is s*t(s). The conversion rounds it, as a fused multiply-add would turn ties.
func work(size mig.Slices, t float64) float64 { return float64(float64(size) * t) }

// newFamily builds the family. Every task must fit at least one size.
//
// Ties are broken as in the released code: the smallest of several sizes with equal
// work, the first of several tasks with equal duration.
func newFamily(p algo.Problem) *family {
	sizes := p.GPU.Sizes()
	n := len(p.Tasks)
	create := make([]float64, len(sizes)) // seconds by size index
	for c, size := range sizes {
		create[c], _ = costs(p.Model, p.GPU.Profile(size))
	}

	// Row i of best has, by c, the size index with the least work for task i among c and
	// the following ones; -1 if none fits. Column 0 is the first allocation.
	m := len(sizes)
	best := make([]int8, n*(m+1))
	times := make([]float64, n*m)
	for i := range p.Tasks {
		row := best[i*(m+1) : (i+1)*(m+1)]
		row[m] = -1
		least := math.Inf(1)
		for c := m - 1; c >= 0; c-- {
			t := float64(p.Tasks[i].On(sizes[c]))
			times[i*m+c] = t
			row[c] = row[c+1]
			if w := work(sizes[c], t); w <= least && !math.IsInf(t, 1) {
				least, row[c] = w, int8(c)
			}
		}
	}

	f := &family{spans: make([][]span, m)}
	var area float64
	used := make([]int, m) // tasks by size index
	charge := 0.0          // slice-seconds of creating each used size once
	current := make([]span, n)
	size := make([]int8, n)
	longest := make(heap.Heap[float64], 0, n) // tasks, keyed by minus the duration
	enter := func(i int, c int8, k int) {
		t := times[i*m+int(c)]
		size[i] = c
		current[i] = span{time: t, task: int32(i), from: int32(k)}
		area += work(sizes[c], t)
		if used[c]++; used[c] == 1 {
			charge += work(sizes[c], create[c])
		}
	}
	for i := range n {
		enter(i, best[i*(m+1)], 0)
		longest.Push(heap.Item[float64]{Key: -current[i].time, Tie: int32(i), ID: int32(i)})
	}

	slicesInAll := float64(int(p.GPU.ComputeSlices) * p.GPUs())
	for k := 0; ; k++ {
		i := int(longest[0].ID)
		c := size[i]
		f.area = append(f.area, area)
		f.bound = append(f.bound, max((area+charge)/slicesInAll, current[i].time+create[c]))
		next := best[i*(m+1)+int(c)+1]
		if next < 0 {
			f.length = k + 1
			break
		}
		current[i].to = int32(k + 1)
		f.spans[c] = append(f.spans[c], current[i])
		area -= work(sizes[c], current[i].time)
		if used[c]--; used[c] == 0 {
			charge -= work(sizes[c], create[c])
		}
		enter(i, next, k+1)
		longest.ReplaceFirst(heap.Item[float64]{Key: -current[i].time, Tie: int32(i), ID: int32(i)})
	}
	for i := range n {
		current[i].to = int32(f.length)
		f.spans[size[i]] = append(f.spans[size[i]], current[i])
	}
	for _, s := range f.spans {
		slices.SortFunc(s, func(a, b span) int {
			switch {
			case a.time > b.time:
				return -1
			case a.time < b.time:
				return 1
			}
			return int(a.task - b.task)
		})
	}
	return f
}
