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
	Name: "migbench", Doc: "MIGBench's stream: at time 0 a request for the memory of 1g for each slice, then " +
		"one every 15 s on the mean, for the memory of a 1g, 2g, 3g or 7g; durations are lognormal; add " +
		"pernode=4&queue=retry to run it as MIGBench does",
	Source: "parameters of the stream in github.com/FouoF/MIG-scheduler-benchmark, September 2026",
	Params: append([]spec.Param{
		whole("requests", 500, 1, 1_000_000, "requests"),
		number("gap", 15, 0.001, 1e6, "mean seconds between arrivals, which are a Poisson process"),
		seedParam("seed", "of the random stream"),
	}, clusterParams(8)...),
	New: func(_ string, a spec.Args) (Dataset, error) {
		c, err := newCluster(a, secondsDowntime)
		return migbench{cluster: c, requests: a.Int("requests"), gap: a.Float("gap"), seed: a.Uint("seed")}, err
	},
})

// migbench draws streams of requests as MIGBench does.
type migbench struct {
	cluster
	requests int
	gap      float64 // the mean time between arrivals, in seconds
	seed     uint64
}

func (migbench) Instances() int { return 0 }

// migbenchSizes are the sizes of the profiles whose memory is requested, with their weights. A size that the model
// lacks is left out.
var migbenchSizes = []struct {
	slices mig.Slices
	weight float64
}{{1, 35}, {2, 25}, {3, 25}, {7, 5}}

// Requests last for a lognormal time.
const (
	migbenchMedian = 600 // seconds
	migbenchSigma  = 0.8 // the standard deviation of the logarithm
)

// migbenchProfiles returns the profiles whose memory is requested, with their probabilities.
func migbenchProfiles(g *mig.GPU) (profiles []*mig.Profile, probabilities []float64) {
	sum := 0.0
	for _, size := range migbenchSizes {
		if profile := g.Profile(size.slices); profile != nil {
			profiles = append(profiles, profile)
			probabilities = append(probabilities, size.weight)
			sum += size.weight
		}
	}
	for i := range probabilities {
		probabilities[i] /= sum
	}
	return profiles, probabilities
}

func (s migbench) Instance(g *mig.GPU, index int) (task.Payload, error) {
	profiles, probabilities := migbenchProfiles(g)
	if profiles == nil {
		return nil, fmt.Errorf("%s has no profile of 1, 2, 3 or 7 slices; migbench draws among these", g)
	}
	out := task.Requests{SlotSeconds: 0.001}
	rng := rand.New(Hashed(fmt.Appendf(nil, "workload=migbench\nseed=%d\nindex=%d", s.seed, index)))
	filling := s.gpus * int(g.ComputeSlices) // requests at time 0
	arrival := 0.0
	for i := range s.requests {
		p := profiles[0]
		if i >= filling {
			arrival += float64(portable.Exponential(rng) * s.gap)
			p = profiles[drawIndex(rng, probabilities)]
		}
		seconds := migbenchMedian * portable.Exp(migbenchSigma*portable.Normal(rng))
		// The work in milliseconds on the whole GPU: 1000 ms in a second, over 100, because the share is in percent.
		work := math.Ceil(10 * seconds * float64(task.Share(g, p)))
		q := task.Request{Arrival: int(arrival * 1000), MemoryMB: p.MemoryMB(), Work: int(work)}
		if err := q.SetProfile(g); err != nil {
			return nil, fmt.Errorf("request %d %w", i, err) // It reads "request 5 asks for ...".
		}
		out.Requests = append(out.Requests, q)
	}
	err := s.apply(g, &out, out.Seconds())
	return out, err
}
