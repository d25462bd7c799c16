package counters

import (
	"math"
	"slices"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/profiling"
)

func TestClassify(t *testing.T) {
	g := mig.MustLookup("A100")
	inf, nan := mig.Seconds(math.Inf(1)), math.NaN()
	for _, c := range []struct {
		name            string
		one, full       mig.Seconds
		compute, memory float64
		want            task.Class // empty: an error
	}{
		{"faster on one GPC", 0.9, 1, 90, 10, task.Unscalable},
		{"8 % lost", 1, 0.92, 90, 10, task.Unscalable},
		{"a slowdown of 10.5 % loses 9.5 %", 1.105, 1, 90, 10, task.Unscalable},
		{"a quarter lost", 1, 0.75, 90, 10, task.ComputeIntensive},
		{"exactly 10 % lost", 1, 0.9, 10, 90, task.MemoryIntensive},
		{"no counters are needed", 1, 1, nan, nan, task.Unscalable},
		{"compute", 7, 1, 81, 100, task.ComputeIntensive},
		{"exactly 0.80", 7, 1, 40, 50, task.MemoryIntensive},
		{"memory", 7, 1, 10, 90, task.MemoryIntensive},
		{"no memory at all", 7, 1, 10, 0, task.ComputeIntensive},
		{"does not fit", inf, 1, 10, 90, task.MemoryIntensive},
		{"no counters", 7, 1, nan, 50, ""},
		{"nothing at all", 7, 1, 0, 0, ""},
		{"no full time", 7, inf, 50, 50, ""},
	} {
		p := task.New(c.name, map[mig.Slices]mig.Seconds{1: c.one, 2: 0.5, 7: c.full})
		got, err := Classify(p, g, profiling.MIG, datasets.Counters{Compute: c.compute, Memory: c.memory})
		if got.Class != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %+v, %v; want %q", c.name, got, err, c.want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), c.name) {
			t.Errorf("%s: the error %q does not name it", c.name, err)
		}
	}
	p := task.New("lud", map[mig.Slices]mig.Seconds{1: 4, 2: 3, 4: 1})
	got, err := Classify(p, mig.MustLookup("A30"), profiling.MIG, datasets.Counters{Compute: 30, Memory: 60})
	want := Classification{Program: "lud", Class: task.MemoryIntensive, Source: profiling.MIG, One: 4, Full: 1, Degradation: 0.75, Compute: 30, Memory: 60, Ratio: 0.5}
	if err != nil || got != want {
		t.Errorf("on A30 %+v, %v; want %+v", got, err, want)
	}
}

func TestTable(t *testing.T) {
	all := []Classification{
		{"lud", task.MemoryIntensive, profiling.MIG, 4, 1, 0.75, 30, 60, 0.5},
		{"nn", task.Unscalable, profiling.MIG, 1, 0.95, 0.05, math.NaN(), math.NaN(), math.NaN()},
		{"cfd", task.ComputeIntensive, profiling.MIG, mig.Seconds(math.Inf(1)), 1, 1, 50, 0, math.Inf(1)},
	}
	got := Table(all)
	want := [][]string{
		{"lud", "MI", "4.000", "1.000", "75.0", "30.0", "60.0", "0.50"},
		{"nn", "US", "1.000", "0.950", "5.0", "–", "–", "–"},
		{"cfd", "CI", "inf", "1.000", "100.0", "50.0", "0.0", "inf"},
	}
	if !slices.EqualFunc(got.Rows, want, slices.Equal) {
		t.Errorf("rows %q, want %q", got.Rows, want)
	}
	var b strings.Builder
	if err := got.Text(&b); err != nil {
		t.Error(err)
	}
	if len(got.Notes) != 1 {
		t.Errorf("notes %q about times under MIG", got.Notes)
	}
	all[1].Source = profiling.MPSSMLimit
	if notes := Table(all).Notes; len(notes) != 2 || !strings.HasPrefix(notes[1], "source: mps-sm-limit.") {
		t.Errorf("notes %q; want one that says that memory was not private", notes)
	}
}
