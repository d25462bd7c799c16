package placement

import (
	"miglab/harness/algo"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "mfi-migrate", Version: 1,
	Cite: "ours, on MFI Algorithms 1 and 2",
	Summary: "mfi; one move for a request that fits nowhere, and moves that lower F much while the budget " +
		"is not scarce",
	New: algo.NewPlacer(func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return &mfiMigrate{newMover(s.GPU)}, nil
	}),
})

// mfiMigrate makes at most one move for a request that fits nowhere: the move after which it fits and which, with the
// placement, adds least to F. Before other requests it makes the moves that lower F most, until no move lowers F by
// [leastGain] or only half of the budget is left.
type mfiMigrate struct{ mover }

// leastGain is the least fall of F, summed over the GPUs, for a move without need. It and half of the budget were
// chosen on 30 streams of seed 17, at a quarter and at one move a GPU per mean lifespan; the datasets use another.
const leastGain = 4

func (m *mfiMigrate) Move(r *sim.Residents, profile int) (sim.Move, bool) {
	if _, fits := m.Place(r.Cluster(), profile); !fits {
		return m.makeRoom(r, profile)
	}
	if r.Left()*2 <= r.Rules().Moves {
		return sim.Move{}, false
	}
	return m.tidy(r)
}
