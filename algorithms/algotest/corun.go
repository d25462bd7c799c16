package algotest

import (
	"context"

	"miglab/harness/algo"
	"miglab/harness/sim/corun"
)

// Corun is the co-run track.
var Corun = Track[corun.Window, corun.Plan]{
	Name: algo.TrackCorun,
	Run: func(ctx context.Context, a algo.Algorithm, w corun.Window) (corun.Plan, error) {
		s, err := algo.Make[algo.Corun](a)
		if err != nil {
			return nil, err
		}
		return s.Plan(ctx, w)
	},
	Check: func(w corun.Window, plan corun.Plan) error {
		_, err := corun.Measure(w, plan)
		return err
	},
}
