package corun

import (
	"context"
	"fmt"

	"miglab/harness/sim/corun"
)

var _ = register("exact", "own", "the best groups on every partition of the track, by dynamic programming",
	exhaustive(corun.Every))

// exhaustive returns the scheduler that finds the best plan with the setups of a family.
func exhaustive(f corun.Family) planner {
	return func(ctx context.Context, w *corun.Window) (corun.Plan, error) {
		if len(w.Jobs) > maxDivide {
			return nil, fmt.Errorf("the window has %d jobs, and exhaustive search is for up to %d; "+
				"local takes any number", len(w.Jobs), maxDivide)
		}
		d := newDivider(w, f)
		all := make([]int, len(w.Jobs))
		for i := range all {
			all[i] = i
		}
		return d.plan(d.divide(ctx, all)), ctx.Err()
	}
}
