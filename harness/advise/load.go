package advise

import (
	"cmp"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
)

// A Demand sums up the requests for one profile.
type Demand struct {
	Profile *mig.Profile
	// Requests is the number of requests whose largest instance has the profile. Several of them need more than one
	// GPU. Instances also counts the other instances of requests.
	Requests, Several, Instances int
	// Mean is the mean lifespan. GPUHours is the sum over the requests of the lifespan in hours times the memory slices
	// in GPUs.
	Mean, GPUHours float64
}

// A Load is the demand over time, as if no request waited.
type Load struct {
	// The lists have a number for each of loadParts equal parts of the time. Hours is the middle of the part, in hours
	// since the first arrival. Memory and Compute are the means of the memory and compute slices in use, in GPUs.
	Hours, Memory, Compute []float64
	// Peak is the largest of Memory and Compute at any time.
	Peak float64
	// Early and Late are the means of Memory in the halves of the time, without the first and the last twentieth of the
	// time. Drifts says that their intervals do not overlap.
	Early, Late float64
	Drifts      bool
}

// loadParts is the number of parts into which a [Load] divides the time.
const loadParts = 200

// demands returns the demand for each requested profile.
func demands(g *mig.GPU, in task.Requests) []Demand {
	var out []Demand
	for _, p := range task.RequestProfiles(g) {
		d := Demand{Profile: p}
		var slots float64
		for i := range in.Requests {
			q := &in.Requests[i]
			instances := 0
			for k := range q.Instances() {
				if q.Member(k).Profile == p {
					instances++
				}
			}
			d.Instances += instances
			hours := float64(q.Lifespan) * in.Seconds() / 3600
			d.GPUHours += hours * float64(instances*int(p.Length)) / float64(g.MemorySlices)
			if q.Profile != p {
				continue
			}
			d.Requests++
			slots += float64(q.Lifespan)
			if q.Gang == nil && instances > 1 {
				d.Several++
			}
		}
		if d.Instances > 0 {
			d.Mean = slots / float64(max(d.Requests, 1)) * in.Seconds()
			out = append(out, d)
		}
	}
	return out
}

// load computes the demand over time.
func (a *adviser) load() (l Load) {
	g, first := a.q.GPU, a.in.Requests[0].Arrival
	width := float64(a.span.Slots) / loadParts
	l.Memory, l.Compute = make([]float64, loadParts), make([]float64, loadParts)
	type change struct {
		at              int
		memory, compute float64
	}
	var changes []change
	for i := range a.in.Requests {
		q := &a.in.Requests[i]
		memory := float64(q.Slices()) / float64(g.MemorySlices)
		compute := float64(q.ComputeSlices()) / float64(g.ComputeSlices)
		from, to := q.Arrival-first, q.Arrival-first+q.Lifespan
		changes = append(changes, change{from, memory, compute}, change{to, -memory, -compute})
		for part := int(float64(from) / width); part < loadParts && float64(part)*width < float64(to); part++ {
			overlap := min(float64(to), float64(part+1)*width) - max(float64(from), float64(part)*width)
			l.Memory[part] += memory * overlap / width
			l.Compute[part] += compute * overlap / width
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var memory, compute float64
	for i, c := range changes {
		memory, compute = memory+c.memory, compute+c.compute
		if i+1 == len(changes) || changes[i+1].at > c.at {
			l.Peak = max(l.Peak, memory, compute)
		}
	}
	for part := range loadParts {
		l.Hours = append(l.Hours, (float64(part)+0.5)*width*a.in.Seconds()/3600)
	}
	l.drift()
	return l
}

// drift compares the halves of the time. It leaves the fields 0 if an interval cannot be computed.
func (l *Load) drift() {
	const block = loadParts / 20
	half := loadParts / 2
	ones := slices.Repeat([]float64{1}, half-block)
	early, err := stats.BlockMean(l.Memory[block:half], ones, block, 1)
	if err != nil {
		return
	}
	late, err := stats.BlockMean(l.Memory[half:loadParts-block], ones, block, 1)
	if err != nil {
		return
	}
	l.Early, l.Late = early.Mean, late.Mean
	l.Drifts = early.High < late.Low || late.High < early.Low
}
