package main

import (
	"math"
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/track"
)

// area is the integral of a count over time, in seconds.
func area(steps []schedule.Step) (sum float64) {
	for i := 1; i < len(steps); i++ {
		sum += float64(steps[i-1].N) * float64(steps[i].At-steps[i-1].At)
	}
	return sum
}

func runSteps(h schedule.History) []schedule.Step { steps, _, _ := h.Steps(); return steps }

func waitSteps(h schedule.History) []schedule.Step { _, steps, _ := h.Steps(); return steps }

// What timelines count agrees with the metrics, which the simulators and the referee sum up on their own.
func TestHistoriesAgreeWithMetrics(t *testing.T) {
	for _, c := range []struct {
		track              *track.Track
		algorithm, dataset string
		// metric is what one of the counts gives.
		metric string
		of     func(h schedule.History) float64
	}{
		{track.Batch, "far", "drl/WIDETIMES", track.MetricUtilisation, func(h schedule.History) float64 {
			return area(runSteps(h)) / float64(h.Slices) / float64(h.End())
		}},
		{track.Stream, "flow-stream", "drl/WIDETIMES?batches=5&rho=0.8", track.MetricFlow, func(h schedule.History) float64 {
			ran := 0.0
			for _, w := range h.Work {
				for _, s := range w.Stays {
					ran += float64(s.End - s.Start)
				}
			}
			return (area(waitSteps(h)) + ran) / float64(len(h.Work))
		}},
		{
			track.Placement, "mfi", "mfi/uniform?gpus=4&queue=retry&rho=1.2&turnover=5&lifespan=steady", "wait_mean_s",
			func(h schedule.History) float64 { return area(waitSteps(h)) / float64(len(h.Work)) },
		},
		{track.Dispatch, "eft", "deadline/tight", "late_percent", func(h schedule.History) float64 {
			_, _, late := h.Steps()
			return 100 * float64(late[len(late)-1].N) / float64(len(h.Work))
		}},
		{
			track.Dispatch, "eft", "deadline/tight?preemption=yes", "makespan_min",
			func(h schedule.History) float64 { return float64(h.End() / 60) },
		},
	} {
		g := mig.MustLookup(c.track.GPU)
		in, err := datasets.MustParse(c.dataset).Instance(g, 0)
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.track.Solve(t.Context(), algo.MustParse(c.algorithm), track.Problem{GPU: g, Count: 1, Payload: in})
		if err != nil {
			t.Fatal(err)
		}
		h := a.History()
		want := math.NaN()
		for _, m := range a.Metrics {
			if m.Name == c.metric {
				want = m.Value
			}
		}
		if got := c.of(h); !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%s on %s: %s is %v by the history, and %v", c.algorithm, c.dataset, c.metric, got, want)
		}
		used, waiting, late := h.Steps()
		for _, s := range used {
			if s.N < 0 || s.N > h.Slices {
				t.Errorf("%s on %s: %d of %d slices in use at %v s", c.algorithm, c.dataset, s.N, h.Slices, s.At)
			}
		}
		for _, s := range append(waiting, late...) {
			if s.N < 0 || s.N > len(h.Work) {
				t.Errorf("%s on %s: a count is %d at %v s", c.algorithm, c.dataset, s.N, s.At)
			}
		}
	}
}
