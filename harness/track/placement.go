package track

import (
	"context"

	"miglab/harness/algo"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// Placement is the track of MIG profiles on a cluster (MFI IV).
var Placement = Register(Track{
	Name: algo.TrackPlacement, Order: 3, Doc: "place requests for MIG profiles on a cluster; acceptance and " +
		"fragmentation",
	Data: task.Requests{}.Kind(), GPU: "A100-80GB", Count: clusterSize, Beside: []Reference{acceptedAtMost},
	Boards: placementBoards(), Audited: "acceptance",
	Try: func(a algo.Algorithm, p Problem) error {
		_, err := newPlacer(a, p)
		return err
	},
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		placer, err := newPlacer(a, p)
		if err != nil {
			return Answer{}, err
		}
		in := payload[task.Requests](p)
		var result sim.PlacementResult
		took, err := simulate(ctx, placer, func() (err error) {
			result, err = sim.RunPlacement(p.GPU, p.Count, in.Requests, placer, sim.SteadyWindow, in.Migration)
			return err
		})
		if err != nil {
			return Answer{Took: took}, invalidIf[*sim.ChoiceError](err)
		}
		if result.Spots != nil {
			if err := sim.CheckPlacement(p.GPU, p.Count, in.Requests, result.Spots, result.Moved,
				in.Migration); err != nil {
				return Answer{Took: took}, &InvalidError{err}
			}
		}
		return Answer{Metrics: result.Metrics(), Took: took}, nil
	},
})

func newPlacer(a algo.Algorithm, p Problem) (sim.Placer, error) {
	return algo.Constructor[algo.NewPlacer](a)(a.Args, sim.PlacementSetting{
		GPU: p.GPU, GPUs: p.Count, Demand: payload[task.Requests](p).Demand, Seed: p.Seed,
	})
}

func clusterSize(p task.Payload) int { return p.(task.Requests).GPUs }

// acceptedAtMost is the upper bound that gaps are measured from.
var acceptedAtMost = Reference{algo.TrackOffline, "offline-bound", MetricAcceptanceAtMost}

// placementBoards rank by acceptance. Requests in a steady state are counted once the cluster is
// full, all others from the first.
func placementBoards() []Board {
	inSteady := acceptedAtMost
	inSteady.Metric = MetricSteadyAtMost
	const aside = "mean_fragmentation"
	return []Board{
		{Metric: "acceptance", Higher: true, Regime: task.Whole, Bound: acceptedAtMost, Unbounded: true, Aside: aside},
		{
			Metric: "acceptance_steady", Higher: true, Regime: task.Steady, Bound: inSteady, Unbounded: true,
			Aside: aside,
		},
	}
}
