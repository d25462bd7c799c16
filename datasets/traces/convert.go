package traces

import (
	"fmt"
	"math"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/portable"
	"miglab/harness/task"
)

// Requests converts jobs, in the order of their submission, to requests. The first request arrives in
// slot 0. slot is the length of a slot in seconds. Submissions are rounded down, and lifetimes up.
func Requests(g *mig.GPU, m Mapping, slot float64, jobs []Job) ([]task.Request, []Rejected) {
	const maxSlot = 1<<32 - 1
	return convert(jobs, func(j Job) (q task.Request, err error) {
		arrival, lifespan := (j.Submit-jobs[0].Submit)/slot, math.Ceil(j.Lifetime/slot)
		if arrival > maxSlot || lifespan > maxSlot {
			return q, fmt.Errorf("takes or comes after more than %d slots; write a longer --slot", maxSlot)
		}
		q = m.Request(g, int(arrival), int(lifespan), j.GPUs, j.Milli)
		switch {
		case j.Profile == "":
		case j.GPUs > 1:
			err = fmt.Errorf("needs %d of the profile %s; a request is for one instance", j.GPUs, j.Profile)
		default:
			profiles := task.RequestProfiles(g)
			q.Profile, err = nearest.Find("profile of "+g.Name, j.Profile, profiles, (*mig.Profile).String)
		}
		return q, err
	})
}

// Jobs converts jobs of a trace, in the order of their submission, to jobs with deadlines. The first
// job arrives at 0.
func Jobs(g *mig.GPU, m Mapping, l Law, jobs []Job) ([]task.Job, []Rejected) {
	return convert(jobs, func(j Job) (made task.Job, err error) {
		switch {
		case j.GPUs > 1:
			return made, fmt.Errorf("needs %d GPUs; a job with a deadline runs on one instance", j.GPUs)
		case j.Profile != "":
			return made, fmt.Errorf("has the profile %s; jobs need the share gpu_milli", j.Profile)
		}
		made = l.Job(g, m, j.Submit-jobs[0].Submit, j.Lifetime, j.Milli)
		return made, made.Validate(g.Sizes())
	})
}

// A Law is the assumption that gives durations on all sizes to a job that was measured on one share of a GPU.
type Law struct {
	// Alpha is the exponent: on s slices instead of m, a job takes (m/s)^Alpha times as long.
	// With 1, twice the slices halve the duration, and with 0 the duration is the same on all.
	Alpha float64
	// Slack is the time from arrival to deadline, as a multiple of the lifetime.
	Slack float64
}

// Seconds returns the duration of a job on instances of a size. lifetime is its duration on the size measured.
func (l Law) Seconds(lifetime float64, measured, size mig.Slices) float64 {
	return lifetime * portable.Pow(float64(measured)/float64(size), l.Alpha)
}

// Job converts a job of a trace to a job with a deadline. arrival counts in seconds from the beginning of the day.
func (l Law) Job(g *mig.GPU, m Mapping, arrival, lifetime float64, milli int) task.Job {
	const minute = 60
	j := task.Job{
		Arrival:  task.Minutes(arrival / minute),
		Deadline: task.Minutes((arrival + float64(l.Slack*lifetime)) / minute),
	}
	measured := m.Profile(g, milli).Size
	for _, size := range g.Sizes() {
		j.Set(size, task.Minutes(l.Seconds(lifetime, measured, size)/minute))
	}
	return j
}

// convert converts each job, or rejects it if convertJob returns an error.
func convert[T any](jobs []Job, convertJob func(Job) (T, error)) (out []T, rejected []Rejected) {
	out = make([]T, 0, len(jobs))
	for _, j := range jobs {
		made, err := convertJob(j)
		if err != nil {
			rejected = append(rejected, Rejected{j.Line, err.Error()})
			continue
		}
		out = append(out, made)
	}
	return out, rejected
}
