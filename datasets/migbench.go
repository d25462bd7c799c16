package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/spec"
	"miglab/harness/task"
)

var _ = Register(Family{
	Name: "migbench", Doc: "a stream for nodes of four GPUs with a full queue: at first a request for the memory of " +
		"1g for each slice, then one every 15 s on the mean, for that of 1g, 2g, 3g or 7g; durations are lognormal",
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

// migbenchSizes are the sizes of the profiles whose memory is requested, with their weights. A size that the model
// lacks is left out.
var migbenchSizes = []struct {
	slices mig.Slices
	weight float64
}{{1, 35}, {2, 25}, {3, 25}, {7, 5}}

// Requests last for a lognormal time: the median in seconds, and the deviation of the logarithm.
const migbenchMedian, migbenchSigma = 600, 0.8

func (s migbench) Instance(g *mig.GPU, index int) (task.Payload, error) {
	out := s.empty()
	out.SlotSeconds = 0.001
	var profiles []*mig.Profile
	var weights []float64
	sum := 0.0
	for _, size := range migbenchSizes {
		p := g.Profile(size.slices)
		if p != nil {
			profiles = append(profiles, p)
			weights = append(weights, size.weight)
			sum += size.weight
		}
	}
	if profiles == nil {
		return nil, fmt.Errorf("%s has no profile of 1, 2, 3 or 7 slices; migbench draws among these", g)
	}
	for i := range weights {
		weights[i] /= sum
	}
	rng := rand.New(Hashed(fmt.Appendf(nil, "workload=migbench\nseed=%d\nindex=%d", s.seed, index)))
	first, at := s.gpus*int(g.ComputeSlices), 0.0
	for i := range s.requests {
		p := profiles[0]
		if i >= first {
			at += float64(portable.Exponential(rng) * s.gap)
			p = profiles[drawIndex(rng, weights)]
		}
		seconds := migbenchMedian * portable.Exp(migbenchSigma*portable.Normal(rng))
		work := math.Ceil(10 * seconds * float64(task.Share(g, p)))
		q := task.Request{Arrival: int(at * 1000), MemoryMB: p.MemoryMB(), Work: int(work)}
		if err := q.SetProfile(g); err != nil {
			return nil, fmt.Errorf("request %d %w", i, err)
		}
		out.Requests = append(out.Requests, q)
	}
	err := s.apply(g, &out)
	return out, err
}
