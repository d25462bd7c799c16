package bounds_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

func TestCertifiedNeverExceedsKnownOptima(t *testing.T) {
	for _, k := range readKnown(t, "optima.json") {
		for model, optimum := range map[mig.Reconfiguration]mig.Seconds{mig.Sequential: k.Sequential, mig.Parallel: k.Parallel} {
			p := k.problem()
			p.Model = model
			got, err := bounds.Certified(t.Context(), p)
			if err != nil || got > optimum+1e-9 {
				t.Errorf("%s: certified %v, %v; the %v optimum is %v", k.Name, got, err, model, optimum)
			}
			free, err := bounds.OptimumFree(context.Background(), p)
			if err != nil || free > optimum+1e-9 {
				t.Errorf("%s: optimum without costs %v, %v; the %v optimum is %v", k.Name, free, err, model, optimum)
			}
		}
	}
}

// On a model whose small instances take longer to destroy than large ones, b runs after a: it takes
// 0.1+10+0.1+0.1+10 s, without the 5 s that destroying b's instance would take.
func TestCertifiedWhereSmallInstancesAreDestroyedSlowly(t *testing.T) {
	g, err := new(mig.Catalog).Add(&mig.GPU{Name: "Slow-small", CostSource: "test", ComputeSlices: 2, MemorySlices: 2, Profiles: []*mig.Profile{
		{ID: 19, Size: 1, Length: 1, Starts: []mig.Slices{0, 1}, Max: 2, MemoryGB: 8, Create: 0.1, Destroy: 5},
		{ID: 0, Size: 2, Length: 2, Starts: []mig.Slices{0}, Max: 1, MemoryGB: 16, Create: 0.1, Destroy: 0.1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	p := algo.Problem{GPU: g, Tasks: task.Batch{task.New("a", map[mig.Slices]mig.Seconds{2: 10}), task.New("b", map[mig.Slices]mig.Seconds{1: 10})}}
	w, err := bounds.Prove(t.Context(), p, mig.Seconds(math.Inf(1)))
	if err != nil || math.Abs(float64(w.Bound-20.3)) > 1e-9 {
		t.Errorf("bound %v, %v; want 20.3 s", w.Bound, err)
	}
	large, small := g.Tree()[0].Instance, g.Tree()[1].Instance
	s := schedule.Schedule{GPU: g, Placements: []schedule.Placement{
		{Task: 0, Instance: large, Start: 0.1, End: 10.1}, {Task: 1, Instance: small, Start: 10.3, End: 20.3},
	}, Operations: []schedule.Operation{
		{Op: schedule.Create, Instance: large, End: 0.1}, {Op: schedule.Destroy, Instance: large, Start: 10.1, End: 10.2}, {Op: schedule.Create, Instance: small, Start: 10.2, End: 10.3},
	}}
	if err := certificate.Verify(p, certificate.New(s, w)); err != nil {
		t.Error(err)
	}
	w.Bound = 20.31
	if err := certificate.Verify(p, certificate.New(s, w)); err == nil {
		t.Errorf("a schedule of 20.3 s, and chains that prove %v s", w.Bound)
	}
}

func TestCertifiedLiesBetweenAreaAndOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "GPU")
		p := algo.Problem{GPU: g, Count: rapid.IntRange(1, 2).Draw(t, "count"), Model: mig.Free, Tasks: drawBatch(t, g, 1, 4)}
		drawState(t, &p)
		area, free, optimum := bound(t, "area", p), bound(t, "certified", p), mig.Seconds(math.Inf(1))
		if p.Start == nil && p.Release == nil {
			optimum = bound(t, "optimum-free", p)
		}
		p.Model = mig.Sequential
		charged := bound(t, "certified", p)
		if area > free+1e-9 || free > optimum+1e-9 || free > charged+1e-9 {
			t.Fatalf("want area %v <= certified without costs %v <= optimum without costs %v, and <= certified %v", area, free, optimum, charged)
		}
	})
}

func ExampleCertified() {
	p := algo.Problem{
		GPU:   mig.MustLookup("A100"),
		Tasks: task.Batch{task.New("scales", map[mig.Slices]mig.Seconds{1: 100, 2: 100, 3: 100, 4: 100, 7: 1})},
	}
	published, _ := bounds.LBound(p)
	certified, _ := bounds.Certified(context.Background(), p)
	fmt.Printf("published %.2f s, certified %.2f s\n", published, certified)
	// Output: published 1.46 s, certified 1.24 s
}
