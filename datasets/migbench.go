package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

var _ = Register(Family{
	Name: "migbench", Doc: "a stream for nodes of four GPUs with a full queue: at first a request for 10 GB for each " +
		"slice, then one every 15 s on the mean, for 10, 20, 40 or 80 GB; durations are lognormal",
	Source: "parameters of the stream in github.com/FouoF/MIG-scheduler-benchmark, September 2026",
	Params: append([]spec.Param{
		whole("requests", 500, 1, 1_000_000, "requests"),
		number("gap", 15, 0.001, 1e6, "mean seconds between arrivals, which are a Poisson process"),
		seedParam("seed", "of the random stream"),
	}, clusterParams(8)...),
	New: func(_ string, a spec.Args) (Dataset, error) {
		c, err := newCluster(a)
		return migbench{c, a.Int("requests"), a.Float("gap"), a.Uint("seed")}, err
	},
})

type migbench struct {
	cluster
	requests int
	gap      float64
	seed     uint64
}

func (migbench) Instances() int { return 0 }

// What the stream asks for, with the weights, and how long it takes in the smallest profile: lognormal.
var (
	migbenchGB     = []int{10, 20, 40, 80}
	migbenchWeight = []float64{35. / 90, 25. / 90, 25. / 90, 5. / 90}
)

const migbenchMedian, migbenchSigma = 600, 0.8 // seconds; of the logarithm

func (s migbench) Instance(g *mig.GPU, index int) (task.Payload, error) {
	out, err := s.cluster.on(g)
	if err != nil {
		return nil, err
	}
	out.SlotSeconds = 0.001
	rng := rand.New(Hashed(fmt.Appendf(nil, "workload=migbench\nseed=%d\nindex=%d", s.seed, index)))
	first, at := s.gpus*int(g.ComputeSlices), 0.0
	for i := range s.requests {
		gb := migbenchGB[0]
		if i >= first {
			at += rng.ExpFloat64() * s.gap
			gb = migbenchGB[drawIndex(rng, migbenchWeight)]
		}
		q := task.Request{Arrival: int(at * 1000), MemoryMB: 1024 * gb}
		if err := out.SetProfile(g, &q); err != nil {
			return nil, fmt.Errorf("request %d %w", i, err)
		}
		q.Lifespan = max(int(math.Round(1000*migbenchMedian*math.Exp(migbenchSigma*rng.NormFloat64()))), 1)
		out.Requests = append(out.Requests, q)
	}
	return out, nil
}
