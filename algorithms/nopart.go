package algorithms

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// NoPart is [optSta] with one partition: the whole GPU, which is the first of Partitions.
var _ = algo.Register(algo.Spec{
	Name: "nopart", Version: 1, Cite: "Li et al., MISO, SoCC 2022: NoPart",
	Summary: "each task has a whole GPU for itself; the others wait in order of arrival",
	New: algo.NewStream(func(algo.Args) (algo.Stream, error) {
		return optSta{"nopart", func(g *mig.GPU) ([]mig.Partition, error) { return g.Partitions()[:1], nil }}, nil
	}),
})
