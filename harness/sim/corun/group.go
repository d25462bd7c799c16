package corun

import (
	"math"

	"miglab/harness/task"
)

// Share is a slot's share of the GPU's multiprocessors; without percentages, that of its
// compute instance.
func (l *Layout) Share(slot int) float64 {
	s := &l.slots[slot]
	if s.share == 0 {
		return s.whole
	}
	return s.whole * s.share
}

// MaxSlots is the largest number of jobs that a setup can hold.
const MaxSlots = 8

// A Layout is a setup made ready for simulation: where its slots are.
type Layout struct {
	// Slots is the number of jobs.
	Slots int

	// defaults says that some slot has no percentage.
	defaults bool
	domains  int
	// memory is the bandwidth of a domain, that is, of a GPU instance, and end the number of
	// the slot after its last one.
	memory [MaxSlots]float64
	end    [MaxSlots]int
	slots  [MaxSlots]slot
}

// slot is where one job of a group runs.
type slot struct {
	// instance numbers the compute instance.
	instance int
	// whole is the compute instance's share of the GPU, share the job's of the instance; 0
	// where there are no percentages. total is the sum of the instance's shares.
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

// Ends simulates a group and sets when each of its jobs ends, in the order of the slots
// and in seconds from the group's start; it returns when the last one does. There is a
// job for each slot.
//
// A job's pace at an instant depends on who else is active. Alone in its memory domain it
// would take A = [task.Program.Relative] of its share of the multiprocessors and of the
// domain's bandwidth, and use the bandwidth w_m / A. The domain's bandwidth is divided
// among what its active jobs would use by max-min fairness, and a job that gets less is as
// much slower: no domain ever moves more than its bandwidth. In addition, m active jobs slow
// each other by 1 + Kappa (m - 1).
func (m *Model) Ends(l *Layout, jobs *[MaxSlots]*task.Program, ends *[MaxSlots]float64) float64 {
	last := 0.0
	again := jobs
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

// runners returns the jobs of a domain with all of their work left, in the buffer.
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

// A Demand is what a job would do in its slot if no other job used the memory: it would take so
// many seconds and use so much bandwidth.
type Demand struct{ Seconds, Bandwidth float64 }

// DemandOf is the demand of a job that has these shares of the multiprocessors and of the
// bandwidth.
func DemandOf(job *task.Program, compute, memory float64) Demand {
	relative := job.Relative(compute, memory)
	return Demand{relative * float64(job.Solo), job.Memory / relative}
}

// Fixed reports whether the demand of a job does not depend on who else is active, so that
// [Model.EndsOf] may be used.
func (m *Model) Fixed(l *Layout) bool {
	return !m.Release && !l.defaults
}

// EndsOf is [Model.Ends] for jobs whose demands are known, which takes most of the time. The
// layout must be [Model.Fixed].
func (m *Model) EndsOf(l *Layout, demands *[MaxSlots]Demand, ends *[MaxSlots]float64) float64 {
	last, from := 0.0, 0
	for d := range l.domains {
		var buffer [MaxSlots]runner
		active := buffer[:l.end[d]-from]
		for i := range active {
			o := &demands[from+i]
			active[i] = runner{slot: from + i, left: 1, alone: o.Seconds, use: o.Bandwidth}
		}
		last = max(last, m.drain(l, active, l.memory[d], nil, ends))
		from = l.end[d]
	}
	return last
}

// Slowdowns returns how many times its solo time each job would take if all jobs of the
// layout were active all the time, in the order of the slots.
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
	// left is the part of the work that is left, from 1.
	left float64
	// alone is how many seconds all of the work would take, and use the bandwidth that the
	// job would use, if no other job used the memory; pace is how many seconds it takes.
	alone, use, pace float64
}

// drain simulates the jobs of one GPU instance; what others do does not concern them. If jobs
// is not nil, the demands of those that are left change when one ends.
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
	// The last one has the memory to itself.
	for i := range active {
		now += float64(active[i].left * active[i].alone)
		ends[active[i].slot] = now
	}
	return now
}

// demand sets what the active jobs would do if no other one used the memory.
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

// paces sets how long the active jobs take for all of their work as things are, and returns
// how long it is until the first one has none left.
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

// compute returns a job's share of the GPU's multiprocessors, and how many times its
// compute work is what it is alone. The share is the job's percentage of the compute
// instance; or, without percentages, what max-min fairness gives it of what the clients
// can use.
func (m *Model) compute(l *Layout, active []runner, at int, jobs *[MaxSlots]*task.Program) (share, contention float64) {
	s := &l.slots[at]
	if s.share > 0 && !m.Release {
		return s.whole * s.share, 1
	}
	var can [MaxSlots]float64
	shares, all, clients := 0.0, 0.0, 0
	for i := range active {
		if o := &l.slots[active[i].slot]; o.instance == s.instance {
			can[clients] = jobs[active[i].slot].Parallelism
			all += can[clients]
			shares += o.share
			clients++
		}
	}
	if s.share > 0 {
		return s.whole * s.share * s.total / shares, 1
	}
	share = jobs[at].Parallelism
	if all > s.whole {
		share = min(share, waterLevel(clients, func(i int) float64 { return can[i] }, s.whole))
	}
	return share, 1 + float64(m.Delta*float64(clients-1))
}

// waterLevel is the level at which n demands, each cut off there, add up to what there is.
// Together they are more.
func waterLevel(n int, demand func(int) float64, have float64) float64 {
	// Those below the fair share of the rest are served in full, which raises it.
	level := have / float64(n)
	for {
		rest, over := have, 0
		for i := range n {
			if d := demand(i); d > level {
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
