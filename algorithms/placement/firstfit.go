package placement

import "miglab/harness/algo"

var _ = algo.Register(algo.Spec{
	Name: "ff", Version: 1,
	Cite:    "MFI VI, First Fit",
	Summary: "first GPU with enough free slices, first free start",
	Params:  []algo.Param{sliceIndex},
	New:     newTabled("ff", firstFit),
})
