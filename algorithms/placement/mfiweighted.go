package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "mfi-weighted", Version: 1,
	Cite:    "after MFI Algorithm 1",
	Summary: "MFI with lost placements weighted by demand, whether or not enough slices are free",
	Params:  []algo.Param{demandParam},
	New:     algo.NewPlacer(newDemandAware("mfi-weighted", lostPlacements)),
})

// lostPlacements returns the score F of MFI Algorithm 1 ([sim.Literal]) with two changes. A lost placement counts
// r^mem times the probability of its profile. It also counts if fewer slices are free than the profile needs: line 5 of
// the algorithm makes F fall when a GPU becomes too full for a profile, which rewards filling it badly.
//
// This is FGD's score with slices as the resource: the expected number u of free slices outside every free placement.
// The placements of one profile are disjoint and cover r^mem slices each. So a placement changes u by the change of
// this score less the slices that it takes, and both prefer the same placement. The scheduler fgd counts whole GPUs
// instead.
func lostPlacements(g *mig.GPU, demand []float64) (out [sim.Masks]float64) {
	profiles := task.RequestProfiles(g)
	for m := range 1 << g.MemorySlices {
		for i, p := range profiles {
			for _, start := range p.Starts {
				if window(p, start)&mig.Mask(m) != 0 {
					out[m] += float64(demand[i] * float64(p.Length))
				}
			}
		}
	}
	return out
}
