package placement

import (
	"math/rand/v2"

	"miglab/harness/algo"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "random-fit", Version: 1,
	Cite:    "hkust-adsl/kubernetes-scheduler-simulator 8f3d6417, pkg/simulator/plugin: random score",
	Summary: "any GPU on which the profile has a free start, all equally likely; its first free start",
	New: algo.NewPlacer(func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return &randomFit{rand.New(rand.NewPCG(s.Seed, 0))}, nil
	}),
})

// randomFit looks at every GPU.
type randomFit struct{ rng *rand.Rand }

// Place returns the first free start on a random GPU. The n-th candidate replaces the choice with probability 1/n.
func (r *randomFit) Place(c *sim.Cluster, profile int) (best sim.Spot, ok bool) {
	n := 0
	for gpu := range c.GPUs() {
		p := c.Profile(gpu, profile)
		start, free := firstFree(p, p.Starts, c.Mask(gpu))
		if !free {
			continue
		}
		n++
		if r.rng.IntN(n) == 0 {
			best, ok = sim.Spot{GPU: gpu, Start: start}, true
		}
	}
	return best, ok
}
