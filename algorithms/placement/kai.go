package placement

import "miglab/harness/algo"

const kai = "NVIDIA/KAI-Scheduler, plugins gpupack and gpuspread, docs/operator/scheduler-config-customization.md: " +
	"GPUs by used share; the starts are ours"

var _ = algo.Register(algo.Spec{
	Name: "kai-binpack", Version: 1, Cite: kai,
	Summary: "the same as bf-bi: GPU with the fewest free slices",
	New:     newTabled("bf-bi", bestFit(1)),
})

var _ = algo.Register(algo.Spec{
	Name: "kai-spread", Version: 1, Cite: kai,
	Summary: "the same as wf-bi: GPU with the most free slices",
	New:     newTabled("wf-bi", bestFit(-1)),
})
