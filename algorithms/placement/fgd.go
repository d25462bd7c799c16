package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "fgd", Version: 1,
	Cite:    "FGD 4, on the placements of MIG",
	Summary: "least growth of the free slices that the next request is expected to find useless",
	Params:  []algo.Param{demandParam},
	New:     algo.NewPlacer(newDemandAware("fgd", uselessSlices)),
})

// uselessSlices returns, by mask of occupied slices, the fragmentation of a node of FGD 3.2, F_n = sum over m of
// p_m F_n(m), where F_n(m) is the free part of the node that task m cannot use. Here a node is a GPU, and the tasks are
// the profiles. F_n(m) is the number of free slices if profile m does not fit on the GPU, otherwise 0.
func uselessSlices(g *mig.GPU, demand []float64) (out [sim.Masks]float64) {
	profiles := task.RequestProfiles(g)
	for mask := range 1 << g.MemorySlices {
		occupied := mig.Mask(mask)
		for i, p := range profiles {
			if _, fits := firstFree(p, p.Starts, occupied); !fits {
				// The conversion keeps the compiler from fusing the product with a later sum, which would round
				// differently by processor.
				out[mask] += float64(demand[i] * float64(freeSlices(g, occupied)))
			}
		}
	}
	return out
}
