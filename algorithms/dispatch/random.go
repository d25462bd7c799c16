package dispatch

import (
	"math/rand/v2"

	"miglab/harness/algo"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "random", Version: 1, Track: algo.TrackDispatch, Cite: report, Summary: "a free slice, each equally likely",
	New: func(_ algo.Args, s sim.DispatchSetting) (sim.Dispatcher, error) {
		return &random{rand.New(rand.NewPCG(s.Seed, 0))}, nil
	},
})

type random struct{ rng *rand.Rand }

func (r *random) Dispatch(q *sim.Queue) int {
	pass := r.rng.IntN(q.Free())
	for i := range q.Slices() {
		if q.Slices()[i].Busy {
			continue
		}
		if pass == 0 {
			return i
		}
		pass--
	}
	panic("dispatch: fewer slices are free than the queue says")
}
