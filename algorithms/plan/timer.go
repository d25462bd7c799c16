package plan

import (
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A Timer times plans, with a clock for each GPU of a problem.
type Timer struct {
	p      algo.Problem
	from   State
	clocks []clock
}

// NewTimer returns a timer for plans that start from a state of the GPUs, such as [Start]. If several operations of a
// GPU are possible, the one that became possible first goes first.
func NewTimer(p algo.Problem, from State) *Timer { return newTimer(p, from, firstAsked) }

func newTimer(p algo.Problem, from State, r channelRule) *Timer {
	t := &Timer{p: p, from: from, clocks: make([]clock, p.GPUs())}
	for g := range t.clocks {
		t.clocks[g] = clock{
			model: p.Model, rule: r, release: p.Release,
			sums:    r == longestTail && p.Release == nil,
			pending: make([]operation, 0, mig.MaxMemorySlices),
		}
		t.clocks[g].begin(&from[g])
	}
	return t
}

// Add appends a plan. Its operations and tasks begin at notBefore or later. It skips uses without tasks.
func (t *Timer) Add(plan []Use, notBefore float64) {
	for i := range plan {
		if len(plan[i].Tasks) > 0 {
			t.clocks[plan[i].GPU].add(plan[i], notBefore)
		}
	}
}

// Run times the added plans and returns when the last task ends, in seconds. More plans may be added later: they start
// from the instances that exist then.
func (t *Timer) Run() float64 {
	makespan := 0.0
	for g := range t.clocks {
		makespan = max(makespan, t.clocks[g].run())
	}
	return makespan
}

// Time removes the plans that were added, times another one and returns when its last task ends, in seconds.
func (t *Timer) Time(plan []Use) float64 {
	for g := range t.clocks {
		t.clocks[g].begin(&t.from[g])
	}
	t.Add(plan, 0)
	return t.Run()
}

// SliceEnds returns, by compute slice of all GPUs, when its last task ends, in seconds.
func (t *Timer) SliceEnds() []float64 {
	k := int(t.p.GPU.ComputeSlices)
	out := make([]float64, k*len(t.clocks))
	for g := range t.clocks {
		t.clocks[g].raiseEnds(out[g*k : (g+1)*k])
	}
	return out
}

// Slice returns the instance that has a memory slice, and the time in seconds at which the slice is free: when the
// tasks of the instance end. Without an instance it returns the zero Instance and the end of the last destruction.
func (t *Timer) Slice(gpu, m int) (in mig.Instance, free float64) { return t.clocks[gpu].slice(m) }

// Channel returns when the last operation of a GPU ends, in seconds. If operations do not exclude each other, it is the
// instant of [State.NotBefore], or 0.
func (t *Timer) Channel(gpu int) float64 { return t.clocks[gpu].channel }

// Schedule returns the schedule of the plans.
func (t *Timer) Schedule() schedule.Schedule {
	out := schedule.Schedule{GPU: t.p.GPU, Model: t.p.Model, Placements: make([]schedule.Placement, 0, len(t.p.Tasks))}
	for g := range t.clocks {
		t.clocks[g].write(g, &out)
	}
	return out
}

// State returns the state of the GPUs after the plans.
func (t *Timer) State() State {
	out := make(State, len(t.clocks))
	for g := range out {
		out[g] = t.clocks[g].remnant(g)
	}
	return out
}

// Schedule returns the schedule of a plan that starts from the problem's start instances.
func Schedule(p algo.Problem, plan []Use) schedule.Schedule {
	t := NewTimer(p, Start(p))
	t.Time(plan)
	return t.Schedule()
}

// A State is the state of the GPUs when a plan begins or ends.
type State []remnant

// A remnant is the state of one GPU.
type remnant struct {
	exist []schedule.Existing
	// free is, by memory slice without an instance, when it became free, in seconds.
	free [mig.MaxMemorySlices]float64
	// channel is when the last operation ended, in seconds. Operations that do not exclude each other leave it alone.
	channel float64
}

// Start returns the state of the GPUs of a problem at time 0.
func Start(p algo.Problem) State {
	out := make(State, p.GPUs())
	for _, e := range p.Start {
		out[e.GPU].exist = append(out[e.GPU].exist, e)
	}
	return out
}

// LeftToRight sorts the instances of each GPU by slice and returns s. Simultaneous destructions go in this order.
func (s State) LeftToRight() State {
	for g := range s {
		slices.SortFunc(s[g].exist, func(a, b schedule.Existing) int {
			return int(a.Instance.Start - b.Instance.Start)
		})
	}
	return s
}

// NotBefore returns a copy in which no slice is free, and no operation begins, before an instant in seconds.
func (s State) NotBefore(at float64) State {
	out := slices.Clone(s)
	for g := range out {
		r := &out[g]
		r.exist = slices.Clone(r.exist)
		for i := range r.exist {
			r.exist[i].BusyUntil = max(r.exist[i].BusyUntil, mig.Seconds(at))
		}
		for m := range r.free {
			r.free[m] = max(r.free[m], at)
		}
		r.channel = max(r.channel, at)
	}
	return out
}
