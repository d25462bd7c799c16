package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

// A distribution is a column of MFI Table II.
type distribution struct {
	name string
	// weights are by profile from the smallest to the largest on the 7-slice models:
	// 1g, 1g with double memory, 2g, 3g, 4g, 7g.
	weights [6]float64
	summary string
}

var distributions = []*distribution{
	{"uniform", [6]float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}, "all profiles equally likely"},
	{"skew-small", [6]float64{0.30, 0.25, 0.20, 0.10, 0.10, 0.05}, "small profiles more likely"},
	{"skew-big", [6]float64{0.05, 0.10, 0.10, 0.20, 0.25, 0.30}, "large profiles more likely"},
	{"bimodal", [6]float64{0.30, 0.15, 0.05, 0.05, 0.15, 0.30}, "the smallest and the largest profiles more likely"},
}

// on returns the probability of each of a model's profiles: that of Table II, given
// that the model has the profile. A30 has 1g, 2g and 4g.
func (d *distribution) on(g *mig.GPU) []float64 {
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

// A lifespan is how long accepted requests stay.
type lifespan string

const (
	// paperLifespan is U[1,T] slots, where T saturates the cluster (MFI VI). The cluster
	// never fills beyond about a half.
	paperLifespan lifespan = "paper"
	// steadyLifespan is U[1,2 rho T] slots: the requested slices in the cluster would be
	// rho times its capacity if all were accepted.
	steadyLifespan lifespan = "steady"
	// foreverLifespan has no departures.
	foreverLifespan lifespan = "forever"
)

// The number of slots T that saturates a cluster of a capacity.
const (
	// expectedT is the capacity over the mean memory slices of a request.
	expectedT = "expected"
	// realisedT is the slot by which the requests of this very stream add up to the
	// capacity.
	realisedT = "realised"
)

// steadyDemand is how many capacities a stream with steady lifespans requests: enough
// to fill the cluster and then to watch it for three more (MFI has no such streams).
const steadyDemand = 5

// The largest parameters of streams.
const (
	maxGPUs = 1_000_000
	maxLoad = 1000
)

// customName is the distribution that the spec itself gives.
const customName = "custom"

// requests is a stream with its parameters (MFI VI): one request a slot.
type requests struct {
	distribution string
	// p is what parameter p of custom gives, written canonically.
	p        string
	load     int
	gpus     int
	lifespan lifespan
	t        string
	rho      float64
	seed     uint64
}

var defaultRequests = requests{load: 85, gpus: 100, lifespan: paperLifespan, t: realisedT, rho: 1, seed: 1}

const (
	requestsPrefix = "requests:"
	mfiPrefix      = "mfi/"
)

// parseRequests parses the specs of the placement track; known is false for others.
func parseRequests(spec string) (s Spec, known bool, err error) {
	if file, ok := strings.CutPrefix(spec, requestsPrefix); ok {
		s, err = parseTrace(file)
		return s, true, err
	}
	name, query, hasQuery := strings.Cut(spec, "?")
	if !slices.Contains(requestNames(), name) {
		return nil, false, nil
	}
	var pairs []string
	if hasQuery {
		pairs = strings.Split(query, "&")
	}
	s, err = parseStream(strings.TrimPrefix(name, mfiPrefix), pairs)
	return s, true, err
}

// requestNames lists the datasets of the placement track.
func requestNames() []string {
	out := []string{requestsPrefix + "FILE", mfiPrefix + customName}
	for _, d := range distributions {
		out = append(out, mfiPrefix+d.name)
	}
	return out
}

// requestInfos describes the datasets of the placement track.
func requestInfos() []Info {
	const parameters = "; load (% of capacity), gpus, lifespan=paper|steady|forever, T=realised|expected, rho, seed"
	var out []Info
	for _, d := range distributions {
		out = append(out, Info{Name: mfiPrefix + d.name, Summary: "requests for profiles, " + d.summary + parameters, Source: "MFI VI and Table II"})
	}
	return append(
		out,
		Info{
			Name:    mfiPrefix + customName + "?p=0.5-0.2-0.1-0.1-0.05-0.05",
			Summary: "the same with the probability p of each profile, in the order of the model's profiles",
			Source:  "the spec",
		},
		Info{
			Name:    requestsPrefix + "FILE",
			Summary: "the requests of a CSV file with the header arrival_slot,lifespan,profile; ?gpus=100 at the end",
			Source:  "the file",
		})
}

func parseStream(name string, pairs []string) (Spec, error) {
	s := defaultRequests
	s.distribution = name
	known := []parameter{
		count("load", &s.load, 1, maxLoad),
		count("gpus", &s.gpus, 1, maxGPUs),
		choice("lifespan", &s.lifespan, paperLifespan, steadyLifespan, foreverLifespan),
		choice("T", &s.t, realisedT, expectedT),
		{"rho", s.setRho},
		seed(&s.seed),
	}
	if name == customName {
		known = append(known, parameter{"p", s.setProbabilities})
	}
	if err := setParameters(pairs, known); err != nil {
		return nil, err
	}
	d := defaultRequests
	switch {
	case name == customName && s.p == "":
		return nil, &ParameterError{Name: "p", Want: wantProbabilities}
	case s.lifespan == steadyLifespan && s.load != d.load:
		return nil, &ParameterError{"load", strconv.Itoa(s.load), "none with lifespan=steady: such a stream ends at 5 times the capacity"}
	case s.lifespan != steadyLifespan && s.rho != d.rho:
		return nil, &ParameterError{"rho", formatFloat(s.rho), "it only with lifespan=steady"}
	case s.lifespan == foreverLifespan && s.t != d.t:
		return nil, &ParameterError{"T", s.t, "none with lifespan=forever"}
	}
	return s, nil
}

// choice is a parameter that takes one of a few words.
func choice[T ~string](name string, to *T, values ...T) parameter {
	return parameter{name, func(value string) error {
		var known []string
		for _, v := range values {
			if string(v) == value {
				*to = v
				return nil
			}
			known = append(known, string(v))
		}
		return nearest.Unknown("value of parameter "+name, value, known)
	}}
}

func (s *requests) setRho(value string) error {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v >= 0.01 && v <= 100) {
		return &ParameterError{"rho", value, "an offered load from 0.01 to 100 (1 is the capacity)"}
	}
	s.rho = v
	return nil
}

const wantProbabilities = "the probability of each profile, joined by dashes and adding up to 1, as in 0.5-0.2-0.1-0.1-0.05-0.05"

func (s *requests) setProbabilities(value string) error {
	p, ok := parseProbabilities(value)
	if !ok {
		return &ParameterError{"p", value, wantProbabilities}
	}
	var text []string
	for _, v := range p {
		text = append(text, strconv.FormatFloat(v, 'f', -1, 64))
	}
	s.p = strings.Join(text, "-")
	return nil
}

// parseProbabilities reads numbers from 0 to 1 that add up to 1 within 1e-9.
func parseProbabilities(text string) (p []float64, ok bool) {
	var sum float64
	for _, field := range strings.Split(text, "-") {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return nil, false
		}
		p = append(p, v)
		sum += v
	}
	return p, math.Abs(sum-1) <= 1e-9
}

func (s requests) ID() string {
	d := defaultRequests
	var p []string
	add := func(name, value string, differs bool) {
		if differs {
			p = append(p, name+"="+value)
		}
	}
	add("p", s.p, s.p != "")
	add("load", strconv.Itoa(s.load), s.load != d.load)
	add("gpus", strconv.Itoa(s.gpus), s.gpus != d.gpus)
	add("lifespan", string(s.lifespan), s.lifespan != d.lifespan)
	add("T", s.t, s.t != d.t)
	add("rho", formatFloat(s.rho), s.rho != d.rho)
	add("seed", strconv.FormatUint(s.seed, 10), s.seed != d.seed)
	return canonical(mfiPrefix+s.distribution, p)
}

func (s requests) Instances() int { return 0 }

// ProfilesError says that a spec gives probabilities for another number of profiles
// than the model has.
type ProfilesError struct {
	// Dataset is the canonical spec.
	Dataset string
	// GPU is the model.
	GPU string
	// Given is the number of probabilities.
	Given int
	// Profiles are those of the model.
	Profiles []*mig.Profile
}

func (e *ProfilesError) Error() string {
	return fmt.Sprintf("dataset %q has %d probabilities; %s needs one for each of %v", e.Dataset, e.Given, e.GPU, e.Profiles)
}

// demand returns the probability of each profile. The error is a [*ProfilesError].
func (s requests) demand(g *mig.GPU) ([]float64, error) {
	if s.distribution != customName {
		i := slices.IndexFunc(distributions, func(d *distribution) bool { return d.name == s.distribution })
		return distributions[i].on(g), nil
	}
	p, _ := parseProbabilities(s.p)
	if profiles := task.RequestProfiles(g); len(p) != len(profiles) {
		return nil, &ProfilesError{s.ID(), g.Name, len(p), profiles}
	}
	return p, nil
}

func (s requests) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(s, index); err != nil {
		return nil, err
	}
	demand, err := s.demand(g)
	if err != nil {
		return nil, err
	}
	return task.Requests{Requests: s.generate(g, demand, index), GPUs: s.gpus, Demand: demand}, nil
}

// generate draws the stream. The profile and the relative lifespan of request i
// depend on the distribution, the seed, the GPU model's sizes and the index alone, so
// that a lower load or a smaller cluster sees the beginning of the same stream.
func (s requests) generate(g *mig.GPU, demand []float64, index int) []task.Request {
	profiles := task.RequestProfiles(g)
	var mean float64
	for i, p := range profiles {
		mean += float64(demand[i] * float64(p.Length)) // rounded before it is added
	}
	capacity := s.gpus * int(g.MemorySlices)
	end := (capacity*s.load + 99) / 100
	if s.lifespan == steadyLifespan {
		end = steadyDemand * capacity
	}
	if s.t == realisedT && end < capacity {
		// T is known only once the stream has saturated the cluster.
		longer := s
		longer.load = 100
		return upTo(longer.generate(g, demand, index), end)
	}

	key := []byte("workload=" + mfiPrefix + s.distribution + "\np=" + s.p)
	rng := rand.New(pcg(key, s.seed, g, index))
	out := make([]task.Request, 0, int(1.1*float64(end)/mean)+64)
	relative := make([]float64, 0, cap(out))
	saturation := float64(capacity) / mean
	for requested := 0; requested < end; {
		p := profiles[draw(rng, demand)]
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
	longest := math.Round(saturation)
	if s.lifespan == steadyLifespan {
		longest = math.Round(2 * s.rho * saturation)
	}
	longest = max(longest, 1)
	for i := range out {
		out[i].Lifespan = 1 + int(relative[i]*longest)
	}
	return out
}

// upTo returns the beginning of a stream that requests so many slices.
func upTo(all []task.Request, end int) []task.Request {
	requested := 0
	for i := range all {
		if requested += int(all[i].Profile.Length); requested >= end {
			return all[:i+1]
		}
	}
	return all
}

// draw returns an index with the given probabilities.
func draw(rng *rand.Rand, p []float64) int {
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
