package datasets

import (
	"miglab/harness/mig"
	"miglab/harness/numpy"
	"miglab/harness/spec"
	"miglab/harness/task"
)

var _ = Register(Family{
	Name: "deadline/report",
	Doc: "the ten days on which the deadline report evaluates, number by number; random continues their " +
		"random stream",
	Source: "deadline report 4.2; its public notebook RL_GPU_Scheduling_ENHANCED.ipynb",
	Params: append([]spec.Param{
		choice("deadlines", "those of deadline/relaxed or of deadline/tight", "relaxed", "tight"),
		choice("numpy", "version of NumPy; 2 rounds the mean gap between arrivals to float32", "2", "1"),
		choice("clock", "to what the end of a job is rounded", "float32", "float64"),
	}, fleetParams...),
	New: func(id string, a spec.Args) (Dataset, error) {
		d := reportDays{
			fleet: newFleet(id, a), slack: relaxed, numpy1: a["numpy"] == "1", float32Clock: a["clock"] == "float32",
		}
		if a["deadlines"] == "tight" {
			d.slack = tight
		}
		return d, nil
	},
})

// reportDays are the days on which the deadline report compares its schedulers. Its notebook
// (github.com/aayush-agi/RL-GPU-Scheduling-MIG, commit aa34310; only facts are taken from it)
// seeds NumPy with 42 and draws a seed for each day. Each scheduler then sees the day of each
// seed, in float32, and Random continues the day's stream to draw its choices.
//
// The mean gap between arrivals is 1/(rate*20) with a float32 rate. NumPy 2 computes it in float32, NumPy 1 in float64,
// so that arrivals differ in their last bits. The report of December 2025 does not say which it used. With NumPy 2, all
// 24 numbers that its Table 7 prints for EFT, Largest-First, Smallest-First and Random come out. With NumPy 1, two of
// them do not: EFT's tardiness is 1.03 (print 1.04), and 50.0 % of Random's jobs are late (print 50.1).
type reportDays struct {
	fleet
	slack
	// numpy1 draws as NumPy 1 does instead of NumPy 2, and float32Clock rounds the end of a job to float32.
	numpy1, float32Clock bool
}

// The seeds of the days are reportCount draws below reportSeeds, after np.random.seed(reportSeed).
const (
	reportSeed  = 42
	reportSeeds = 100_000
	reportCount = 10
)

func (d reportDays) Instances() int { return reportCount }

func (d reportDays) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkA100("deadline/report", g); err != nil {
		return nil, err
	}
	f, err := d.fleet.resolve(g)
	if err != nil {
		return nil, err
	}
	f.Float32 = d.float32Clock
	seed := reportDaySeed(index)
	s := numpy.New(seed)
	jobs := d.jobs(s)
	return task.Queue{Jobs: jobs, Fleet: f, NumPy: &task.NumPyStream{Seed: seed, Used: s.Used()}}, nil
}

// reportDaySeed returns the seed of a day.
func reportDaySeed(index int) uint32 {
	s := numpy.New(reportSeed)
	for range index {
		s.RandInt(reportSeeds)
	}
	return uint32(s.RandInt(reportSeeds))
}

// jobs draws the jobs of a day.
func (d *reportDays) jobs(s *numpy.Stream) []task.Job {
	out := make([]task.Job, 0, jobsADay)
	for arrival := 0.0; ; {
		hour := min(int(arrival/60), len(hourly)-1)
		arrival += s.Exponential(d.gap(float32(hourly[hour])))
		if arrival >= dayLength {
			return out
		}
		out = append(out, d.job(s, arrival))
	}
}

// gap returns the mean time between arrivals, in minutes.
func (d *reportDays) gap(rate float32) float64 {
	if d.numpy1 {
		return 1 / (float64(rate) * arrivalScale)
	}
	return float64(1 / (rate * arrivalScale))
}

// job draws the job that arrives at a time, in minutes.
func (d *reportDays) job(s *numpy.Stream, arrival float64) task.Job {
	bert, resNet := &reportBERTTraining, &reportResNetTraining
	var g1 float64 // the duration on size 1, in minutes
	if s.Random() < InferenceShare {
		bert, resNet = &reportBERTInference, &reportResNetInference
		g1 = s.Exponential(inferenceMean)
	} else {
		g1 = s.LogNormal(trainingMean, trainingDeviation)
	}
	scaling := bert
	if s.RandInt(3) == 2 {
		scaling = resNet
	}
	u := s.Uniform(d.low, d.high)
	j := task.Job{
		Arrival:  inFloat32(arrival),
		Deadline: inFloat32(arrival + float64(u*scaling.duration(mig.MaxSize, g1))),
	}
	for size := range scaling {
		if scaling[size].over != 0 {
			j.Set(mig.Slices(size), inFloat32(scaling.duration(mig.Slices(size), g1)))
		}
	}
	return j
}

// inFloat32 rounds a time or a duration as the report's code stores it.
func inFloat32(minutes float64) task.Minutes { return task.Minutes(float32(minutes)) }

// A reportScaling holds two throughputs by size. The duration on a size is g1 / over * times, computed in this order,
// where g1 is the duration on size 1. [jobScaling] has the same numbers but rounds the quotient first.
type reportScaling [mig.MaxSize + 1]struct{ over, times float64 }

func (r *reportScaling) duration(size mig.Slices, g1 float64) float64 {
	return g1 / r[size].over * r[size].times
}

var (
	reportBERTInference   = reportScaling{1: {1, 1}, 2: {2, 1}, 3: {3, 1}, 4: {4, 1}, 7: {7, 1}}
	reportResNetInference = reportScaling{1: {1, 1}, 2: {2, 1}, 3: {3, 1}, 4: {12.5, 3.2}, 7: {18.4, 3.2}}
	reportBERTTraining    = reportScaling{1: {1, 1}, 2: {4.1, 2.2}, 3: {5.8, 2.2}, 4: {7.1, 2.2}, 7: {10.5, 2.2}}
	reportResNetTraining  = reportScaling{1: {1, 1}, 2: {6, 3.4}, 3: {7.85, 3.4}, 4: {8.4, 3.4}, 7: {9.75, 3.4}}
)
