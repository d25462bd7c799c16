package corun

import (
	"math"

	"miglab/harness/task"
)

// MaxSlots is the largest number of jobs that a setup can hold.
const MaxSlots = 8

// A Layout is a setup in the form that the simulation needs, with its slots in lists.
type Layout struct {
	Slots int // the number of jobs

	defaults bool // some slot has no percentage
	// domains is the number of memory domains, that is, of GPU instances. memory is the bandwidth of a domain, and end
	// is the number of the slot after its last slot.
	domains int
	memory  [MaxSlots]float64
	end     [MaxSlots]int
	slots   [MaxSlots]slot
}

// slot is the place of one job of a group.
type slot struct {
	instance int // numbers the compute instance
	// whole is the compute instance's share of the GPU. share is the job's share of the
	// instance; 0 without percentages. total is the sum of the instance's shares.
	whole, share, total float64
}

// Layout returns the setup's layout. It panics if there are more than [MaxSlots] jobs.
func (s Setup) Layout() Layout {
	var l Layout
	add := func(at slot) {
		l.slots[l.Slots] = at
		l.Slots++
		l.defaults = l.defaults || at.share == 0
	}
	instance := 0
	for g, gi := range s.GIs {
		for _, ci := range gi.CIs {
			at := slot{instance: instance, whole: ci.Compute, share: 1, total: 1}
			instance++
			switch {
			case len(ci.Shares) > 0:
				at.total = sum(ci.Shares)
				for _, at.share = range ci.Shares {
					add(at)
				}
			case ci.Default > 0:
				at.share = 0
				for range ci.Default {
					add(at)
				}
			default:
				add(at)
			}
		}
		l.memory[g], l.end[g] = gi.Memory, l.Slots
	}
	l.domains = len(s.GIs)
	return l
}

// Share returns a slot's share of the GPU's multiprocessors; without percentages, the share of its compute instance.
func (l *Layout) Share(slot int) float64 {
	s := &l.slots[slot]
	if s.share == 0 {
		return s.whole
	}
	return s.whole * s.share
}

// Ends simulates a group and returns the time at which its last job ends, in seconds from the group's start. It sets
// ends to the end of each job, in the order of the slots. There is a job for each slot.
//
// A job's pace depends on the other active jobs. Alone in its memory domain it would take
// A = [task.Program.Relative] of its share of the multiprocessors and of the domain's bandwidth,
// and use the bandwidth w_m / A. Max-min fairness divides the domain's bandwidth among its active
// jobs, and a job that gets less than it would use is slower in proportion: no domain ever moves
// more than its bandwidth. In addition, m active jobs slow each other by 1 + Kappa (m - 1).
func (m *Model) Ends(l *Layout, jobs *[MaxSlots]*task.Program, ends *[MaxSlots]float64) float64 {
	last := 0.0
	again := jobs // the jobs whose demands change when another job ends
	if m.Fixed(l) {
		again = nil
	}
	for d := range l.domains {
		var buffer [MaxSlots]runner
		active := l.runners(d, &buffer)
		m.demand(l, active, l.memory[d], jobs)
		last = max(last, m.drain(l, active, l.memory[d], again, ends))
	}
	return last
}

// runners returns the jobs of a domain with all of their work left. They are stored in the buffer.
func (l *Layout) runners(domain int, buffer *[MaxSlots]runner) []runner {
	from := 0
	if domain > 0 {
		from = l.end[domain-1]
	}
	active := buffer[:l.end[domain]-from]
	for i := range active {
		active[i] = runner{slot: from + i, left: 1}
	}
	return active
}

// A Demand is the time and the bandwidth that a job would take in its slot if no other job used the memory.
type Demand struct{ Seconds, Bandwidth float64 }

// DemandOf returns the demand of a job with these shares of the multiprocessors and of the bandwidth.
func DemandOf(job *task.Program, compute, memory float64) Demand {
	relative := job.Relative(compute, memory)
	return Demand{relative * float64(job.Solo), job.Memory / relative}
}

// Fixed reports whether the demand of a job does not depend on the other active jobs, so that
// [Model.EndsOf] may be used.
func (m *Model) Fixed(l *Layout) bool { return !m.Release && !l.defaults }

// EndsOf returns the same as [Model.Ends] for jobs with known demands, whose computation takes most of the time of
// Ends. The layout must be [Model.Fixed].
func (m *Model) EndsOf(l *Layout, demands *[MaxSlots]Demand, ends *[MaxSlots]float64) float64 {
	last := 0.0
	for d := range l.domains {
		var buffer [MaxSlots]runner
		active := l.runners(d, &buffer)
		for i := range active {
			r := &active[i]
			r.alone, r.use = demands[r.slot].Seconds, demands[r.slot].Bandwidth
		}
		last = max(last, m.drain(l, active, l.memory[d], nil, ends))
	}
	return last
}

// Slowdowns returns the time of each job over its solo time if all jobs of the layout were active
// all the time, in the order of the slots.
func (m *Model) Slowdowns(l *Layout, jobs *[MaxSlots]*task.Program) []float64 {
	out := make([]float64, l.Slots)
	for d := range l.domains {
		var buffer [MaxSlots]runner
		active := l.runners(d, &buffer)
		m.demand(l, active, l.memory[d], jobs)
		m.paces(active, l.memory[d])
		for i := range active {
			r := &active[i]
			out[r.slot] = r.pace / float64(jobs[r.slot].Solo)
		}
	}
	return out
}

// A runner is a job with work left.
type runner struct {
	slot int
	left float64 // the remaining share of the work, from 1 to 0
	// alone is the time of the whole work in seconds, and use is the bandwidth that the job would
	// use, if no other job used the memory. pace is the time of the whole work beside the others.
	alone, use, pace float64
}

// drain simulates the jobs of one GPU instance; other instances do not affect them. If jobs is not
// nil, drain computes the demands of the remaining jobs again when a job ends.
func (m *Model) drain(l *Layout, active []runner, memory float64, jobs *[MaxSlots]*task.Program,
	ends *[MaxSlots]float64,
) float64 {
	now := 0.0
	for len(active) > 1 {
		step := m.paces(active, memory)
		now += step
		// The order is kept, so that sums are always the same.
		running := 0
		for i := range active {
			r := &active[i]
			if !(r.left*r.pace > step) { // NaN ends, too
				ends[r.slot] = now
				continue
			}
			r.left -= step / r.pace
			if running < i {
				active[running] = *r
			}
			running++
		}
		active = active[:running]
		if jobs != nil {
			m.demand(l, active, memory, jobs)
		}
	}
	// The last job has the memory to itself.
	for i := range active {
		now += float64(active[i].left * active[i].alone)
		ends[active[i].slot] = now
	}
	return now
}

// demand sets the demands of the active jobs.
func (m *Model) demand(l *Layout, active []runner, memory float64, jobs *[MaxSlots]*task.Program) {
	for i := range active {
		r := &active[i]
		job := jobs[r.slot]
		compute, contention := m.compute(l, active, r.slot, jobs)
		relative := job.Contended(compute, memory, contention)
		r.use = job.Memory / relative
		r.alone = relative * float64(job.Solo)
	}
}

// paces sets the pace of each active job and returns the time, in seconds, until the first job ends.
func (m *Model) paces(active []runner, memory float64) float64 {
	interference := 1 + float64(m.Kappa*float64(len(active)-1))
	used := 0.0
	for i := range active {
		used += active[i].use
	}
	level := math.Inf(1)
	if used > memory {
		level = waterLevel(len(active), func(i int) float64 { return active[i].use }, memory)
	}
	step := math.Inf(1)
	for i := range active {
		r := &active[i]
		r.pace = r.alone * interference
		if r.use > level {
			r.pace *= r.use / level
		}
		step = min(step, r.left*r.pace)
	}
	return step
}

// compute returns a job's share of the GPU's multiprocessors, and the factor by which MPS multiplies its compute
// work. The share is the job's percentage of the compute instance. Without percentages it is the job's share under
// max-min fairness among the clients, each of which can use its parallelism.
func (m *Model) compute(l *Layout, active []runner, at int, jobs *[MaxSlots]*task.Program) (share, contention float64) {
	s := &l.slots[at]
	if s.share > 0 && !m.Release {
		return s.whole * s.share, 1
	}
	var wants [MaxSlots]float64 // the parallelism of the clients
	shares, wanted, clients := 0.0, 0.0, 0
	for i := range active {
		o := &l.slots[active[i].slot]
		if o.instance == s.instance {
			wants[clients] = jobs[active[i].slot].Parallelism
			wanted += wants[clients]
			shares += o.share
			clients++
		}
	}
	if s.share > 0 {
		return s.whole * s.share * s.total / shares, 1
	}
	share = jobs[at].Parallelism
	if wanted > s.whole {
		share = min(share, waterLevel(clients, func(i int) float64 { return wants[i] }, s.whole))
	}
	return share, 1 + float64(m.Delta*float64(clients-1))
}

// waterLevel returns the level at which n demands add up to have if each is at most the level. Without the level, the
// demands must add up to more than have.
func waterLevel(n int, demand func(int) float64, have float64) float64 {
	// Demands below the fair share of the rest are met in full, which raises the fair share.
	level := have / float64(n)
	for {
		rest, over := have, 0
		for i := range n {
			d := demand(i)
			if d > level {
				over++
			} else {
				rest -= d
			}
		}
		next := rest / float64(over)
		if !(next > level) {
			return level
		}
		level = next
	}
}
