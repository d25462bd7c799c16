package placement

import (
	"miglab/harness/algo"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "wf-bi", Version: 1, Track: algo.TrackPlacement,
	Cite:    "MFI VI, Worst Fit Best Index",
	Summary: "GPU with the most free slices, start that restricts other profiles least",
	Params:  []algo.Param{index},
	New: func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return fitTable("wf-bi", args, s.GPU, func(free int) int { return -free }, bestIndex), nil
	},
})
