package placement

import (
	"miglab/harness/algo"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "grmu", Version: 1,
	Cite: "after GRMU, arXiv 2502.01909, by its abstract: baskets of GPUs for large and for small profiles; the " +
		"quota, which profiles are large and the rule within a basket are ours, and nothing moves",
	Summary: "the first 30 % of the GPUs only for the profile of a whole one, the others only for the rest; first fit",
	New: algo.NewPlacer(func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		if s.Geometry != nil {
			return nil, &algo.UnsupportedError{What: "a fixed geometry", Reason: "a basket may lack a profile"}
		}
		return grmu{large: min(max((s.GPUs*30+50)/100, 1), s.GPUs-1)}, nil // 30 %, rounded
	}),
})

// grmu reserves the first `large` GPUs for whole-GPU requests. A cluster of one GPU reserves 0.
type grmu struct{ large int }

// Place takes the first GPU with room among those reserved for the profile.
func (b grmu) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	from, to := b.large, c.GPUs()
	if b.large > 0 && c.Profiles()[profile].Length == c.GPU().MemorySlices {
		from, to = 0, b.large
	}
	for gpu := from; gpu < to; gpu++ {
		p := c.Profile(gpu, profile)
		if start, ok := firstFree(p, p.Starts, c.Mask(gpu)); ok {
			return sim.Spot{GPU: gpu, Start: start}, true
		}
	}
	return sim.Spot{}, false
}
