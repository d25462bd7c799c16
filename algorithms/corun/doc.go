// Package corun holds the schedulers of the co-run track. They decide which jobs of a window run together, and on which
// partition of the GPU (hierarchical paper IV). They are given the jobs' true properties and the model; the paper's
// exhaustive searches are given measurements. All of them keep the paper's first constraint: a group is faster
// than its jobs one after the other. A job without such a group runs alone on the whole GPU.
package corun

import (
	"context"

	"miglab/harness/algo"
	"miglab/harness/sim/corun"
)

// A planner is a scheduler. Plan checks the window and then calls the function.
type planner func(ctx context.Context, w *corun.Window) (corun.Plan, error)

func (p planner) Plan(ctx context.Context, w corun.Window) (corun.Plan, error) {
	if v := w.Check(); v != nil {
		return nil, &corun.InvalidError{Violations: v}
	}
	return p(ctx, &w)
}

func register(name, cite, summary string, p planner) algo.Spec {
	return algo.Register(algo.Spec{
		Name: name, Version: 1, Cite: cite, Summary: summary,
		New: algo.NewCorun(func(algo.Args) (algo.Corun, error) { return p, nil }),
	})
}

// paper is the citation of the methods that the paper compares.
const paper = "hierarchical paper V-A4"
