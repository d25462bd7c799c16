package placement

import (
	"miglab/harness/algo"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "mfi", Version: 1, Track: algo.TrackPlacement,
	Cite:    "MFI Algorithms 1 and 2",
	Summary: "minimum fragmentation increment",
	Params: []algo.Param{
		reading,
		tie,
	},
	New: func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) { return newMFI(args, s) },
})

// reading is the parameter that chooses between the readings of F.
var reading = algo.Param{
	Name: "f", Default: sim.Literal.String(), Values: sim.ReadingNames(), Doc: "which placements count as lost in F",
}

// newMFI returns MFI. Line 15 of Algorithm 2 does not say which of several minima it
// takes. By default it is the first one in the loops of lines 4 and 7.
func newMFI(args algo.Args, s sim.PlacementSetting) (table, error) {
	reading, err := sim.ParseReading(args[reading.Name])
	if err != nil {
		return nil, err
	}
	return fixedTable("mfi", args, s.GPU, func() rule {
		var score [sim.Masks]int
		for m, f := range sim.Fragmentation(s.GPU, reading) {
			score[m] = int(f)
		}
		return incrementRule(args, &score)
	}), nil
}
