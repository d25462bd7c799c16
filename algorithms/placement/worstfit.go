package placement

import "miglab/harness/algo"

var _ = algo.Register(algo.Spec{
	Name: "wf-bi", Version: 1,
	Cite:    "MFI VI, Worst Fit Best Index",
	Summary: "GPU with the most free slices, start that restricts other profiles least",
	Params:  []algo.Param{index},
	New:     newTabled("wf-bi", bestFit(-1)),
})
