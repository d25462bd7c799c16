package algorithms

import (
	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// A timer has a clock for each GPU of a problem.
type timer struct {
	p      algo.Problem
	clocks []clock
}

// newTimer returns a timer for plans whose operations go in the order of a rule.
func newTimer(p algo.Problem, r channelRule) *timer {
	t := &timer{p: p, clocks: make([]clock, p.GPUs())}
	for g := range t.clocks {
		t.clocks[g] = clock{
			model: p.Model, rule: r, release: p.Release,
			sums:    r == longestTail && p.Release == nil,
			pending: make([]operation, 0, memorySlices),
		}
	}
	return t
}

func (t *timer) begin(holds []remnant) {
	for g := range t.clocks {
		t.clocks[g].begin(&holds[g])
	}
}

// add appends a plan. Its operations and tasks begin at notBefore or later. It skips uses without tasks.
func (t *timer) add(plan []use, notBefore float64) {
	for i := range plan {
		if len(plan[i].tasks) > 0 {
			t.clocks[plan[i].gpu].add(plan[i], notBefore)
		}
	}
}

// run times the added plans and returns when the last task ends, in seconds.
func (t *timer) run() float64 {
	makespan := 0.0
	for g := range t.clocks {
		makespan = max(makespan, t.clocks[g].run())
	}
	return makespan
}

// time times a plan that starts from the given remnants, and returns when its last task ends, in seconds.
func (t *timer) time(holds []remnant, plan []use) float64 {
	t.begin(holds)
	t.add(plan, 0)
	return t.run()
}

// sliceEnds returns, by compute slice of all GPUs, when its last task ends, in seconds.
func (t *timer) sliceEnds() []float64 {
	k := int(t.p.GPU.ComputeSlices)
	out := make([]float64, k*len(t.clocks))
	for g := range t.clocks {
		t.clocks[g].raiseEnds(out[g*k : (g+1)*k])
	}
	return out
}

// schedule returns the schedule of all plans since begin.
func (t *timer) schedule() schedule.Schedule {
	out := schedule.Schedule{GPU: t.p.GPU, Model: t.p.Model, Placements: make([]schedule.Placement, 0, len(t.p.Tasks))}
	for g := range t.clocks {
		t.clocks[g].write(g, &out)
	}
	return out
}

// remnants returns the state of each GPU in the end.
func (t *timer) remnants() []remnant {
	out := make([]remnant, len(t.clocks))
	for g := range out {
		out[g] = t.clocks[g].remnant(g)
	}
	return out
}

// timedSchedule returns the schedule of a plan that starts from the problem's start instances.
func timedSchedule(p algo.Problem, plan []use) schedule.Schedule {
	t := newTimer(p, firstAsked)
	t.time(remnants(p), plan)
	return t.schedule()
}

// A remnant is the state of a GPU when a plan begins or ends.
type remnant struct {
	exist []schedule.Existing
	// free is, by memory slice without an instance, when it became free, in seconds.
	free [memorySlices]float64
	// channel is when the last operation ended, in seconds. It stays 0 where operations do not exclude each other.
	channel float64
}

// freeAt returns, by memory slice, when its instance is done or, without an instance, when it became free.
func (r *remnant) freeAt() [memorySlices]float64 {
	at := r.free
	for _, e := range r.exist {
		for m := e.Instance.Mask(); m != 0; m &= m - 1 {
			at[lowestBit(m)] = float64(e.BusyUntil)
		}
	}
	return at
}

// remnants returns the state of each GPU of a problem at time 0.
func remnants(p algo.Problem) []remnant {
	out := make([]remnant, p.GPUs())
	for _, e := range p.Start {
		out[e.GPU].exist = append(out[e.GPU].exist, e)
	}
	return out
}
