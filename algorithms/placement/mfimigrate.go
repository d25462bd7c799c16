package placement

import (
	"miglab/harness/algo"
	"miglab/harness/sim"
	"miglab/harness/spec"
)

var _ = algo.Register(algo.Spec{
	Name: "mfi-migrate", Version: 1, Track: algo.TrackPlacement,
	Cite: "ours, on MFI Algorithms 1 and 2",
	Summary: "mfi; one move for a request that fits nowhere, and moves that lower F much while the budget " +
		"is not scarce",
	Params: []algo.Param{
		reading, tie,
		{
			Name: "gain", Default: "4", Type: spec.Whole(1, 1_000_000),
			Doc: "least fall of F, summed over the GPUs, for a move without need",
		},
		{
			Name: "reserve", Default: "50", Type: spec.Whole(0, 100),
			Doc: "percent of the budget that is kept for requests that fit nowhere",
		},
	},
	New: func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return &mfiMigrate{newMover(args, s.GPU), args.Int("gain"), args.Int("reserve")}, nil
	},
})

// mfiMigrate makes at most one move for a request that fits nowhere: the one after which it fits
// and which, with the placement, adds least to F. Before other requests it makes the moves that
// lower F most, until none lowers it by gain or only the reserve is left.
//
// The defaults were chosen on 30 streams of seed 17, at a quarter and at one move a GPU per mean
// lifespan; the default seed of the datasets is another.
type mfiMigrate struct {
	mover
	gain, reserve int
}

func (m *mfiMigrate) Move(r *sim.Residents, profile int) (sim.Move, bool) {
	if _, fits := m.Place(r.Cluster(), profile); !fits {
		return m.makeRoom(r, profile)
	}
	if r.Left()*100 <= r.Rules().Moves*m.reserve {
		return sim.Move{}, false
	}
	return m.tidy(r, m.gain)
}
