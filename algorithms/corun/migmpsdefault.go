package corun

import (
	"strings"

	"miglab/harness/algo"
	"miglab/harness/nearest"
	"miglab/harness/sim/corun"
)

var _ = algo.Register(algo.Spec{
	Name: "mig-mps-default", Version: 1,
	Cite:    paper,
	Summary: "one MIG partition for all groups, MPS without percentages, the best groups by exhaustive search",
	Params: []algo.Param{
		{
			Name: "partition", Default: defaultPartition, Values: partitions(),
			Doc: "GPCs of the instances; the default is the best on the mean of Q1-Q12 under the model",
		},
	},
	New: algo.NewCorun(func(a algo.Args) (algo.Corun, error) {
		return exhaustive(corun.Family(defaultPrefix + a["partition"])), nil
	}),
})

const (
	defaultPrefix    = "default-"
	defaultPartition = "3-4-private"
)

// partitions lists the partitions of the families of MIG+MPS default.
func partitions() []string {
	return nearest.Names(corun.DefaultFamilies(), func(f corun.Family) string {
		return strings.TrimPrefix(string(f), defaultPrefix)
	})
}
