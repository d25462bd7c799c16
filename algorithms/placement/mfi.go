package placement

import (
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "mfi", Version: 1,
	Cite:    "MFI Algorithms 1 and 2",
	Summary: "minimum fragmentation increment",
	Params:  []algo.Param{reading},
	New: algo.NewPlacer(func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return newMFI(args, s.GPU), nil
	}),
})

// reading is the parameter for the reading of F.
var reading = algo.Param{
	Name: "f", Default: sim.Literal.String(), Values: sim.ReadingNames(), Doc: "which placements count as lost in F",
}

// scores returns the table of F under the reading that the arguments name.
func scores(args algo.Args, g *mig.GPU) *sim.Scores {
	return sim.Fragmentation(g, sim.Reading(slices.Index(reading.Values, args[reading.Name])))
}

// newMFI returns MFI. Line 15 of Algorithm 2 does not choose between several minima. By default newMFI takes the first
// minimum in the loops of lines 4 and 7.
func newMFI(args algo.Args, g *mig.GPU) table {
	return fixedTable("mfi", args, g, func() rule { return incrementRule(scores(args, g)) })
}
