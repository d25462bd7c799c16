package corun

import (
	"context"

	"miglab/harness/sim/corun"
)

var _ = register("time-sharing", paper, "one job after the other, each on the whole GPU", timeSharing)

func timeSharing(ctx context.Context, w *corun.Window) (corun.Plan, error) {
	var plan corun.Plan
	whole := corun.Setups(corun.Hierarchical, 1)[0] // every family has this one for one job
	for i := range w.Jobs {
		plan = append(plan, corun.Group{Jobs: []int{i}, Setup: whole})
	}
	return plan, ctx.Err()
}
