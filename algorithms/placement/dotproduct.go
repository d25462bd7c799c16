package placement

import (
	"math/bits"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

var _ = algo.Register(algo.Spec{
	Name: "dot-product", Version: 1,
	Cite: "hkust-adsl/kubernetes-scheduler-simulator 8f3d6417, pkg/simulator/plugin: dot product of what is free and " +
		"what is requested; Grandl et al., SIGCOMM 2014",
	Summary: "GPU with the least product of free and requested shares of compute and memory slices; first free start",
	New:     newTabled("dot-product", dotProduct),
})

// dotProduct ranks masks by the sum over compute and memory of free share times requested share. It uses whole numbers:
// only the order counts, so a common denominator is left out. The last memory slice of 7-slice models has no compute
// slice and counts as memory only.
func dotProduct(_ algo.Args, g *mig.GPU) rule {
	compute, memory := int(g.ComputeSlices), int(g.MemorySlices)
	return func(p *mig.Profile, occupied mig.Mask) (choice, bool) {
		start, ok := firstFree(p, p.Starts, occupied)
		freeCompute := bits.OnesCount8(uint8(^occupied & (1<<compute - 1)))
		product := freeCompute*int(p.Size)*memory*memory + freeSlices(g, occupied)*int(p.Length)*compute*compute
		return choice{cost{product}, start}, ok
	}
}
