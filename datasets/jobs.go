package datasets

import (
	"math/rand/v2"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// A slack is a range of deadlines: the deadline of a job is its arrival plus U(low, high) times its duration on the
// whole GPU.
type slack struct{ low, high float64 }

var (
	relaxed = slack{2, 4}
	tight   = slack{1, 1.5}
)

// A deadlineKind is a family of generated jobs.
type deadlineKind struct {
	name      string
	slack     slack
	deadlines string // the slack in words
}

var deadlineKinds = []deadlineKind{
	{"deadline/relaxed", relaxed, "U(2,4)"},
	{"deadline/tight", tight, "U(1,1.5)"},
}

var _ = registerAll(deadlineKinds, func(k deadlineKind) Family {
	params := append(fleetParams[:len(fleetParams):len(fleetParams)], seedParam("seed", "of the random stream"),
		number("rate", 1, 0.01, 100, "arrival rates, relative to the report's"))
	return Family{
		Name: k.name, Source: "deadline report 2.3, 2.4, 3.3", Params: params, New: k.dataset,
		Doc: "a day of inference and training jobs, deadlines at " + k.deadlines +
			" times the duration on the whole GPU",
	}
})

// day draws 24 hours of jobs with deadlines (deadline report 2.4 and 3.3, and the released create_queue). Instance i is
// day i of an endless sequence. Datasets that differ only in the slack or in the fleet have the same jobs but for their
// deadlines, so that their results can be compared in pairs.
type day struct {
	name string
	slack
	fleet
	seed uint64
	rate float64 // multiplies the report's arrival rates
}

func (k deadlineKind) dataset(id string, a spec.Args) (Dataset, error) {
	return day{name: k.name, slack: k.slack, fleet: newFleet(id, a), seed: a.Uint("seed"), rate: a.Float("rate")}, nil
}

func (d day) Instances() int { return 0 }

func (d day) Instance(g *mig.GPU, index int) (task.Payload, error) {
	f, err := d.fleetOn(g)
	if err != nil {
		return nil, err
	}
	rng := rand.New(pcg("workload=deadline", d.seed, g, index))
	return task.Queue{Jobs: d.appendJobs(rng, make([]task.Job, 0, jobsADay)), Fleet: f}, nil
}

// fleetOn returns the fleet of GPUs of a model. It returns an error if the jobs have no durations for the model.
func (d *day) fleetOn(g *mig.GPU) (task.Fleet, error) {
	if err := checkA100(d.name, g); err != nil {
		return task.Fleet{}, err
	}
	return d.fleet.resolve(g)
}

// hourly has the arrival rates by hour of the day, in jobs a minute divided by arrivalScale. It is INTERARRIVALS of
// the released code. The last rate is never used, because the day ends with hour 23.
var hourly = [25]float64{
	.111, .083, .085, .1, .137, .169, .171, .169, .179, .191, .201, .188, .17, .177, .168,
	.171, .163, .138, .12, .111, .129, .116, .106, .104, .111,
}

const (
	arrivalScale = 20
	dayLength    = 24 * 60 // minutes
)

// InferenceShare is the share of inference jobs; the others train.
const InferenceShare = 0.8

// resNetShare is the share of ResNet among inference and among training jobs; the others are BERT.
const resNetShare = 1. / 3

// inferenceMean is the mean duration of inference on size 1, in minutes.
const inferenceMean = 3

// Training on size 1 takes exp(N(mean, deviation)) minutes. With probability 0.9 this is between 40 and 60 minutes, an
// interval of 3.29 standard deviations.
var (
	trainingMean      = (portable.Log(40) + portable.Log(60)) / 2
	trainingDeviation = (portable.Log(60) - portable.Log(40)) / 3.29
)

// A jobScaling has the duration of a kind of jobs by size, relative to the duration on size 1; 0 for sizes without
// jobs.
type jobScaling [mig.MaxSize + 1]float64

var (
	bertInference   = jobScaling{1: 1, 2: 1. / 2, 3: 1. / 3, 4: 1. / 4, 7: 1. / 7}
	resNetInference = jobScaling{1: 1, 2: 1. / 2, 3: 1. / 3, 4: 3.2 / 12.5, 7: 3.2 / 18.4}
	bertTraining    = jobScaling{1: 1, 2: 2.2 / 4.1, 3: 2.2 / 5.8, 4: 2.2 / 7.1, 7: 2.2 / 10.5}
	resNetTraining  = jobScaling{1: 1, 2: 3.4 / 6, 3: 3.4 / 7.85, 4: 3.4 / 8.4, 7: 3.4 / 9.75}
)

// jobsADay is enough room for a day's jobs, which are 4148 on average at the report's rates.
const jobsADay = 4608

// appendJobs draws the jobs of a day. The slack does not change the order of a job's draws.
func (d *day) appendJobs(rng *rand.Rand, out []task.Job) []task.Job {
	for t := 0.0; ; {
		hour := min(int(t/60), len(hourly)-1)
		t += portable.Exponential(rng) / (arrivalScale * hourly[hour] * d.rate)
		if t >= dayLength {
			return out
		}
		out = append(out, d.job(rng, t))
	}
}

// job draws the job that arrives at a time, in minutes.
func (d *day) job(rng *rand.Rand, arrival float64) task.Job {
	var g1 float64 // the duration on size 1, in minutes
	bert, resNet := &bertTraining, &resNetTraining
	if rng.Float64() < InferenceShare {
		bert, resNet = &bertInference, &resNetInference
		for g1 == 0 { // exactly 0, once in billions of draws, is not a valid duration
			g1 = portable.Exponential(rng) * inferenceMean
		}
	} else {
		// Conversions round products, which keeps them from being fused with sums.
		g1 = portable.Exp(trainingMean + float64(trainingDeviation*portable.Normal(rng)))
	}
	scaling := bert
	if rng.Float64() < resNetShare {
		scaling = resNet
	}
	var j task.Job
	for size := mig.Slices(1); size <= mig.MaxSize; size++ {
		if scaling[size] != 0 {
			j.Set(size, task.Minutes(g1*scaling[size]))
		}
	}
	u := d.low + float64((d.high-d.low)*rng.Float64())
	j.Arrival = task.Minutes(arrival)
	j.Deadline = task.Minutes(arrival + float64(u*float64(j.On(mig.MaxSize))))
	return j
}
