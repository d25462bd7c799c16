package algorithms

import (
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// TestEmptyBatches gives every algorithm batches without tasks: alone, on a GPU that holds
// an instance, and between other batches of a stream.
func TestEmptyBatches(t *testing.T) {
	three := exampleProblem(mig.Sequential)
	none := algo.Problem{GPU: three.GPU}
	busy := none
	busy.Start = []schedule.Existing{{Instance: instance(t, 4, 0), BusyUntil: 3}}
	two := none
	two.Count = 2
	for _, p := range []algo.Problem{none, busy, two} {
		for _, a := range algotest.Variants(algo.TrackBatch) {
			s, err := algotest.Batch.Run(t.Context(), a, p)
			if err != nil || len(s.Placements)+len(s.Operations) > 0 {
				t.Errorf("%s without tasks: %+v, %v; want an empty schedule", a.ID, s, err)
			}
		}
	}
	for _, a := range algotest.Variants(algo.TrackStream) {
		for _, c := range []algotest.StreamProblem{
			{Problem: none},
			{Problem: none, Lengths: []int{0, 0}},
			{Problem: busy, Lengths: []int{0}},
			{Problem: three, Lengths: []int{0, 2, 0, 1, 0}},
		} {
			s, err := algotest.Stream.Run(t.Context(), a, c)
			if err == nil {
				err = algotest.Stream.Check(c, s)
			}
			if err != nil || len(s.Placements) != len(c.Tasks) {
				t.Errorf("%s on batches of %v tasks: %+v, %v", a.ID, c.Lengths, s, err)
			}
		}
	}
}
