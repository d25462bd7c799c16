package datasets

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A slack is how late deadlines are: a job's is its arrival plus U(low, high) times
// its duration on the whole GPU.
type slack struct{ low, high float64 }

// days are the datasets of generated jobs.
var days = []struct {
	name string
	// slack is the default where it is a parameter.
	slack   slack
	free    bool
	summary string
}{
	{deadlinePrefix + "relaxed", slack{2, 4}, false, "deadlines at U(2,4) times the duration on the whole GPU"},
	{deadlinePrefix + "tight", slack{1, 1.5}, false, "deadlines at U(1,1.5) times the duration on the whole GPU"},
	{deadlinePrefix + "slack", slack{1, 1}, true, "deadlines at U(low,high) times the duration on the whole GPU (low 1, high 1)"},
}

const deadlinePrefix = "deadline/"

// maxSlack bounds the parameters low and high, and other factors.
const maxSlack = 1000

// day is 24 hours of jobs with deadlines (deadline report 2.4 and 3.3, and the
// released create_queue). Instance i is episode i of an endless sequence. Datasets
// that differ in deadlines or in the fleet have the same jobs otherwise, so that
// their results can be compared in pairs.
type day struct {
	name string
	slack
	// byDefault is the slack that the ID leaves out.
	byDefault slack
	fleet
	seed uint64
}

// parseJobs parses the specs of the dispatch track; known is false for others.
func parseJobs(spec string) (s Spec, known bool, err error) {
	if file, ok := strings.CutPrefix(spec, jobsPrefix); ok {
		s, err = parseJobsFile(file)
		return s, true, err
	}
	name, query, hasQuery := strings.Cut(spec, "?")
	var pairs []string
	if hasQuery {
		pairs = strings.Split(query, "&")
	}
	for _, d := range days {
		if d.name == name {
			s, err = parseDay(day{name: name, slack: d.slack, byDefault: d.slack, fleet: reportFleet, seed: 1}, d.free, pairs)
			return s, true, err
		}
	}
	return nil, false, nil
}

func parseDay(d day, free bool, pairs []string) (Spec, error) {
	known := append(d.fleet.parameters(), seed(&d.seed))
	if free {
		known = append(known, factor("low", &d.low), factor("high", &d.high))
	}
	if err := setParameters(pairs, known); err != nil {
		return nil, err
	}
	if d.high < d.low {
		return nil, &ParameterError{"high", formatFloat(d.high), "a number from low = " + formatFloat(d.low)}
	}
	return d, nil
}

// factor is a parameter that takes a number from 0 to maxSlack.
func factor(name string, to *float64) parameter {
	return parameter{name, func(value string) error {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0 && v <= maxSlack) {
			return &ParameterError{name, value, "a number from 0 to " + strconv.Itoa(maxSlack)}
		}
		*to = v + 0 // -0 becomes 0, which is written differently
		return nil
	}}
}

// jobNames lists the datasets of the dispatch track.
func jobNames() []string {
	out := []string{jobsPrefix + "FILE"}
	for _, d := range days {
		out = append(out, d.name)
	}
	return out
}

// jobInfos describes the datasets of the dispatch track.
func jobInfos() []Info {
	var out []Info
	for _, d := range days {
		out = append(out, Info{
			Name:    d.name,
			Summary: "a day of inference and training jobs, " + d.summary + "; gpus (" + reportFleet.gpus + "), watts, seed (1)",
			Source:  "deadline report 2.3, 2.4, 3.3",
		})
	}
	return append(out, Info{
		Name:    jobsPrefix + "FILE",
		Summary: "the jobs of a CSV file with the header arrival_min,deadline_min,t1,t2,t3,t4,t7 (A30: t1,t2,t4); at the end ?gpus=...&watts=...",
		Source:  "the file",
	})
}

func (d day) ID() string {
	p := d.fleet.differing()
	if d.low != d.byDefault.low {
		p = append(p, "low="+formatFloat(d.low))
	}
	if d.high != d.byDefault.high {
		p = append(p, "high="+formatFloat(d.high))
	}
	if d.seed != 1 {
		p = append(p, "seed="+strconv.FormatUint(d.seed, 10))
	}
	return canonical(d.name, p)
}

func (d day) Instances() int { return 0 }

func (d day) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(d, index); err != nil {
		return nil, err
	}
	f, err := d.fleetOn(g)
	if err != nil {
		return nil, err
	}
	rng := rand.New(pcg([]byte("workload=deadline"), d.seed, g, index))
	return task.Queue{Jobs: d.appendJobs(rng, make([]task.Job, 0, jobsADay)), Fleet: f}, nil
}

// fleetOn returns the fleet of GPUs of a model that the jobs' durations are for.
func (d *day) fleetOn(g *mig.GPU) (task.Fleet, error) {
	if on := []string{"A100", "A100-80GB"}; !slices.Contains(on, g.Name) {
		return task.Fleet{}, &UnmeasuredError{d.name, g.Name, on}
	}
	f, err := d.fleet.on(g)
	if err != nil {
		return task.Fleet{}, &SpecError{d.ID(), err}
	}
	return f, nil
}

// hourly are the arrival rates by hour of the day, in jobs a minute over
// arrivalScale: INTERARRIVALS of the released code. The last one is never used, since
// the day ends with hour 23.
var hourly = [25]float64{
	.111, .083, .085, .1, .137, .169, .171, .169, .179, .191, .201, .188, .17, .177, .168,
	.171, .163, .138, .12, .111, .129, .116, .106, .104, .111,
}

const (
	arrivalScale = 20
	dayLength    = 24 * 60 // minutes
)

// Shares of the kinds of jobs.
const (
	inference = 0.8
	resNet    = 1. / 3
)

// inferenceMean is the mean duration of inference on size 1, in minutes.
const inferenceMean = 3

// Training on size 1 takes between 40 and 60 minutes with probability 0.9:
// exp(N(mean, deviation)).
var (
	trainingMean      = (math.Log(40) + math.Log(60)) / 2
	trainingDeviation = (math.Log(60) - math.Log(40)) / 3.29
)

// jobScaling is the duration of a kind of jobs by size, that on size 1 being 1.
type jobScaling [mig.MaxSize + 1]float64

var (
	bertInference   = jobScaling{1: 1, 2: 1. / 2, 3: 1. / 3, 4: 1. / 4, 7: 1. / 7}
	resNetInference = jobScaling{1: 1, 2: 1. / 2, 3: 1. / 3, 4: 3.2 / 12.5, 7: 3.2 / 18.4}
	bertTraining    = jobScaling{1: 1, 2: 2.2 / 4.1, 3: 2.2 / 5.8, 4: 2.2 / 7.1, 7: 2.2 / 10.5}
	resNetTraining  = jobScaling{1: 1, 2: 3.4 / 6, 3: 3.4 / 7.85, 4: 3.4 / 8.4, 7: 3.4 / 9.75}
)

// jobsADay is room for a day's jobs: 4148 come on average.
const jobsADay = 4608

// appendJobs draws the jobs of a day. Each job takes its draws in the same order
// whatever the slack.
func (d *day) appendJobs(rng *rand.Rand, out []task.Job) []task.Job {
	for t := 0.0; ; {
		hour := min(int(t/60), len(hourly)-1)
		t += rng.ExpFloat64() / (arrivalScale * hourly[hour])
		if t >= dayLength {
			return out
		}
		out = append(out, d.job(rng, t))
	}
}

func (d *day) job(rng *rand.Rand, arrival float64) task.Job {
	var g1 float64
	scaling := [2]*jobScaling{&bertTraining, &resNetTraining}
	if rng.Float64() < inference {
		scaling = [2]*jobScaling{&bertInference, &resNetInference}
		for g1 == 0 { // a draw of exactly 0, once in billions, is no duration
			g1 = rng.ExpFloat64() * inferenceMean
		}
	} else {
		// Conversions round products, which keeps them from being fused with sums.
		g1 = math.Exp(trainingMean + float64(trainingDeviation*rng.NormFloat64()))
	}
	by := scaling[0]
	if rng.Float64() < resNet {
		by = scaling[1]
	}
	var j task.Job
	for size := mig.Slices(1); size <= mig.MaxSize; size++ {
		if by[size] != 0 {
			j.Set(size, task.Minutes(g1*by[size]))
		}
	}
	u := d.low + float64((d.high-d.low)*rng.Float64())
	j.Arrival = task.Minutes(arrival)
	j.Deadline = task.Minutes(arrival + float64(u*float64(j.On(mig.MaxSize))))
	return j
}
