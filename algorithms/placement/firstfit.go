package placement

import (
	"miglab/harness/algo"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "ff", Version: 1,
	Cite:    "MFI VI, First Fit",
	Summary: "first GPU with enough free slices, first free start",
	Params:  []algo.Param{index},
	New: algo.NewPlacer(func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return fitTable("ff", args, s.GPU, func(int) int { return 0 }, firstIndex), nil
	}),
})
