package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "mfi-weighted", Version: 1, Track: algo.TrackPlacement,
	Cite:    "after MFI Algorithm 1",
	Summary: "MFI with lost placements weighted by demand, whether or not enough slices are free",
	Params:  []algo.Param{demand, tie},
	New:     newDemandAware("mfi-weighted", lost),
})

// lost is the score F of MFI Algorithm 1, literal reading, with two changes: a lost
// placement counts r^mem times the probability of its profile, and it counts also
// where fewer slices are free than the profile needs. Line 5 of the algorithm makes F
// fall when a GPU gets too full for a profile, which rewards filling it badly.
//
// The placements of one profile are disjoint, so a profile's free placements cover
// r^mem slices each, and its lost ones stand for all it could cover less those. The
// increment of this score therefore differs from that of the free slices that no free
// placement covers, weighted alike, by the slices of the request alone: it is also FGD
// with slices as the resource.
func lost(g *mig.GPU, demand []float64) (out [sim.Masks]float64) {
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
