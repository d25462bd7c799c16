package bounds_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

var unknown = mig.Seconds(math.Inf(1))

// prove is [bounds.Prove] of a valid problem.
func prove(t *testing.T, p algo.Problem, atMost mig.Seconds) bounds.Witness {
	t.Helper()
	w, err := bounds.Prove(t.Context(), p, atMost)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func equalTasks(n int, seconds map[mig.Slices]mig.Seconds) task.Batch {
	var b task.Batch
	for i := range n {
		b = append(b, task.New(fmt.Sprint("task", i), seconds))
	}
	return b
}

func TestSliceWeightsOfWorkedExamples(t *testing.T) {
	a30, a100 := mig.MustLookup("A30"), mig.MustLookup("A100")
	for _, c := range []struct {
		name      string
		p         algo.Problem
		bound     mig.Seconds
		threshold mig.Seconds
	}{
		{"two instances of 3 slices", algo.Problem{GPU: a100, Tasks: only(3, 10, 10, 10)}, 0.20 + 15, 0},
		{"three of 2", algo.Problem{GPU: a100, Tasks: only(2, 10, 10, 10, 10)}, 0.17 + 40./3, 0},
		{"one of 4", algo.Problem{GPU: a100, Tasks: only(4, 10, 10)}, 0.21 + 20, 0},
		{"two GPUs", algo.Problem{GPU: a100, Count: 2, Tasks: only(7, 10, 10)}, 0.24 + 10, 0},
		{"4 slices beside 3", algo.Problem{GPU: a100, Tasks: slices.Concat(only(3, 10, 10), only(4, 10))}, 0.20 + 15, 0},
		{"the longest task", algo.Problem{GPU: a100, Tasks: only(1, 10)}, 10.16, 10.16},
		{"released later", algo.Problem{GPU: a100, Tasks: only(7, 10), Release: []mig.Seconds{5}}, 15, 15},
		// One slice is cheaper than four, but then a task ends at 10.11. Later, all fit.
		{"what ends late is left out", algo.Problem{GPU: a30, Tasks: equalTasks(3, map[mig.Slices]mig.Seconds{1: 10, 4: 4})}, 10.11, 10.11},
		{"with nothing but 4 slices left", algo.Problem{GPU: a30, Tasks: equalTasks(2, map[mig.Slices]mig.Seconds{1: 10, 4: 4})}, 8.13, 8.13},
	} {
		w := bounds.SliceWeights(c.p)
		if math.Abs(float64(w.Bound-c.bound)) > 1e-5 || math.Abs(float64(w.Threshold-c.threshold)) > 1e-5 {
			t.Errorf("%s: %v with threshold %v, want %v with %v", c.name, w.Bound, w.Threshold, c.bound, c.threshold)
		}
	}
}

func TestProveGrowsWithWhatIsAsked(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for k := range deep.N(30, 200) {
		p := drawProblem(r, mig.GPUs()[k%4], 1+k%2, 1+r.IntN(6))
		least := mig.Seconds(0)
		for _, m := range []mig.Reconfiguration{mig.Free, mig.Parallel, mig.Sequential} {
			p.Model = m
			if w := prove(t, p, unknown); w.Bound < least*(1-1e-6) {
				t.Errorf("%d: %v under %v, but %v under a laxer model", k, w.Bound, m, least)
			} else {
				least = w.Bound
			}
		}
		stricter := p
		stricter.Tasks = slices.Clone(p.Tasks)
		x := &stricter.Tasks[r.IntN(len(p.Tasks))]
		for _, s := range p.GPU.Sizes() {
			x.Set(s, 1.3*x.On(s))
		}
		if w := prove(t, stricter, unknown); w.Bound < least*(1-1e-6) {
			t.Errorf("%d: %v of a longer task, %v before", k, w.Bound, least)
		}
	}
}

// A known schedule changes where Prove looks, not what it finds below it.
func TestProveLooksNoFurtherThanTheKnownSchedule(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for k := range deep.N(30, 200) {
		p := drawProblem(r, mig.GPUs()[k%4], 1, 1+r.IntN(6))
		free := prove(t, p, unknown)
		for _, f := range []mig.Seconds{1, 1.001, 1.1, 4} {
			if w := prove(t, p, f*free.Bound); !near(w.Bound, free.Bound) {
				t.Errorf("%d: %v below %v, %v without", k, w, f*free.Bound, free)
			}
		}
		if w := prove(t, p, 0.9999*free.Bound); free.Kind == certificate.Chains && w.Bound > 0.9999*free.Bound && w.Kind == certificate.Chains {
			t.Errorf("%d: %v, beyond the known schedule of %v s", k, w, 0.9999*free.Bound)
		}
	}
}

func TestProveOfLargeBatches(t *testing.T) {
	g := mig.MustLookup("A30")
	for _, n := range []int{bounds.MaxChainTasks, bounds.MaxChainTasks + 1, 100} {
		w := prove(t, algo.Problem{GPU: g, Tasks: equalTasks(n, map[mig.Slices]mig.Seconds{4: 1, 2: 2.5})}, unknown)
		if want := 0.13 + mig.Seconds(n); !near(w.Bound, want) {
			t.Errorf("%d tasks: %+v, want %v", n, w, want)
		}
	}
}

// Two tasks of 60 s fit no slice within 119 s. Nine of them, with options on two slices that take
// longer, are one too many for the eight slices of two GPUs, whatever the short tasks do.
func TestTaskPricesOfSeveralGPUs(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A30"), Count: 2, Tasks: equalTasks(49, map[mig.Slices]mig.Seconds{1: 7, 2: 6.5})}
	for i, long := range equalTasks(9, map[mig.Slices]mig.Seconds{1: 60, 2: 58, 4: 57}) {
		p.Tasks[i] = long
	}
	w := prove(t, p, unknown)
	if w.Kind != certificate.TaskPrices {
		t.Fatalf("%+v; want a witness by task prices", w)
	}
	// Any schedule will do: all tasks one after the other on one slice.
	slice, now := p.GPU.Tree()[len(p.GPU.Tree())-1].Instance, p.GPU.Profile(1).Create
	one := schedule.Schedule{GPU: p.GPU, Operations: []schedule.Operation{{Op: schedule.Create, Instance: slice, End: now}}}
	for i := range p.Tasks {
		end := now + p.Tasks[i].On(1)
		one.Placements = append(one.Placements, schedule.Placement{Task: i, Instance: slice, Start: now, End: end})
		now = end
	}
	if err := certificate.Verify(p, certificate.New(one, w)); err != nil {
		t.Error(err)
	}
	w.Bound *= 1.01
	if err := certificate.Verify(p, certificate.New(one, w)); err == nil {
		t.Errorf("the same prices prove %v s as well", w.Bound)
	}
}

func TestProveIsTheSameInParallel(t *testing.T) {
	var group sync.WaitGroup
	for seed := range uint64(8) {
		g := mig.GPUs()[seed%2]
		p := algo.Problem{GPU: g, Tasks: randomBatch(g, seed, 4+int(seed))}
		want := prove(t, p, unknown)
		for range 3 {
			group.Go(func() {
				if got, err := bounds.Prove(t.Context(), p, unknown); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%+v, %v; alone %+v", got, err, want)
				}
			})
		}
	}
	group.Wait()
}
