package algorithms

import "miglab/harness/algo"

var _ = algo.Register(algo.Spec{
	Name: "miso-oracle", Version: 1, Cite: "Li et al., MISO, SoCC 2022: Oracle",
	Summary: "miso-stream with the true durations and without runs under MPS",
	New:     algo.NewStream(func(algo.Args) (algo.Stream, error) { return misoStream{name: "miso-oracle"}, nil }),
})
