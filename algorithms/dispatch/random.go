package dispatch

import (
	"math/rand/v2"

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
	below func(n int) int // draws a number from 0 to n-1
}

// newRandom returns a scheduler that draws with the seed. If the jobs were drawn from a NumPy stream, it continues that
// stream: the report's script draws a day and then Random's choices from one stream.
func newRandom(s sim.DispatchSetting) *random {
	if s.NumPy == nil {
		return &random{rand.New(rand.NewPCG(s.Seed, 0)).IntN}
	}
	stream := numpy.New(s.NumPy.Seed)
	stream.Skip(s.NumPy.Used)
	return &random{stream.RandInt}
}

func (r *random) Dispatch(q *sim.Queue) int {
	left := r.below(q.Free()) // the number of free slices before the chosen one
	for i, s := range q.Slices() {
		if s.Busy {
			continue
		}
		if left == 0 {
			return i
		}
		left--
	}
	panic("unreachable: Free counts the free slices")
}
