package bounds_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// bruteForce replays every order of the tasks on every choice of instances of at
// most two GPUs.
func bruteForce(p algo.Problem) mig.Seconds {
	type slicesBusy [2][8]mig.Seconds
	best := mig.Seconds(math.Inf(1))
	var extend func(done int, end mig.Seconds, busy slicesBusy)
	extend = func(done int, end mig.Seconds, busy slicesBusy) {
		if done == 1<<len(p.Tasks)-1 {
			best = min(best, end)
			return
		}
		for i := range p.Tasks {
			if done>>i&1 != 0 {
				continue
			}
			for g := range p.GPUs() {
				for _, in := range p.GPU.Tree() {
					if !p.Tasks[i].Fits(in.Size()) {
						continue
					}
					start := p.ReleaseOf(i)
					for k := in.Start; k < in.Start+in.Profile.Length; k++ {
						start = max(start, busy[g][k])
					}
					stop, after := start+p.Tasks[i].On(in.Size()), busy
					for k := in.Start; k < in.Start+in.Profile.Length; k++ {
						after[g][k] = stop
					}
					extend(done|1<<i, max(end, stop), after)
				}
			}
		}
	}
	var busy slicesBusy
	for _, e := range p.Start {
		for k := e.Instance.Start; k < e.Instance.Start+e.Instance.Profile.Length; k++ {
			busy[e.GPU][k] = e.BusyUntil
		}
	}
	extend(0, 0, busy)
	return best
}

func TestOptimumFreeIsThatOfBruteForce(t *testing.T) {
	for _, c := range []struct {
		gpu         string
		count, most int
	}{{"A30", 1, 4}, {"A30", 2, 3}, {"A100", 1, 4}, {"A100", 2, 3}} {
		t.Run(fmt.Sprintf("%d %s", c.count, c.gpu), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				g := mig.MustLookup(c.gpu)
				p := algo.Problem{GPU: g, Count: c.count, Model: mig.Free, Tasks: drawBatch(t, g, 1, c.most)}
				drawState(t, &p)
				got, err := bounds.OptimumFree(context.Background(), p)
				if err != nil {
					t.Fatal(err)
				}
				if want := bruteForce(p); math.Abs(float64(got-want)) > 1e-9 {
					t.Fatalf("optimum %v, brute force %v", got, want)
				}
			})
		})
	}
}

func TestOptimumFreeOfWorkedExamples(t *testing.T) {
	a100, a30 := mig.MustLookup("A100"), mig.MustLookup("A30")
	for _, c := range []struct {
		name  string
		gpu   *mig.GPU
		count int
		tasks task.Batch
		want  mig.Seconds
	}{
		{"three slices fit twice", a100, 1, only(3, 2, 2, 2), 4},
		{"four slices fit once", a100, 1, only(4, 2, 2), 4},
		{"four slices fit once on each GPU", a100, 2, only(4, 2, 2), 2},
		{"two slices fit three times", a100, 1, only(2, 5, 3, 2, 2), 5},
		{"one slice", a30, 1, only(1, 3, 2, 2, 2, 1, 1), 3},
		{"twice whole, then split", a30, 1, append(only(4, 1, 2), task.New("x", map[mig.Slices]mig.Seconds{1: 4}), task.New("y", map[mig.Slices]mig.Seconds{2: 3})), 7},
	} {
		got, err := bounds.OptimumFree(context.Background(), algo.Problem{GPU: c.gpu, Count: c.count, Tasks: c.tasks})
		if err != nil || math.Abs(float64(got-c.want)) > 1e-12 {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// A start instance may be busy for longer than the optimum takes.
func TestOptimumFreeLeavesABusyGPUAlone(t *testing.T) {
	g := mig.MustLookup("A30")
	whole, err := g.Instance(4, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := algo.Problem{GPU: g, Count: 2, Start: []schedule.Existing{{GPU: 0, Instance: whole, BusyUntil: 4}}, Tasks: task.Batch{
		task.New("a", map[mig.Slices]mig.Seconds{2: 2, 4: 1}),
		task.New("b", map[mig.Slices]mig.Seconds{2: 2, 4: 2}),
	}}
	if got, err := bounds.OptimumFree(context.Background(), p); err != nil || got != 2 {
		t.Errorf("optimum %v, %v; want 2: both tasks at once on the second GPU", got, err)
	}
}

func TestOptimumFreeRefusesLargeBatches(t *testing.T) {
	g := mig.MustLookup("A30")
	_, err := bounds.OptimumFree(context.Background(), algo.Problem{GPU: g, Tasks: randomBatch(g, 1, bounds.MaxOptimumFreeTasks+1)})
	if want := "optimum-free takes at most 6 tasks; the batch has 7"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestOptimumFreeStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g := mig.MustLookup("A100")
	_, err := bounds.OptimumFree(ctx, algo.Problem{GPU: g, Count: 2, Tasks: randomBatch(g, 1, 6)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
