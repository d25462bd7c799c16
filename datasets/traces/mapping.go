// Package traces reads the jobs of production traces ([Read]) and converts them to requests for MIG profiles
// ([Requests]) and to jobs with deadlines ([Jobs]).
//
// Most traces were recorded on GPUs without MIG, so that the profile of a job is an assumption; a [Mapping] makes it
// explicit. Durations on other sizes are an assumption too, a [Law]. Read lists a row that is not a possible job as
// [Rejected], with a reason. It refuses a file without the columns of its format.
package traces

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/task"
)

// A Mapping is the rule that chooses the profile for a job that asks for a share of a GPU.
type Mapping string

const (
	// Compute takes the smallest profile that has at least the job's share of the compute
	// slices. Of profiles with equally many, it takes the one with the least memory.
	Compute Mapping = "compute"
	// Memory takes the smallest profile that has at least the job's share of the memory slices.
	// Of profiles with equally many, it takes the one with the fewest compute slices.
	Memory Mapping = "memory"
)

// MappingNames returns the names of all mappings, the default first.
func MappingNames() []string { return []string{string(Compute), string(Memory)} }

// WholeGPU is the share of a job that needs a whole GPU, in thousandths.
const WholeGPU = 1000

// Profile returns the profile for a share of a GPU in thousandths, from 1 to [WholeGPU].
func (m Mapping) Profile(g *mig.GPU, milli int) *mig.Profile {
	whole := g.ComputeSlices
	if m == Memory {
		whole = g.MemorySlices
	}
	var best *mig.Profile
	for _, p := range task.RequestProfiles(g) {
		mapped, _ := m.slices(p)
		if int(mapped)*WholeGPU >= milli*int(whole) && (best == nil || m.compare(p, best) < 0) {
			best = p
		}
	}
	return best
}

// slices returns the number of slices of the mapped kind of a profile, and the number of the other kind.
func (m Mapping) slices(p *mig.Profile) (mapped, other mig.Slices) {
	if m == Memory {
		return p.Length, p.Size
	}
	return p.Size, p.Length
}

// compare orders profiles by the mapped kind of slices, and then by the other kind.
func (m Mapping) compare(a, b *mig.Profile) int {
	mappedA, otherA := m.slices(a)
	mappedB, otherB := m.slices(b)
	return cmp.Or(cmp.Compare(mappedA, mappedB), cmp.Compare(otherA, otherB))
}

// Request returns the request of a job that needs a share of one GPU, in thousandths, or several whole GPUs. The
// lifespan of the request is at least one slot.
func (m Mapping) Request(g *mig.GPU, arrival, lifespan, gpus, milli int) task.Request {
	q := task.Request{Arrival: arrival, Lifespan: max(lifespan, 1)}
	if gpus > 1 || milli == WholeGPU {
		q.GPUs, milli = gpus, WholeGPU
	}
	q.Profile = m.Profile(g, milli)
	return q
}

// Requests converts jobs, in the order of their submission, to requests. The first request arrives in
// slot 0. slot is the length of a slot in seconds. Submissions are rounded down, and lifetimes up. A job for several
// instances becomes a request with a gang that may be on any GPUs.
func Requests(g *mig.GPU, m Mapping, slot float64, jobs []Job) ([]task.Request, []Rejected) {
	const maxSlot = 1<<32 - 1
	return convert(jobs, func(j Job) (q task.Request, err error) {
		arrival, lifespan := (j.Submit-jobs[0].Submit)/slot, math.Ceil(j.Lifetime/slot)
		if arrival > maxSlot || lifespan > maxSlot {
			return q, fmt.Errorf("takes or comes after more than %d slots; write a longer --slot", maxSlot)
		}
		q = m.Request(g, int(arrival), int(lifespan), j.GPUs, j.Milli)
		if j.Profile != "" {
			err = setInstances(g, &q, j)
		}
		return q, err
	})
}

// setInstances gives a request the instances that a job names: on any GPUs, as the files do not say more. If models of
// the same family have them, and not this one, the error names them.
func setInstances(g *mig.GPU, q *task.Request, j Job) error {
	members, err := task.ParseMembers(g, j.Profile)
	if err != nil {
		var related []string
		for _, o := range mig.GPUs() {
			if _, missing := task.ParseMembers(o, j.Profile); missing == nil && family(o) == family(g) {
				related = append(related, o.Name)
			}
		}
		if related != nil {
			err = fmt.Errorf("asks for %s, which %s does not have: say --gpu %s", j.Profile, g,
				strings.Join(related, " or "))
		}
		return err
	}
	q.GPUs = 0
	q.SetGang(slices.Repeat(members, max(j.GPUs, 1)), false)
	return q.CheckGPUs(g)
}

// Jobs converts jobs of a trace, in the order of their submission, to jobs with deadlines. The first job arrives at 0.
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
	Slack float64 // the time from arrival to deadline, as a multiple of the lifetime
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
			rejected = append(rejected, reject(j.Line, err))
			continue
		}
		out = append(out, made)
	}
	return out, rejected
}
