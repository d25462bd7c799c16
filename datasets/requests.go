package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// A distribution says how often each profile is requested: a column of MFI Table II.
type distribution struct {
	name string
	// weights has the weights of the profiles of the 7-slice models, from the smallest to the
	// largest: 1g, 1g with double memory, 2g, 3g, 4g, 7g.
	weights [6]float64
	doc     string
}

var distributions = []*distribution{
	{"uniform", [6]float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}, "all profiles equally likely"},
	{"skew-small", [6]float64{0.30, 0.25, 0.20, 0.10, 0.10, 0.05}, "small profiles more likely"},
	{"skew-big", [6]float64{0.05, 0.10, 0.10, 0.20, 0.25, 0.30}, "large profiles more likely"},
	{"bimodal", [6]float64{0.30, 0.15, 0.05, 0.05, 0.15, 0.30}, "the smallest and the largest profiles more likely"},
}

// demand returns the probability of each of a model's profiles: the weight of Table II over the
// sum of the weights of the model's profiles. A30 has 1g, 2g and 4g.
func (d *distribution) demand(g *mig.GPU) []float64 {
	largest := mig.MustLookup("A100-80GB")
	var out []float64
	var sum float64
	for _, p := range task.RequestProfiles(g) {
		for i, q := range task.RequestProfiles(largest) {
			if q.Size == p.Size && q.DoubleMemory == p.DoubleMemory {
				out = append(out, d.weights[i])
				sum += d.weights[i]
			}
		}
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// A lifespan is the distribution of the lifespans of requests.
type lifespan string

const (
	// paperLifespan is U[1,T] slots, where T saturates the cluster (MFI VI). The cluster
	// never fills beyond about a half.
	paperLifespan lifespan = "paper"
	// steadyLifespan is U[1,2 rho T] slots: the requested slices in the cluster would be
	// rho times its capacity if all were accepted.
	steadyLifespan  lifespan = "steady"
	foreverLifespan lifespan = "forever" // no departures
)

// The readings of T, the number of slots after which the requests so far add up to the capacity in memory slices.
const (
	expectedT = "expected" // the capacity over the mean memory slices of a request
	realisedT = "realised" // the slot by which the requests of this stream add up to the capacity
)

// steadyDemand is the least demand of a stream with steady lifespans, in multiples of the cluster's capacity: two fill
// the cluster ([sim.SteadyWindow]) and three are measured. MFI has no such streams.
const steadyDemand = 5

const mfiPrefix = "mfi/"

// requests is a stream with its parameters (MFI VI). A request arrives in each slot.
type requests struct {
	cluster
	distribution *distribution
	// load is the number of requested slices in percent of the capacity, without lifespan=steady.
	load     int
	lifespan lifespan
	t        string // [expectedT] or [realisedT]
	// rho and turnover describe a stream with lifespan=steady.
	rho      float64
	turnover int
	// key and seed determine the random stream.
	key  string
	seed uint64
}

// defaultLoad is the default of the parameter load, in percent of the capacity.
const defaultLoad = 85

// defaultDowntime is the default of the parameter downtime, in slots: 0.8 % of the mean lifespan on
// 100 GPUs with a uniform demand, half a minute in an hour.
const defaultDowntime = 2

var requestParams = append([]spec.Param{
	whole("load", defaultLoad, 1, 1000, "requested slices in percent of the capacity"),
	whole("gpus", 100, 1, maxGPUs, "GPUs of the cluster"),
	choice("lifespan", "how long accepted requests stay", string(paperLifespan), string(steadyLifespan),
		string(foreverLifespan)),
	choice("T", "reading of the number of slots that saturates the cluster", realisedT, expectedT),
	number("rho", 1, 0.01, 100, "offered load with lifespan=steady, 1 being the capacity"),
	whole("turnover", steadyDemand, steadyDemand, 1000, "requested slices over the capacity with lifespan=steady"),
	seedParam("seed", "of the random stream"),
	queueParam, geometryParam,
}, moveParams(defaultDowntime)...)

var _ = registerAll(distributions, func(d *distribution) Family {
	return Family{
		Name: mfiPrefix + d.name, Doc: "requests for profiles, " + d.doc, Source: "MFI VI and Table II",
		Params: requestParams,
		New:    func(_ string, a spec.Args) (Dataset, error) { return newRequests(d, a) },
	}
})

func newRequests(d *distribution, a spec.Args) (Dataset, error) {
	s := requests{
		distribution: d, load: a.Int("load"), lifespan: lifespan(a["lifespan"]), t: a["T"],
		rho: a.Float("rho"), turnover: a.Int("turnover"), seed: a.Uint("seed"),
		key: "workload=" + mfiPrefix + d.name + "\np=", // the last line was a parameter's; without it, other requests come
	}
	switch {
	case s.lifespan == steadyLifespan && s.load != defaultLoad:
		return nil, refuse(a, "load",
			fmt.Sprintf("none with lifespan=steady: such a stream ends at %d times the capacity", s.turnover))
	case s.lifespan != steadyLifespan && s.rho != 1:
		return nil, refuse(a, "rho", "it only with lifespan=steady")
	case s.lifespan != steadyLifespan && s.turnover != steadyDemand:
		return nil, refuse(a, "turnover", "it only with lifespan=steady")
	case s.lifespan == foreverLifespan && s.t != realisedT:
		return nil, refuse(a, "T", "none with lifespan=forever")
	case s.lifespan == foreverLifespan && a.Float("moves") != 0:
		return nil, refuse(a, "moves", "none with lifespan=forever, which has no mean lifespan")
	}
	var err error
	s.cluster, err = newCluster(a, defaultDowntime)
	if err == nil && s.lifespan == foreverLifespan && s.queue != task.Reject {
		err = refuse(a, queueParam.Name, "none with lifespan=forever, with which a request may wait forever")
	}
	return s, err
}

func (s requests) Instances() int { return 0 }

func (s requests) regime() task.Regime {
	if s.lifespan == steadyLifespan && s.queue == task.Reject {
		return task.Steady
	}
	return s.cluster.regime()
}

func (s requests) Instance(g *mig.GPU, index int) (task.Payload, error) {
	demand := s.distribution.demand(g)
	out := task.Requests{Requests: s.generate(g, demand, index), Demand: demand}
	err := s.apply(g, &out, 1)
	return out, err
}

// generate draws the stream. The profile and the relative lifespan of request i depend only
// on the distribution, the seed, the GPU model's sizes and the index, so that a lower load or
// a smaller cluster gets the beginning of the same stream.
func (s requests) generate(g *mig.GPU, demand []float64, index int) []task.Request {
	capacity := s.gpus * int(g.MemorySlices)
	end := (capacity*s.load + 99) / 100 // the requested slices with which the stream ends, rounded up
	if s.lifespan == steadyLifespan {
		end = s.turnover * capacity
	}
	if s.t == realisedT && end < capacity {
		// T is known only once the stream has saturated the cluster.
		longer := s
		longer.load = 100
		return cutAt(longer.generate(g, demand, index), end)
	}

	profiles := task.RequestProfiles(g)
	var mean float64 // slices of a request
	for i, p := range profiles {
		mean += float64(demand[i] * float64(p.Length)) // rounded before it is added
	}
	rng := rand.New(pcg(s.key, s.seed, g, index))
	out := make([]task.Request, 0, int(1.1*float64(end)/mean)+64)
	relative := make([]float64, 0, cap(out)) // lifespans, as shares of the longest
	saturation := float64(capacity) / mean   // T
	for requested := 0; requested < end; {
		p := profiles[drawIndex(rng, demand)]
		relative = append(relative, rng.Float64())
		out = append(out, task.Request{Arrival: len(out), Lifespan: task.Forever, Profile: p})
		before := requested
		requested += int(p.Length)
		if s.t == realisedT && before < capacity && requested >= capacity {
			saturation = float64(len(out))
		}
	}
	if s.lifespan == foreverLifespan {
		return out
	}
	if s.lifespan == steadyLifespan {
		saturation *= 2 * s.rho
	}
	longest := max(math.Round(saturation), 1)
	for i := range out {
		out[i].Lifespan = 1 + int(relative[i]*longest)
	}
	return out
}

// cutAt returns the beginning of a stream, up to the request with which the requested slices reach end.
func cutAt(all []task.Request, end int) []task.Request {
	requested := 0
	for i := range all {
		requested += int(all[i].Profile.Length)
		if requested >= end {
			return all[:i+1]
		}
	}
	return all
}

// drawIndex returns a random index; p has the probability of each. It never returns an index of probability 0.
func drawIndex(rng *rand.Rand, p []float64) int {
	u := rng.Float64()
	last := 0
	for i, v := range p {
		if v == 0 {
			continue
		}
		last = i
		if u < v {
			return i
		}
		u -= v
	}
	return last
}
