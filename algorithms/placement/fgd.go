package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "fgd", Version: 1, Track: algo.TrackPlacement,
	Cite:    "FGD 4, on the placements of MIG",
	Summary: "least growth of the free slices that the next request is expected to find useless",
	Params:  []algo.Param{demand, tie},
	New:     newDemandAware("fgd", useless),
})

// useless is the fragmentation of a node of FGD 3.2, F_n = sum over m of p_m F_n(m),
// where F_n(m) is what is free of the node although task m cannot use it. A GPU under
// MIG is a node of its own, and the tasks are the profiles: all its free slices are
// useless to a profile that fits nowhere on it, and none to one that fits.
//
// Counting by slice instead, the free slices that no free placement of the profile
// covers, gives the decisions of mfi-weighted: see [lost].
func useless(g *mig.GPU, demand []float64) (out [sim.Masks]float64) {
	profiles := task.RequestProfiles(g)
	for m := range 1 << g.MemorySlices {
		occupied := mig.Mask(m)
		for i, p := range profiles {
			if !fits(p, occupied) {
				// The product is rounded before it is added.
				out[m] += float64(demand[i] * float64(free(g, occupied)))
			}
		}
	}
	return out
}

// fits reports whether some start of a profile is free.
func fits(p *mig.Profile, occupied mig.Mask) bool {
	for _, start := range p.Starts {
		if window(p, start)&occupied == 0 {
			return true
		}
	}
	return false
}
