package track_test

import (
	"math"
	"testing"

	_ "miglab/algorithms/placement"
	_ "miglab/bounds"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/harness/track"
)

// The bounds are shares of what the schedulers' metrics are shares of: no policy exceeds them, and
// the bound of the steady state leaves out the requests before it.
func TestBoundsOfAcceptance(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, id := range []string{"openb?pods=shared&gpus=12", "mfi/uniform?lifespan=steady&rho=1.3&gpus=20"} {
		in, err := datasets.InstanceOf[task.Requests](datasets.MustParse(id), g, 3)
		if err != nil {
			t.Fatal(err)
		}
		p := track.Problem{GPU: g, Count: in.GPUs, Payload: in}
		values := func(of *track.Track, algorithm string) map[string]float64 {
			answer, err := of.Solve(t.Context(), algo.MustParse(algorithm), p)
			if err != nil {
				t.Fatal(err)
			}
			out := map[string]float64{}
			for _, m := range answer.Metrics {
				out[m.Name] = m.Value
			}
			return out
		}
		bound := values(track.Offline, "offline-bound")
		if want := bound[track.MetricAcceptedAtMost] / float64(len(in.Requests)); math.Abs(bound[track.MetricAcceptanceAtMost]-want) > 1e-12 {
			t.Errorf("%s: %v; want a share of %v", id, bound, want)
		}
		for _, policy := range []string{"mfi", "fgd", "value-table", "wf-bi"} {
			got := values(track.Placement, policy)
			for metric, most := range map[string]string{"acceptance": track.MetricAcceptanceAtMost, "acceptance_steady": track.MetricSteadyAtMost} {
				if _, ok := got[metric]; ok != (bound[most] > 0) || got[metric] > bound[most] {
					t.Errorf("%s on %s: %s is %v, at most %v", policy, id, metric, got[metric], bound[most])
				}
			}
		}
	}
}
