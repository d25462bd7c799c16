package corun

import (
	"miglab/harness/algo"
	"miglab/harness/sim/corun"
)

// In names of partitions, shared means compute instances that share a GPU instance's memory, and private GPU instances.
var _ = algo.Register(algo.Spec{
	Name: "mig-mps-default", Version: 1,
	Cite:    paper,
	Summary: "one MIG partition for all groups, MPS without percentages, the best groups by exhaustive search",
	Params: []algo.Param{
		{
			Name: "partition", Default: defaultPartition,
			Values: []string{"3-4-shared", defaultPartition, "7", "2-2-3-private"},
			Doc:    "GPCs of the instances; the default is the best on the mean of Q1-Q12 under the model",
		},
	},
	New: algo.NewCorun(func(a algo.Args) (algo.Corun, error) {
		return exhaustive(corun.Family("default-" + a["partition"])), nil
	}),
})

const defaultPartition = "3-4-private"
