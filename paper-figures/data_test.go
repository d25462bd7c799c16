package figures_test

import (
	"errors"
	"strings"
	"testing"

	_ "miglab/algorithms"
	"miglab/harness/algo"
	"miglab/harness/store"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/figurestest"
	"miglab/paper-figures/verdict"
)

var series = store.Series{Track: algo.TrackBatch, Dataset: figures.Dataset("rodinia"), GPU: "A100", Count: 1, Algorithm: "far"}

// TestDataKeepsTheFirstError: Build goes on with ones, as many as there are instances, and
// with an empty schedule on the series' GPU. Its output is discarded.
func TestDataKeepsTheFirstError(t *testing.T) {
	_, err := figurestest.Prepare(t, figurestest.Build(func(d *figures.Data) {
		makespan := d.Values(series, 1, track.MetricMakespan)
		if len(makespan) != 1 || d.Err() != nil || !d.Planning() && makespan[0] == 1 {
			t.Errorf("makespans %v, %v", makespan, d.Err())
		}
		if v := d.Values(series, 1, "no such metric"); len(v) != 1 || v[0] != 1 {
			t.Errorf("values %v after an error, want a one", v)
		}
		if p, plan := d.Schedule(series, 0); p.GPU.Name != "A100" || len(plan.Placements) != 0 {
			t.Errorf("%v after an error", plan)
		}
		d.MeanOf(nil, verdict.Executions, 1)
		d.Fail(errors.New("not the first error"))
	})).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), `has no metric "no such metric"`) {
		t.Errorf("error %v, want the one of the metric", err)
	}
}

// TestBuildPlansEveryCell: what is asked for only when there are results is an error, a whole series or an instance.
func TestBuildPlansEveryCell(t *testing.T) {
	for planned := range 2 {
		_, err := figurestest.Prepare(t, figurestest.Build(func(d *figures.Data) {
			if planned > 0 {
				d.Values(series, planned, track.MetricMakespan)
			}
			if !d.Planning() {
				d.Values(series, 2, track.MetricMakespan)
			}
		})).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "instances 0 to 1, only when it has results") {
			t.Errorf("%d instances are planned: error %v", planned, err)
		}
	}
}

// TestDataIsTheUnionOfWhatIsAskedFor, with the paper's replicates, few in a quick run.
func TestDataIsTheUnionOfWhatIsAskedFor(t *testing.T) {
	other := series
	other.Dataset = figures.Dataset("drl/POORSCALING?n=3")
	r := figurestest.Build(func(d *figures.Data) {
		d.Values(series, 1, track.MetricMakespan)
		d.Values(other, 1000, track.MetricMakespan)
		d.Span(other, 10, 2, track.MetricMakespan)
	})
	for quick, want := range map[bool]int{false: 1 + 1000, true: 1 + 12} {
		r.Scale.Quick = quick
		cells, err := r.Cells()
		n := 0
		for _, c := range cells {
			n += c.To - c.From
		}
		if err != nil || n != want {
			t.Errorf("quick %v: %d cells, %v; want %d", quick, n, err, want)
		}
	}
}
