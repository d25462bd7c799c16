// Package corun holds the schedulers of the co-run track: which jobs of a window run
// together, and on which partition of the GPU (hierarchical paper IV). They know the
// jobs and the model, as the paper's exhaustive searches know the measurements.
//
// All keep the paper's first constraint: a group is faster than its jobs one after the
// other; jobs for which no such group is found run alone on the whole GPU.
package corun

import (
	"context"

	"miglab/harness/algo"
	"miglab/harness/sim/corun"
)

// planner is a scheduler of windows that have been checked.
type planner func(ctx context.Context, w *corun.Window) (corun.Plan, error)

func (p planner) Plan(ctx context.Context, w corun.Window) (corun.Plan, error) {
	if v := w.Check(); v != nil {
		return nil, &corun.InvalidError{Violations: v}
	}
	return p(ctx, &w)
}

// register announces a scheduler without parameters.
func register(name, cite, summary string, p planner) algo.Spec {
	return algo.Register(algo.Spec{
		Name: name, Version: 1, Track: algo.TrackCorun, Cite: cite, Summary: summary,
		New: func(algo.Args) (algo.Corun, error) { return p, nil },
	})
}

// paper is the citation of the methods that the paper compares.
const paper = "hierarchical paper V-A4"
