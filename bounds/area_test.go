package bounds_test

import (
	"math"
	"testing"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

func TestAreaOfKnownBatches(t *testing.T) {
	for _, k := range readKnown(t, "published.json") {
		got, err := bounds.Area(k.problem())
		if err != nil || math.Abs(float64(got-k.Area)) > 1e-6 {
			t.Errorf("%s: area bound %v, %v; want %v", k.Name, got, err, k.Area)
		}
	}
}

func TestAreaOfWorkedExamples(t *testing.T) {
	a100 := mig.MustLookup("A100")
	mixed := task.Batch{
		task.New("least on 2", map[mig.Slices]mig.Seconds{1: 10, 2: 4, 3: 3, 4: 2.5, 7: 2}),
		task.New("fits 3 and 7", map[mig.Slices]mig.Seconds{3: 2, 7: 1}),
	}
	for _, c := range []struct {
		name  string
		count int
		tasks task.Batch
		want  mig.Seconds
	}{
		{"8 + 6 slice-seconds", 0, mixed, 2},
		{"the same on two GPUs", 2, mixed, 1},
		{"three slices count three", 1, only(3, 7), 3},
		{"seven slices", 1, only(7, 7), 7},
	} {
		if got, err := bounds.Area(algo.Problem{GPU: a100, Count: c.count, Tasks: c.tasks}); err != nil || got != c.want {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}
