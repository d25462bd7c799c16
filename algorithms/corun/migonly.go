package corun

import (
	"miglab/harness/algo"
	"miglab/harness/sim/corun"
)

var _ = algo.Register(algo.Spec{
	Name: "mig-only", Version: 1,
	Cite:    paper,
	Summary: "the best pairs of jobs on instances of 3 and 4 GPCs without MPS, by exhaustive search",
	Params: []algo.Param{
		{
			Name: "memory", Default: "shared", Values: []string{"shared", "private"},
			Doc: "whether the two instances share the memory",
		},
	},
	New: algo.NewCorun(func(a algo.Args) (algo.Corun, error) {
		if a["memory"] == "private" {
			return exhaustive(corun.MIGPrivate), nil
		}
		return exhaustive(corun.MIGShared), nil
	}),
})
