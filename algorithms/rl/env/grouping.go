package env

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"

	"miglab/harness/portable"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// WindowSize is W, the number of jobs that the hierarchical paper's agent considers together (V-A2).
const WindowSize = 12

// A Grouping is a window of jobs that is being divided into groups. Each decision chooses the jobs of the next group
// and one of the 29 setups of [corun.Agent], "the sets of co-scheduling job mix and corresponding resource allocation"
// (hierarchical paper IV-C4). A job that is left over at the end runs alone.
//
// The paper does not say how a network with 29 outputs chooses jobs. Here it scores candidate groups: each candidate is
// an observation of its own, and the network values the 29 setups for it. The candidates are all sets of two to Cmax of
// the jobs left that contain the longest one, which has to be in some group. Within a group, the jobs get the slots by
// compute work, that is, by Compute (SM) [%] times Duration: the least work gets the fewest multiprocessors.
type Grouping struct {
	concurrency int                   // Cmax, the largest size of a group
	prospects   bool                  // adds the model's savings to observations
	mean        float64               // the mean solo time of the window, in seconds
	jobs        [WindowSize]windowJob // the jobs of the window, longest first
	// left lists the jobs without a group, longest first, as indices in jobs. leftBuffer is its memory.
	left       []int8
	leftBuffer [WindowSize]int8
	// candidates are sets of jobs, as bit masks of indices in left; chosen is the index of the current one.
	candidates []uint16
	chosen     int
	// groupBuffer and othersBuffer hold the results of members, and slotBuffer the result of indices.
	groupBuffer, othersBuffer [WindowSize]int8
	slotBuffer                [corun.MaxConcurrency]int
}

// A windowJob is a job of the window with the counters of the paper's Table III when it runs alone on the GPU.
type windowJob struct {
	// index is the job's index in the window, and program the job itself.
	index    int
	program  *task.Program
	time     float64 // Duration over the mean of the window, as in V-A3
	counters [counters]float32
}

// counters is the number of counters in Table III.
const counters = 12

// deriveCounters derives the counters of Table III from the program's parameters, in the order of the table. They are
// not measured. Times are over the mean of the window; the other counters are from 0 to 1. In the model several
// counters have the same source, and some of these are on another scale ("data pre-processing and feature engineering",
// V-A1).
func deriveCounters(p *task.Program, mean float64) (out [counters]float32) {
	time := float64(p.Solo) / mean
	active := max(0, 1-p.Serial) * p.Parallelism // by rounding, Serial may exceed 1
	caches := 0.0
	if p.Memory > 0 {
		caches = min(1, p.Memory/active) // 1 if active is 0
	}
	for i, v := range [counters]float64{
		time,                    // Duration
		p.Memory,                // Memory [%]: the mean use of the bandwidth
		logScale(time),          // Elapsed Cycles: the clock is the same for all
		logScale(p.Parallelism), // Grid Size: how many blocks of the same size
		0.125,                   // Registers Per Thread: 32 of 255; the model has none
		logScale(p.Memory),      // DRAM Throughput
		caches,                  // L1/TEX Cache Throughput, of active cycles: without caches, all data
		math.Sqrt(p.Memory),     // L2 Cache Throughput
		time * active,           // SM Active Cycles: a serial part leaves them idle
		p.Compute,               // Compute (SM) [%]
		p.Parallelism,           // Waves Per SM: the share of multiprocessors that blocks fill
		logScale(active),        // Achieved Active Warps Per SM, of all cycles
	} {
		out[i] = float32(v)
	}
	return out
}

// logScale maps 1 to 1, and a fortieth or less to 0.
func logScale(x float64) float64 { return max(0, 1+portable.Log(x)/portable.Log(40)) }

const (
	// shown is the number of jobs whose counters are shown: the jobs of the candidate and the two longest of the
	// others.
	shown    = corun.MaxConcurrency + 2
	sums     = 2 // the number of sums of each counter over all others
	sumScale = 4 // brings sums over jobs to the size of other inputs
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

// actions returns the agent's 29 setups.
var actions = sync.OnceValue(func() []action { return listActions(corun.Agent) })

// listActions returns the setups of a family for two jobs or more.
func listActions(f corun.Family) (out []action) {
	for n := 2; n <= corun.MaxConcurrency; n++ {
		for _, s := range corun.Setups(f, n) {
			a := action{setup: s, layout: s.Layout(), offers: listOffers(&s)}
			slices.SortStableFunc(a.offers, func(x, y offer) int { return cmp.Compare(x.compute, y.compute) })
			out = append(out, a)
		}
	}
	return out
}

// alone is the setup of a job that runs alone.
var alone = corun.Setups(corun.Agent, 1)[0]

// listOffers returns the hardware of each slot of a setup.
func listOffers(s *corun.Setup) (out []offer) {
	for domain, gi := range s.GIs {
		for _, ci := range gi.CIs {
			shares := ci.Shares
			if len(shares) == 0 {
				shares = []float64{1}
			}
			for _, share := range shares {
				out = append(out, offer{slot: len(out), domain: domain, compute: ci.Compute * share, memory: gi.Memory})
			}
		}
	}
	return out
}

// assumed is the model from which prospects are computed, whatever the window's own constants are.
var assumed = corun.Model{Kappa: 0.25}

// NewGrouping returns a grouping without jobs. With prospects, the observation of a candidate has
// one more number for each setup: the time that the group would save by the co-run model, with its
// default constants. The paper's state does not have these.
func NewGrouping(prospects bool) Grouping { return Grouping{prospects: prospects} }

// Shape returns the sizes of observations and actions.
func (g *Grouping) Shape() Shape {
	n := (shown + sums) * counters
	if g.prospects {
		n += len(actions())
	}
	return Shape{n, len(actions())}
}

// Load begins with a window of at most [WindowSize] jobs. concurrency is the largest size of a group.
func (g *Grouping) Load(jobs []task.Program, concurrency int) {
	g.concurrency = concurrency
	g.mean = 0
	for i := range jobs {
		g.mean += float64(jobs[i].Solo)
	}
	g.mean /= float64(len(jobs))
	for i := range jobs {
		p := &jobs[i]
		g.jobs[i] = windowJob{index: i, program: p, time: float64(p.Solo) / g.mean, counters: deriveCounters(p, g.mean)}
	}
	slices.SortStableFunc(g.jobs[:len(jobs)], func(a, b windowJob) int { return cmp.Compare(b.time, a.time) })
	g.left = g.leftBuffer[:len(jobs)]
	for i := range g.left {
		g.left[i] = int8(i)
	}
	g.listCandidates()
}

// listCandidates lists the sets of at least two jobs that contain the longest one, which is the lowest bit.
func (g *Grouping) listCandidates() {
	g.candidates, g.chosen = g.candidates[:0], 0
	for s := uint16(3); s < 1<<len(g.left); s += 2 {
		if bits.OnesCount16(s) <= g.concurrency {
			g.candidates = append(g.candidates, s)
		}
	}
}

// Done reports whether the jobs left, if any, run alone.
func (g *Grouping) Done() bool { return min(len(g.left), g.concurrency) < 2 }

// Candidates returns the number of candidates; 1 if the jobs left run alone.
func (g *Grouping) Candidates() int { return max(1, len(g.candidates)) }

// Choose makes a candidate the current one.
func (g *Grouping) Choose(candidate int) { g.chosen = candidate }

// members returns the jobs of the current candidate, and the other jobs left, as split does.
func (g *Grouping) members() (group, others []int8) { return g.split(g.candidates[g.chosen]) }

// split returns the jobs of a set, a bit mask of indices in g.left, in the order of their slots, and the other jobs
// left. Both are indices in g.jobs and valid until the next call.
func (g *Grouping) split(set uint16) (group, others []int8) {
	group, others = g.groupBuffer[:0], g.othersBuffer[:0]
	for k, j := range g.left {
		if set&(1<<k) != 0 {
			group = append(group, j)
		} else {
			others = append(others, j)
		}
	}
	slices.SortStableFunc(group, func(a, b int8) int { return cmp.Compare(g.work(a), g.work(b)) })
	return group, others
}

// work returns a job's compute work in mean solo times.
func (g *Grouping) work(job int8) float64 { return g.jobs[job].time * g.jobs[job].program.Compute }

// Observe writes the observation of the current candidate and the mask of the setups with as many slots as it has jobs.
// The observation holds the counters of its jobs in the order of their slots, padded with zeros, and the counters of
// the two longest of the other jobs left. Of all other jobs it holds the sum of each counter, and the sum weighted by
// Duration: their order does not matter. If the grouping is done, the observation is zero and the mask has the first
// setup only, since a mask must not be empty.
func (g *Grouping) Observe(observation []float32, mask []bool) {
	clear(observation)
	clear(mask)
	if g.Done() {
		mask[0] = true
		return
	}
	group, others := g.members()
	for i, j := range group {
		copy(observation[i*counters:], g.jobs[j].counters[:])
	}
	for i, j := range others[:min(2, len(others))] {
		copy(observation[(corun.MaxConcurrency+i)*counters:], g.jobs[j].counters[:])
	}
	sum, weighted := observation[shown*counters:], observation[(shown+1)*counters:]
	for _, j := range others {
		p := &g.jobs[j]
		for i, v := range p.counters {
			sum[i] += float32(v / sumScale)
			weighted[i] += float32(float32(v*float32(p.time)) / sumScale)
		}
	}
	prospects := observation[(shown+sums)*counters:]
	all := actions()
	for a := range all {
		mask[a] = all[a].layout.Slots == len(group)
		if mask[a] && g.prospects {
			prospects[a] = float32(g.saving(&all[a], group))
		}
	}
}

// saving returns the time that a group saves on a setup by the assumed model, in mean solo times.
func (g *Grouping) saving(a *action, group []int8) float64 {
	saved := 0.0
	for _, j := range group {
		saved += g.jobs[j].time
	}
	return saved - g.seconds(&assumed, a, group)/g.mean
}

// seconds returns how long a group takes on a setup, according to a model.
func (g *Grouping) seconds(m *corun.Model, a *action, group []int8) float64 {
	var programs [corun.MaxSlots]*task.Program
	var ends [corun.MaxSlots]float64
	for i, j := range group {
		programs[a.offers[i].slot] = g.jobs[j].program
	}
	return m.Ends(&a.layout, &programs, &ends)
}

// intermediateRewards returns the sum of a group's intermediate rewards on a setup. Their formula is missing in our
// copy of the paper; we rebuilt it from the prose (V-A3): it "evaluates the resource allocation for a selected job",
// from the slot's shares of multiprocessors and bandwidth and the job's Compute (SM) [%], Memory [%] and time over the
// window's mean, and is higher "when assigning a resource where it is needed". Ours is time * used / slowdown: used is
// the part of the slot that the job can use, and slowdown follows from a roofline model in which the jobs of a domain
// share its bandwidth.
func (g *Grouping) intermediateRewards(a *action, group []int8) (sum float64) {
	var memory [corun.MaxConcurrency]float64
	for i, j := range group {
		memory[a.offers[i].domain] += g.jobs[j].program.Memory
	}
	for i, j := range group {
		p, o := &g.jobs[j], &a.offers[i]
		slowdown := max(1, p.program.Compute/o.compute, memory[o.domain]/o.memory)
		sum += float64(p.time * min(1, max(p.program.Compute/o.compute, p.program.Memory/o.memory)) / slowdown)
	}
	return sum
}

// Group forms the current candidate on a setup and removes its jobs. The group has the indices of the window.
func (g *Grouping) Group(action int) corun.Group {
	group, others := g.members()
	g.keep(others)
	return g.newGroup(&actions()[action], group)
}

// newGroup returns a group of jobs on a setup.
func (g *Grouping) newGroup(a *action, group []int8) corun.Group {
	return corun.Group{Jobs: slices.Clone(g.indices(a, group)), Setup: a.setup}
}

// keep leaves only the given jobs without a group.
func (g *Grouping) keep(jobs []int8) {
	g.left = g.leftBuffer[:copy(g.leftBuffer[:], jobs)]
	g.listCandidates()
}

// indices returns the jobs of a group by slot of its setup, as indices of the window. They are valid
// until the next call.
func (g *Grouping) indices(a *action, group []int8) []int {
	for i, j := range group {
		g.slotBuffer[a.offers[i].slot] = g.jobs[j].index
	}
	return g.slotBuffer[:len(group)]
}

// Rest puts each of the jobs left into a group of its own.
func (g *Grouping) Rest() (out []corun.Group) {
	for _, j := range g.left {
		out = append(out, g.single(j))
	}
	g.left = nil
	return out
}

func (g *Grouping) single(job int8) corun.Group {
	return corun.Group{Jobs: []int{g.jobs[job].index}, Setup: alone}
}
