package track_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	_ "miglab/algorithms"
	_ "miglab/bounds"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/harness/track"
)

// solved returns the metrics of an algorithm on the first instance of a dataset, and the dataset's contents.
func solved[T task.Payload](t *testing.T, of *track.Track, gpu, algorithm, dataset string) (map[string]float64, T) {
	t.Helper()
	g := mig.MustLookup(gpu)
	in, err := datasets.InstanceOf[T](datasets.MustParse(dataset), g, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := track.Problem{GPU: g, Count: 1, Payload: in}
	if of.Count != nil {
		p.Count = of.Count(in)
	}
	answer, err := of.Solve(t.Context(), algo.MustParse(algorithm), p)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, m := range answer.Metrics {
		out[m.Name] = m.Value
	}
	return out, in
}

// TestWattsOnlyAddTheEnergy: a model with watts has the metrics of the model without, and the energy beside them. Other
// idle watts change it by their difference until the makespan.
func TestWattsOnlyAddTheEnergy(t *testing.T) {
	for _, c := range []struct {
		of                 *track.Track
		algorithm, dataset string
	}{
		{track.Batch, "far", "measured/all?n=14"},
		{track.Batch, "treedp", "WIDETIMES"},
		{track.Stream, "far-concat", "WIDETIMES?batches=3"},
		{track.Stream, "lns-stream", "WIDETIMES?batches=3&rho=0.8"},
		{track.Bound, "certified", "WIDETIMES"},
		{track.Bound, "area", "WIDETIMES"},
	} {
		energy := track.MetricEnergy
		if c.of == track.Bound {
			energy = track.MetricEnergyAtLeast
		}
		without, _ := solved[task.Batches](t, c.of, "A100", c.algorithm, c.dataset)
		if _, ok := without[energy]; ok {
			t.Errorf("%s on %s: A100 has no watts and an energy", c.algorithm, c.dataset)
		}
		joules := map[float64]float64{}
		for _, idle := range []float64{0, 75.4} {
			with, _ := solved[task.Batches](t, c.of, fmt.Sprintf("A100?idle=%v", idle), c.algorithm, c.dataset)
			joules[idle] = with[energy]
			delete(with, energy)
			if !maps.Equal(with, without) || !(joules[idle] > 0) {
				t.Errorf("%s on %s: %v without watts, %v and %v J with an idle board of %v W", c.algorithm, c.dataset, without, with, joules[idle], idle)
			}
		}
		if want := 75.4 * without[track.MetricMakespan]; c.of != track.Bound && math.Abs(joules[75.4]-joules[0]-want) > 1e-9*want {
			t.Errorf("%s on %s: %v; want a difference of %v J", c.algorithm, c.dataset, joules, want)
		}
	}
	if got, _ := solved[task.Batches](t, track.Bound, "A100?idle=1", "l-bound", "WIDETIMES"); got[track.MetricEnergyAtLeast] != 0 {
		t.Errorf("l-bound, which is not proven, bounds the energy: %v", got)
	}
}

// TestEnergyOfRequestsThatWait: all GPUs are on until the last request ends, and every request keeps an instance busy. A
// cluster that rejects has no energy, or who refuses work would lead.
func TestEnergyOfRequestsThatWait(t *testing.T) {
	const gpu, waiting = "A100?idle=50&busy=10-20-30-40-70", "mfi/uniform?queue=retry&gpus=3"
	got, in := solved[task.Requests](t, track.Placement, gpu, "ff", waiting)
	want := 3 * 50 * got[track.MetricMakespan]
	for i := range in.Requests {
		want += 10 * float64(in.Requests[i].Profile.Size) * float64(in.Requests[i].Lifespan)
	}
	if e := got[track.MetricEnergy]; math.Abs(e-want) > 1e-9*want {
		t.Errorf("%v J, want %v", e, want)
	}
	bound, _ := solved[task.Requests](t, track.Offline, gpu, "offline-bound", waiting)
	if least := bound[track.MetricEnergyAtLeast]; !(least > want/2) || least > want {
		t.Errorf("the bound is %v J, and ff draws %v", least, want)
	}
	rejecting, _ := solved[task.Requests](t, track.Placement, gpu, "ff", "mfi/uniform?gpus=3")
	if _, ok := rejecting[track.MetricEnergy]; ok {
		t.Error("a cluster that rejects requests has an energy")
	}
}

// TestMetricsToRankBy: a leaderboard ranks by the first board unless another metric is named, and by energy only where
// the model has watts.
func TestMetricsToRankBy(t *testing.T) {
	plain, watts := mig.MustLookup("A100"), mig.MustLookup("A100?idle=75.4")
	for _, of := range []*track.Track{track.Batch, track.Stream, track.Placement} {
		if _, err := of.ParseMetric(track.MetricEnergy, plain); err == nil {
			t.Errorf("%s ranks by energy without watts", of.Name)
		}
		if _, err := of.ParseMetric(track.MetricEnergy, watts); err != nil {
			t.Error(err)
		}
		if i := slices.IndexFunc(of.Boards, func(b track.Board) bool { return b.Powered }); i != len(of.Boards)-1 {
			t.Errorf("%s ranks by energy without being asked", of.Name)
		}
	}
	if _, err := track.Dispatch.ParseMetric(track.MetricEnergy, plain); err != nil {
		t.Errorf("days of jobs have their own watts: %v", err)
	}
	if _, err := track.Batch.ParseMetric("joules", watts); err == nil {
		t.Error("an unknown metric is accepted")
	}
}
