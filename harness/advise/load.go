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
	// Requests is the number of requests whose largest instance has the profile, and Several how many of them need
	// more than one GPU. Instances is the number of all instances of the profile.
	Requests, Several, Instances int
	// Mean is the mean lifespan of Requests in seconds. GPUHours is the sum, over Instances, of the lifespan in hours
	// times the share of a GPU's memory slices.
	Mean, GPUHours float64
}

// A Load is the demand over time, as if no request waited.
type Load struct {
	// The lists have a number for each of loadParts equal parts of the time from the first arrival to the last. Hours
	// is the middle of the part, in hours since the first arrival. Memory and Compute are the means over the part of
	// the slices in use, in GPUs.
	Hours, Memory, Compute []float64
	// Peak is the largest number of GPUs in use at any instant, by memory or by compute slices, whichever is more.
	Peak float64
	// Early and Late are the means of Memory over the first and second half of the time, without the first and the last
	// twentieth of it. Drifts says that their 95 % intervals do not overlap.
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

// A loadChange changes the GPUs in use in a slot, counted by memory and by compute slices.
type loadChange struct {
	slot            int
	memory, compute float64
}

// load computes the demand over time.
func (a *adviser) load() (l Load) {
	g, first := a.q.GPU, a.in.Requests[0].Arrival
	width := float64(a.span.Slots) / loadParts
	l.Memory, l.Compute = make([]float64, loadParts), make([]float64, loadParts)
	var changes []loadChange
	for i := range a.in.Requests {
		q := &a.in.Requests[i]
		memory := float64(q.Slices()) / float64(g.MemorySlices)
		compute := float64(q.ComputeSlices()) / float64(g.ComputeSlices)
		from, to := q.Arrival-first, q.Arrival-first+q.Lifespan
		changes = append(changes, loadChange{from, memory, compute}, loadChange{to, -memory, -compute})
		for part := int(float64(from) / width); part < loadParts && float64(part)*width < float64(to); part++ {
			overlap := min(float64(to), float64(part+1)*width) - max(float64(from), float64(part)*width)
			l.Memory[part] += memory * overlap / width
			l.Compute[part] += compute * overlap / width
		}
	}
	l.Peak = peak(changes)
	for part := range loadParts {
		l.Hours = append(l.Hours, (float64(part)+0.5)*width*a.in.Seconds()/3600)
	}
	l.drift()
	return l
}

// peak returns the largest number of GPUs in use after the changes of a slot. It sorts the changes.
func peak(changes []loadChange) (most float64) {
	slices.SortStableFunc(changes, func(a, b loadChange) int { return cmp.Compare(a.slot, b.slot) })
	var memory, compute float64
	for i, c := range changes {
		memory += c.memory
		compute += c.compute
		if i+1 == len(changes) || changes[i+1].slot > c.slot {
			most = max(most, memory, compute)
		}
	}
	return most
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
