package algorithms

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// exampleProblem has three tasks of 10, 5 and 6 s, whatever the size.
func exampleProblem(model mig.Reconfiguration) algo.Problem {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Model: model}
	for i, d := range []mig.Seconds{10, 5, 6} {
		t := task.New(string(rune('a'+i)), nil)
		for _, s := range p.GPU.Sizes() {
			t.Set(s, d)
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

func instance(t *testing.T, size, start mig.Slices) mig.Instance {
	t.Helper()
	in, err := mig.MustLookup("A100").Instance(size, start)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestTimelineByHand splits 7 slices into 4 and 3: by FAR Table 1, creating takes
// 0.24, 0.21 and 0.20 s, and destroying 7 slices 0.22 s.
func TestTimelineByHand(t *testing.T) {
	whole, left, right := instance(t, 7, 0), instance(t, 4, 0), instance(t, 3, 4)
	plan := []use{{in: whole, tasks: []int32{0}}, {in: left, tasks: []int32{1}}, {in: right, tasks: []int32{2}}}
	for model, want := range map[mig.Reconfiguration][]float64{
		mig.Sequential: {0.24, 10.67, 10.87}, // the second creation waits for the first
		mig.Parallel:   {0.24, 10.67, 10.66},
		mig.Free:       {0, 10, 10},
	} {
		p := exampleProblem(model)
		s := run(p, plan)
		if v := schedule.Check(p, s); len(v) > 0 {
			t.Fatalf("%v: %v", model, v)
		}
		got := make([]float64, 3)
		for _, pl := range s.Placements {
			got[pl.Task] = float64(pl.Start)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%v: the tasks start at %v, want %v", model, got, want)
				break
			}
		}
		if n := len(s.Operations); n != 4 {
			t.Errorf("%v: %d operations, want 3 creates and 1 destroy", model, n)
		}
	}
}

func TestTimelineContinuesOnAnInstance(t *testing.T) {
	left := instance(t, 4, 0)
	p := exampleProblem(mig.Sequential)
	p.Start = []schedule.Existing{{Instance: left, BusyUntil: 3}}
	tl := newTimeline(p)
	tl.add([]use{{in: left, tasks: []int32{0}}}, 0)
	tl.add([]use{{in: left, tasks: []int32{1, 2}}}, 20)
	if len(tl.out.Operations) != 0 {
		t.Errorf("operations %v on an instance that was there all along", tl.out.Operations)
	}
	if got := []mig.Seconds{tl.out.Placements[0].Start, tl.out.Placements[1].Start, tl.out.Placements[2].Start}; !slices.Equal(got, []mig.Seconds{3, 20, 25}) {
		t.Errorf("the tasks start at %v, want [3 20 25]", got)
	}
	if v := schedule.Check(p, tl.out); len(v) > 0 {
		t.Error(v)
	}
}

// TestAfterRemembersFreedSlices is a regression: a batch that follows must not take
// slices whose instance was destroyed for free from the start.
func TestAfterRemembersFreedSlices(t *testing.T) {
	whole, left, right := instance(t, 7, 0), instance(t, 4, 0), instance(t, 3, 4)
	p := exampleProblem(mig.Free)
	first := newTimeline(p)
	first.add([]use{{in: whole, tasks: []int32{0}}, {in: left, tasks: []int32{1}}}, 0)
	next := first.after(p)
	next.add([]use{{in: right, tasks: []int32{2}}}, 0)
	if got := next.out.Placements[0].Start; got != 10 {
		t.Errorf("the right half is taken at %v s, want 10, when the whole GPU's task has ended", got)
	}
}

// orderedHeap is the standard library's heap over the same elements.
type orderedHeap []endEntry

func (h orderedHeap) Len() int           { return len(h) }
func (h orderedHeap) Less(i, j int) bool { return h[i].end < h[j].end }
func (h orderedHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *orderedHeap) Push(x any)        { *h = append(*h, x.(endEntry)) }
func (h *orderedHeap) Pop() any {
	e := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return e
}

func TestEndHeapPopsInOrder(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var h endHeap
		var want orderedHeap
		for range 100 {
			if len(h) > 0 && rng.IntN(3) == 0 {
				if got, w := h.pop().end, heap.Pop(&want).(endEntry).end; got != w {
					t.Fatalf("seed %d: popped %v, want %v", seed, got, w)
				}
				continue
			}
			e := endEntry{end: float64(rng.IntN(20))}
			h.push(e)
			heap.Push(&want, e)
		}
	}
}

// TestEndHeapBreaksTiesAsHeapq holds the order in which equal elements come out:
// Python's heapq gives 0, 2, 3, 1 for four of them when each popped one returns
// later with a larger key.
func TestEndHeapBreaksTiesAsHeapq(t *testing.T) {
	var h endHeap
	for i := range int32(4) {
		h.push(endEntry{0, i})
	}
	var got []int32
	for i := range 4 {
		e := h.pop()
		got = append(got, e.id)
		e.end = float64(10 + i)
		h.push(e)
	}
	if want := []int32{0, 2, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}
