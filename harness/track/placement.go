package track

import (
	"context"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// Placement is the track of MIG profiles on a cluster (MFI IV).
var Placement = Register(Track{
	Name: algo.TrackPlacement, Order: 3, Doc: "place requests for MIG profiles on a cluster; acceptance and fragmentation",
	Data: task.Requests{}.Kind(), GPU: "A100-80GB", Count: clusterSize, Beside: []Reference{acceptedAtMost},
	Boards: placementBoards(), Contests: placementContests(),
	Audited: "acceptance",
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
			if err := sim.CheckPlacement(p.GPU, p.Count, in.Requests, result.Spots, result.Moved, in.Migration); err != nil {
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
		{Metric: "acceptance_steady", Higher: true, Regime: task.Steady, Bound: inSteady, Unbounded: true, Aside: aside},
	}
}

// placementContests begins with the datasets on which policies differ most: clusters in a steady
// state, and the pods of a trace that share GPUs, on clusters of 0.85, 1 and 1.15 times their peak
// of 14 GPUs.
func placementContests() []Contest {
	algorithms := []string{
		"mfi", "mfi?f=partial", "mfi?f=start-free", "mfi-weighted", "fgd", "value-table",
		"ff", "rr", "bf-bi", "wf-bi", "hami-binpack", "hami-spread",
	}
	return []Contest{
		{"A100-80GB", mig.Sequential, []string{
			"mfi/uniform?lifespan=steady&rho=0.85", "mfi/uniform?lifespan=steady",
			"mfi/uniform?lifespan=steady&rho=1.3",
		}, algorithms, 20},
		{
			"A100-80GB", mig.Sequential,
			[]string{"openb?pods=shared&gpus=12", "openb?pods=shared&gpus=14", "openb?pods=shared&gpus=16"},
			algorithms, 20,
		},
		{"A100-80GB", mig.Sequential, []string{
			"openb?pods=shared&gpus=12&map=memory", "openb?pods=shared&gpus=14&map=memory",
			"openb?pods=shared&gpus=16&map=memory",
		}, algorithms, 20},
		{
			"A100-80GB", mig.Sequential,
			[]string{"mfi/uniform?lifespan=steady&moves=0.25", "mfi/uniform?lifespan=steady&moves=1"},
			append(algorithms[:1:1],
				"mfi-migrate", "repack", "repack-exact", "load-balance-migrate"), 30,
		},
		{"A100-80GB", mig.Sequential, []string{
			"mfi/uniform?load=85", "mfi/skew-small?load=85", "mfi/skew-big?load=85",
			"mfi/bimodal?load=85",
		}, algorithms, 50},
	}
}
