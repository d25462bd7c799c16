package dispatch

import (
	"math/rand/v2"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/numpy"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "random", Version: 1, Cite: report, Summary: "a free slice, each equally likely",
	New: algo.NewDispatcher(func(_ algo.Args, s sim.DispatchSetting) (sim.Dispatcher, error) {
		return newRandom(s), nil
	}),
})

// random takes a free slice, each equally likely.
type random struct {
	// below draws a number from 0 to n-1.
	below func(n int) int
}

// newRandom draws with the seed, or continues the NumPy stream from which the jobs were drawn: the report's script
// draws a day and then Random's choices from one stream.
func newRandom(s sim.DispatchSetting) *random {
	if s.NumPy == nil {
		return &random{rand.New(rand.NewPCG(s.Seed, 0)).IntN}
	}
	stream := numpy.New(s.NumPy.Seed)
	stream.Skip(s.NumPy.Used)
	return &random{stream.RandInt}
}

func (r *random) Dispatch(q *sim.Queue) int {
	pass := r.below(q.Free()) // number of free slices to pass over
	return slices.IndexFunc(q.Slices(), func(s sim.Slice) bool {
		if !s.Busy {
			pass--
		}
		return pass < 0
	})
}
