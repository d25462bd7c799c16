package track

import (
	"context"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// Placement is the track of MIG profiles on a cluster (MFI IV).
var Placement = Register(Track{
	Name: algo.TrackPlacement, Order: 3, Doc: "place requests for MIG profiles on a cluster; acceptance and fragmentation",
	Data: task.Requests{}.Kind(), GPU: "A100-80GB", Count: clusterSize, Boards: placementBoards(), Contests: placementContests(),
	Try: func(a algo.Algorithm, p Problem) error {
		_, err := newPlacer(a, p)
		return err
	},
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		placer, err := newPlacer(a, p)
		if err != nil {
			return Answer{}, err
		}
		var result sim.PlacementResult
		took, err := simulate(ctx, placer, func() (err error) {
			result, err = sim.RunPlacement(p.GPU, p.Count, payload[task.Requests](p).Requests, placer, sim.SteadyWindow)
			return err
		})
		if err != nil {
			return Answer{Took: took}, invalidIf[*sim.ChoiceError](err)
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

// placementBoards rank by acceptance. Requests in a steady state are counted once the cluster is
// full, all others from the first.
func placementBoards() []Board {
	steady := func(dataset string) bool { return strings.Contains(dataset, "lifespan=steady") }
	return []Board{
		{Metric: "acceptance", Higher: true, Holds: func(dataset string) bool { return !steady(dataset) }},
		{Metric: "acceptance_steady", Higher: true, Holds: steady},
	}
}

func placementContests() []Contest {
	algorithms := []string{"mfi", "mfi-weighted", "fgd", "value-table", "ff", "rr", "bf-bi", "wf-bi"}
	return []Contest{
		{"A100-80GB", mig.Sequential, []string{"mfi/uniform?load=85", "mfi/skew-small?load=85", "mfi/skew-big?load=85", "mfi/bimodal?load=85"}, algorithms, 50},
		{"A100-80GB", mig.Sequential, []string{"mfi/uniform?lifespan=steady"}, algorithms, 20},
	}
}
