package algotest

import (
	"context"
	"fmt"

	"miglab/harness/algo"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// A DispatchProblem is a problem of the dispatch track.
type DispatchProblem struct {
	task.Queue
	Seed uint64 // for dispatchers that draw random numbers
}

// Dispatch is the dispatch track. The simulator checks every decision.
var Dispatch = Track[DispatchProblem, sim.DispatchResult]{
	Name: algo.TrackDispatch,
	Run: func(_ context.Context, a algo.Algorithm, p DispatchProblem) (sim.DispatchResult, error) {
		s := sim.DispatchSetting{Seed: p.Seed, Slices: p.Fleet.Slices(), NumPy: p.NumPy}
		d, err := a.Dispatcher(s)
		if err != nil {
			return sim.DispatchResult{}, err
		}
		return sim.RunDispatch(p.Jobs, p.Fleet, d)
	},
	Check: func(p DispatchProblem, r sim.DispatchResult) error {
		if r.Jobs != len(p.Jobs) {
			return fmt.Errorf("%d of %d jobs have run", r.Jobs, len(p.Jobs))
		}
		return nil
	},
}
