package bounds_test

import (
	"math"
	"testing"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

func TestLBoundOfKnownBatches(t *testing.T) {
	known := 0
	for _, k := range readKnown(t, "published.json") {
		if k.LBound == 0 {
			continue
		}
		known++
		got, err := bounds.LBound(k.problem())
		if err != nil || math.Abs(float64(got-k.LBound)) > 1e-6 {
			t.Errorf("%s: l_bound %v, %v; want %v", k.Name, got, err, k.LBound)
		}
	}
	if known < 4 {
		t.Errorf("l_bound is known of %d batches, want 4", known)
	}
}

func TestLBoundOfWorkedExamples(t *testing.T) {
	a100, a30 := mig.MustLookup("A100"), mig.MustLookup("A30")
	for _, c := range []struct {
		name  string
		gpu   *mig.GPU
		count int
		tasks task.Batch
		want  float64
	}{
		{"1 slice", a100, 1, only(1, 7), (7 + 0.36) / 7},
		{"4 slices idle the other 3", a100, 1, only(4, 0.05), (7*0.05 + 4*0.42) / 7},
		{"unless 1 slice is cheaper", a100, 1, only(4, 7), (4*7 + 4*0.42 + 0.36) / 7},
		{"3 slices idle the other 4", a100, 1, only(3, 0.05), (7*0.05 + 3*0.41) / 7},
		{"2 and 4 slices idle 1", a100, 1, append(only(4, 0.05), only(2, 0.05)...), (5*0.05 + 3*0.05 + 4*0.42 + 2*0.37) / 7},
		{"1, 2 and 4 slices idle none", a100, 1, append(append(only(4, 7), only(2, 7)...), only(1, 7)...), (4*7 + 2*7 + 7 + 4*0.42 + 2*0.37 + 0.36) / 7},
		{"two GPUs", a30, 2, only(2, 8), (2*8 + 2*0.22) / 8},
	} {
		got, err := bounds.LBound(algo.Problem{GPU: c.gpu, Count: c.count, Tasks: c.tasks})
		if err != nil || !near(got, mig.Seconds(c.want)) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}
