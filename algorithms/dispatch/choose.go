package dispatch

import (
	"math"

	"miglab/harness/algo"
	"miglab/harness/sim"
)

// A rule is a scheduler without state: it returns the index of a free slice.
type rule func(*sim.Queue) int

func (r rule) Dispatch(q *sim.Queue) int { return r(q) }

func register(name, cite, summary string, r rule) algo.Spec {
	return algo.Register(algo.Spec{
		Name: name, Version: 1, Cite: cite, Summary: summary,
		New: algo.NewDispatcher(func(algo.Args, sim.DispatchSetting) (sim.Dispatcher, error) { return r, nil }),
	})
}

// cheapestSlice returns the index of the first free slice of least cost, and that cost.
func cheapestSlice(q *sim.Queue, cost func(*sim.Slice) float64) (slice int, lowest float64) {
	slice, lowest = -1, math.Inf(1)
	all := q.Slices()
	for i := range all {
		if all[i].Busy {
			continue
		}
		sliceCost := cost(&all[i])
		if slice < 0 || sliceCost < lowest {
			slice, lowest = i, sliceCost
		}
	}
	return slice, lowest
}

const report = "deadline report, Table 7"
