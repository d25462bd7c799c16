package env

import (
	"cmp"
	"math/bits"
	"slices"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// WindowSize is W, the number of jobs that the hierarchical paper's agent considers
// together (V-A2).
const WindowSize = 12

// A Grouping is a window of jobs that is being divided into groups, as the hierarchical
// paper's agent does it. Each decision is one of the 29 setups of [corun.Agent], by
// concurrency and then in the order of [corun.Setups]. The profiles of the jobs left decide
// which of them run there: see [Grouping.Group]. There is no simulation. A job that is left
// over at the end runs alone.
//
// The paper prints neither the list of actions nor how jobs are selected: both are ours.
type Grouping struct {
	concurrency int
	jobs        [WindowSize]profiled
	// left are those without a group, longest first: places in jobs, in buf.
	left []int8
	buf  [WindowSize]int8
}

// profiled is a job of the window with the counters of the paper's Table III when it runs alone
// on the GPU. They are derived from the performance model, not measured.
type profiled struct {
	// index is that in the window.
	index int
	// time is Duration over the mean of the window, as in V-A3.
	time float64
	// compute is Compute (SM) [%], from 0 to 1: the mean use of the multiprocessors.
	compute float64
	// memory is Memory [%], and DRAM Throughput, from 0 to 1: the mean use of the bandwidth.
	memory float64
	// active is SM Active Cycles over Elapsed Cycles, from 0 to 1, the mean over the
	// multiprocessors: a serial part leaves them idle.
	active float64
	// waves represents Grid Size and Waves Per SM: the share of the multiprocessors that the
	// job's blocks can fill.
	waves float64
}

const (
	// profileSize is the number of values that the agent sees of a job, and prospectSize of a
	// setup.
	profileSize  = 5
	prospectSize = 2
)

// action is a setup with its slots' offers, those with fewer multiprocessors first.
type action struct {
	setup  corun.Setup
	layout corun.Layout
	offers []offer
}

// offer is the hardware of a slot, the paper's two parameters (V-A3): its share of the
// multiprocessors, and the share of the bandwidth that all slots of its domain have.
type offer struct {
	slot, domain    int
	compute, memory float64
}

var actions = func() (out []action) {
	for n := 2; n <= corun.MaxConcurrency; n++ {
		for _, s := range corun.Setups(corun.Agent, n) {
			a := action{s, s.Layout(), offersOf(&s)}
			slices.SortStableFunc(a.offers, func(x, y offer) int { return cmp.Compare(x.compute, y.compute) })
			out = append(out, a)
		}
	}
	return out
}()

// alone is the setup for a job without a group.
var alone = corun.Setups(corun.Agent, 1)[0]

func offersOf(s *corun.Setup) (out []offer) {
	for domain, gi := range s.GIs {
		for _, ci := range gi.CIs {
			shares := ci.Shares
			if len(shares) == 0 {
				shares = []float64{1}
			}
			for _, share := range shares {
				out = append(out, offer{len(out), domain, ci.Compute * share, gi.Memory})
			}
		}
	}
	return out
}

// GroupingShape is the size of the agent's observations and actions.
func GroupingShape() Shape {
	return Shape{WindowSize*profileSize + len(actions)*prospectSize, len(actions)}
}

// Load begins with a window of at most [WindowSize] jobs and the largest size of a group.
func (g *Grouping) Load(jobs []task.Program, concurrency int) {
	g.concurrency = concurrency
	mean := meanSolo(jobs)
	for i := range jobs {
		p := &jobs[i]
		g.jobs[i] = profiled{i, float64(p.Solo) / mean, p.Compute, p.Memory, (1 - p.Serial) * p.Parallelism, p.Parallelism}
	}
	slices.SortStableFunc(g.jobs[:len(jobs)], func(a, b profiled) int { return cmp.Compare(b.time, a.time) })
	g.left = g.buf[:len(jobs)]
	for i := range g.left {
		g.left[i] = int8(i)
	}
}

func meanSolo(jobs []task.Program) float64 {
	sum := 0.0
	for i := range jobs {
		sum += float64(jobs[i].Solo)
	}
	return sum / float64(len(jobs))
}

// Done reports whether the jobs left, if any, run alone.
func (g *Grouping) Done() bool { return min(len(g.left), g.concurrency) < 2 }

// Observe writes the agent's observation and the mask of the setups that have no more slots
// than a group may have jobs. The observation holds the profile of each job left, the
// longest first, padded with zeros to [WindowSize]. Then follow two numbers for each
// allowed setup, about the group that it would get: the time that it would save by the
// profiles, and the sum of its intermediate rewards. The paper's state does not mention
// these.
func (g *Grouping) Observe(observation []float32, mask []bool) {
	clear(observation)
	for i, j := range g.left {
		p := &g.jobs[j]
		for k, v := range [profileSize]float64{p.time, p.compute, p.memory, p.active, p.waves} {
			observation[i*profileSize+k] = float32(v)
		}
	}
	prospects := observation[WindowSize*profileSize:]
	for a := range actions {
		if mask[a] = actions[a].layout.Slots <= min(len(g.left), g.concurrency); mask[a] {
			s := g.assign(&actions[a])
			prospects[a*prospectSize], prospects[a*prospectSize+1] = float32(s.saved), float32(s.fits)
		}
	}
}

// slowdown is the job's time in a slot over its solo time, by its profile, when other jobs
// want the given bandwidth of the same domain: a roofline model.
func (p *profiled) slowdown(o *offer, others float64) float64 {
	return max(1, p.compute/o.compute, (p.memory+others)/o.memory)
}

// fit is the intermediate reward of a job for a slot. The formula is missing in our copy of
// the paper; we rebuilt it from the prose (V-A3): it "evaluates the resource allocation for
// a selected job", from the slot's shares of multiprocessors and bandwidth and the job's
// Compute (SM) [%], Memory [%] and time over the window's mean, and is higher "when
// assigning a resource where it is needed". Ours is the time, times the part of the slot
// that the job can use, times its pace there. It is less if the group would have to wait
// for the job.
func (p *profiled) fit(o *offer, others, longest float64) float64 {
	slowdown := p.slowdown(o, others)
	f := p.time * min(1, max(p.compute/o.compute, p.memory/o.memory)) / slowdown
	if longest > 0 {
		f *= min(1, longest/(p.time*slowdown))
	}
	return f
}

// An assignment holds the jobs that a setup would get.
type assignment struct {
	// jobs are places in Grouping.left, by slot, and taken is the set of them.
	jobs  [corun.MaxConcurrency]int8
	taken uint16
	// longest is the time of the group by its profiles and saved the time that it saves,
	// both in mean solo times. fits is the sum of its intermediate rewards.
	longest, saved, fits float64
	// memory is the bandwidth that the jobs want, by domain.
	memory [corun.MaxConcurrency]float64
}

// assign fills the slots of a setup as [Grouping.Group] says.
func (g *Grouping) assign(a *action) (s assignment) {
	first, best := 0, -1.0
	for i := range a.offers {
		if f := g.jobs[g.left[0]].fit(&a.offers[i], 0, 0); f > best {
			first, best = i, f
		}
	}
	s.put(g, &a.offers[first], 0)
	for i := range a.offers {
		if i == first {
			continue
		}
		o := &a.offers[i]
		at, best := 0, -1.0
		for k, j := range g.left {
			if s.taken&(1<<k) != 0 {
				continue
			}
			if f := g.jobs[j].fit(o, s.memory[o.domain], s.longest); f > best {
				at, best = k, f
			}
		}
		s.put(g, o, at)
	}
	s.saved -= s.longest
	return s
}

func (s *assignment) put(g *Grouping, o *offer, at int) {
	p := &g.jobs[g.left[at]]
	s.jobs[o.slot] = int8(at)
	s.taken |= 1 << at
	s.fits += p.fit(o, s.memory[o.domain], s.longest)
	s.longest = max(s.longest, p.time*p.slowdown(o, s.memory[o.domain]))
	s.saved += p.time
	s.memory[o.domain] += p.memory
}

// Group forms a group of the jobs left for a setup and returns their indices in the window.
// The longest job is always in it, in the slot that fits it best. Then the other slots are
// filled in ascending order of multiprocessors, each with the job of the highest
// intermediate reward there; of equal jobs, the longest.
func (g *Grouping) Group(choice int) corun.Group {
	var buf [corun.MaxConcurrency]int
	jobs, _ := g.take(choice, &buf)
	return corun.Group{Jobs: slices.Clone(jobs), Setup: actions[choice].setup}
}

// Rest puts each of the jobs left into a group of its own.
func (g *Grouping) Rest() (out []corun.Group) {
	for _, j := range g.left {
		out = append(out, corun.Group{Jobs: []int{g.jobs[j].index}, Setup: alone})
	}
	g.left = nil
	return out
}

// take is Group with a buffer for the result; fits is the sum of the intermediate rewards.
func (g *Grouping) take(choice int, buf *[corun.MaxConcurrency]int) (jobs []int, fits float64) {
	a := &actions[choice]
	s := g.assign(a)
	jobs = buf[:a.layout.Slots]
	for i := range jobs {
		jobs[i] = g.jobs[g.left[s.jobs[i]]].index
	}
	for t := s.taken; t != 0; {
		last := bits.Len16(t) - 1
		g.left = slices.Delete(g.left, last, last+1)
		t &^= 1 << last
	}
	return jobs, s.fits
}
