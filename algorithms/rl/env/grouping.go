package env

import (
	"cmp"
	"slices"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// WindowSize is W, how many jobs the hierarchical paper's agent looks at together (V-A2).
const WindowSize = 12

// A Grouping is a window of jobs that is being divided into groups, as the hierarchical
// paper's agent does it. Each decision is one of the 29 setups of [corun.Agent], in the
// order of concurrency and then of [corun.Setups]; which of the jobs left go there is
// found out by [Grouping.Group]. It knows the jobs by their profiles alone, and simulates
// nothing. A job that is left over at the end runs alone.
//
// The paper prints neither the list of actions nor how jobs are selected: both are ours.
type Grouping struct {
	concurrency int
	jobs        [WindowSize]profiled
	// left are those without a group, longest first.
	left []int8
	buf  [WindowSize]int8
	// group is what take returns.
	group [corun.MaxConcurrency]int
}

// A Profile is what the counters of the paper's Table III say of a job that has the GPU to
// itself, as far as the performance model knows them: it is derived from the model, not
// measured.
type Profile struct {
	// Compute is Compute (SM) [%], from 0 to 1: the mean use of the multiprocessors.
	Compute float64
	// Memory is Memory [%], and DRAM Throughput, from 0 to 1: the mean use of the bandwidth.
	Memory float64
	// Active is SM Active Cycles over Elapsed Cycles, from 0 to 1, the mean over the
	// multiprocessors: a serial part leaves nearly all of them idle.
	Active float64
	// Waves stands for Grid Size and Waves Per SM: the share of the multiprocessors that the
	// job's blocks can fill.
	Waves float64
}

// ProfileOf derives a program's profile.
func ProfileOf(p *task.Program) Profile {
	return Profile{p.Compute, p.Memory, float64((1 - p.Serial) * p.Parallelism), p.Parallelism}
}

type profiled struct {
	Profile
	// index is that in the window.
	index int
	// time is Duration, over the mean of the window.
	time float64
}

// profileSize is how many numbers the agent sees of a job.
const profileSize = 5

// action is a setup with what its slots offer.
type action struct {
	setup  corun.Setup
	layout corun.Layout
	slots  []offer
}

// offer is what a slot has: the paper's two hardware parameters (V-A3).
type offer struct {
	slot            int
	compute, memory float64
}

// actions are those of the agent, the slots by ascending share of the multiprocessors.
var actions = func() (out []action) {
	for n := 2; n <= corun.MaxConcurrency; n++ {
		for _, s := range corun.Setups(corun.Agent, n) {
			a := action{setup: s, layout: s.Layout(), slots: offers(&s)}
			slices.SortStableFunc(a.slots, func(x, y offer) int { return cmp.Compare(x.compute, y.compute) })
			out = append(out, a)
		}
	}
	return out
}()

// alone is the setup for a job without a group.
var alone = corun.Setups(corun.Agent, 1)[0]

func offers(s *corun.Setup) (out []offer) {
	for _, gi := range s.GIs {
		for _, ci := range gi.CIs {
			shares := ci.Shares
			if len(shares) == 0 {
				shares = []float64{1}
			}
			for _, share := range shares {
				out = append(out, offer{len(out), ci.Compute * share, gi.Memory})
			}
		}
	}
	return out
}

// GroupingShape is that of what the agent sees and does.
func GroupingShape() Shape { return Shape{WindowSize * profileSize, len(actions)} }

// Load begins with a window of at most [WindowSize] jobs and groups of at most so many.
func (g *Grouping) Load(jobs []task.Program, concurrency int) {
	g.concurrency = concurrency
	mean := 0.0
	for i := range jobs {
		mean += float64(jobs[i].Solo) / float64(len(jobs))
	}
	for i := range jobs {
		g.jobs[i] = profiled{ProfileOf(&jobs[i]), i, float64(jobs[i].Solo) / mean}
	}
	slices.SortStableFunc(g.jobs[:len(jobs)], func(a, b profiled) int { return cmp.Compare(b.time, a.time) })
	g.left = g.buf[:len(jobs)]
	for i := range g.left {
		g.left[i] = int8(i)
	}
}

// Done reports whether the jobs left, if any, run alone.
func (g *Grouping) Done() bool { return min(len(g.left), g.concurrency) < 2 }

// Observe writes the profiles of the jobs left, longest first and zeros behind them, and
// which setups have as many slots as there may be jobs.
func (g *Grouping) Observe(observation []float32, mask []bool) {
	clear(observation)
	for i, j := range g.left {
		p := &g.jobs[j]
		for k, v := range [profileSize]float64{p.time, p.Compute, p.Memory, p.Active, p.Waves} {
			observation[i*profileSize+k] = float32(v)
		}
	}
	for a := range actions {
		mask[a] = actions[a].layout.Slots <= min(len(g.left), g.concurrency)
	}
}

// fit is how well a job of the window would use a slot, from 0 to 1: how much of the
// multiprocessors it has a use for, times the pace at which the slot lets it run, times
// how close in duration it is to the group so far.
//
// This is our reading of the paper's intermediate reward, whose formula is lost in our
// copy. It has the arguments that the paper names, the shares of multiprocessors and
// bandwidth of the slot and the job's Compute (SM) [%], Memory [%] and time, and does what
// it says: it "returns a higher reward when assigning a resource where it is needed"
// (V-A3).
func (p *profiled) fit(o *offer, longest float64) float64 {
	slowdown := p.slowdown(o)
	f := min(1, p.Compute/o.compute) / slowdown
	if time := float64(p.time * slowdown); longest > 0 {
		f *= min(time, longest) / max(time, longest)
	}
	return f
}

// slowdown is what the profile says of the job's time in a slot, over its solo time.
func (p *profiled) slowdown(o *offer) float64 {
	return max(1, p.Compute/o.compute, p.Memory/o.memory)
}

// Group makes a group of jobs that are left. Its slots are filled one by one, the smallest
// share of the multiprocessors first, each with the job that fits it best, the longest of
// equals. Jobs are indices in the window.
func (g *Grouping) Group(choice int) corun.Group {
	jobs, _ := g.take(choice)
	return corun.Group{Jobs: slices.Clone(jobs), Setup: actions[choice].setup}
}

// Rest makes groups of one of the jobs left.
func (g *Grouping) Rest() (out []corun.Group) {
	for _, j := range g.left {
		out = append(out, corun.Group{Jobs: []int{g.jobs[j].index}, Setup: alone})
	}
	g.left = nil
	return out
}

// take is Group, in a slice that is valid until the next call; fits is the sum of the
// jobs' intermediate rewards, weighted by their time.
func (g *Grouping) take(choice int) (jobs []int, fits float64) {
	a := &actions[choice]
	jobs = g.group[:a.layout.Slots]
	longest := 0.0
	for i := range a.slots {
		o := &a.slots[i]
		at, best := 0, -1.0
		for k, j := range g.left {
			if f := g.jobs[j].fit(o, longest); f > best {
				at, best = k, f
			}
		}
		p := &g.jobs[g.left[at]]
		g.left = slices.Delete(g.left, at, at+1)
		jobs[o.slot] = p.index
		longest = max(longest, float64(p.time*p.slowdown(o)))
		fits += float64(best * p.time)
	}
	return jobs, fits
}
