package datasets

import (
	"math/rand/v2"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

var _ = Register(Family{
	Name: "gangs", Doc: "one request a slot: half for a single instance, the others for up to four at once, on one " +
		"GPU or on any; all profiles are equally likely, +me included",
	Source: "ours",
	Params: append([]spec.Param{
		whole("requests", 500, 1, 1_000_000, "requests"),
		number("rho", 1, 0.01, 100, "offered load, 1 being the capacity"),
		seedParam("seed", "of the random stream"),
	}, clusterParams(8)...),
	New: func(_ string, a spec.Args) (Dataset, error) {
		c, err := newCluster(a, secondsDowntime)
		return gangs{cluster: c, requests: a.Int("requests"), rho: a.Float("rho"), seed: a.Uint("seed")}, err
	},
})

// gangs draws streams of requests for several instances.
type gangs struct {
	cluster
	requests int
	rho      float64
	seed     uint64
}

func (gangs) Instances() int { return 0 }

// mostMembers is the largest number of instances of a request. There are no more than GPUs, so that an empty cluster
// has room for them in whatever order they are placed.
const mostMembers = 4

func (s gangs) Instance(g *mig.GPU, index int) (task.Payload, error) {
	rng := rand.New(pcg("workload=gangs", s.seed, g, index))
	all, slices := task.Requestable(g), 0
	var out task.Requests
	relative := make([]float64, s.requests) // lifespans, as shares of the longest
	for i := range relative {
		q := task.Request{Arrival: i}
		for {
			members := make([]task.Member, 1)
			if s.gpus > 1 && rng.IntN(2) == 0 {
				members = make([]task.Member, 2+rng.IntN(min(mostMembers, s.gpus)-1))
			}
			for k := range members {
				members[k] = all[rng.IntN(len(all))]
			}
			q.SetGang(members, rng.IntN(2) == 0)
			if q.CheckGPUs(g) == nil {
				break
			}
		}
		slices += q.Slices()
		relative[i] = rng.Float64()
		out.Requests = append(out.Requests, q)
	}
	// A slot brings slices/requests memory slices on the mean, for half of the longest lifespan.
	longest := 2 * s.rho * float64(s.gpus*int(g.MemorySlices)) * float64(s.requests) / float64(slices)
	for i := range out.Requests {
		out.Requests[i].Lifespan = 1 + int(float64(relative[i]*longest))
	}
	err := s.apply(g, &out, 1)
	return out, err
}
