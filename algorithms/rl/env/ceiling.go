package env

import (
	"math"
	"math/bits"

	"miglab/harness/sim/corun"
)

// Ceiling returns the fastest plan of at most [WindowSize] jobs that an agent with the setups of a family can form:
// groups of two or more, and at most one job alone, at the end. It is dynamic programming over sets of jobs. Within a
// group, jobs get the slots in the agent's order. With [corun.Agent], the setups are the agent's actions. Unlike an
// agent, Ceiling simulates every group.
func Ceiling(w *corun.Window, f corun.Family) corun.Plan {
	var g Grouping
	g.Load(w.Jobs, min(w.Concurrency, corun.MaxConcurrency))
	if g.Done() {
		return g.Rest()
	}
	all := actionsOf(f)
	// A set of jobs is a bit mask of indices in g.jobs. By set, together is the time in one group, seconds is the least
	// time of its jobs, divided into groups in the best way, and part is the group of the longest job.
	together, seconds := make([]float64, 1<<len(w.Jobs)), make([]float64, 1<<len(w.Jobs))
	part := make([]uint16, 1<<len(w.Jobs))
	for s := uint16(1); int(s) < len(seconds); s++ {
		longest := s & -s
		if s == longest {
			seconds[s], part[s] = float64(w.Jobs[g.jobs[bits.TrailingZeros16(s)].index].Solo), s
			continue
		}
		together[s], seconds[s] = math.Inf(1), math.Inf(1)
		if bits.OnesCount16(s) <= g.concurrency {
			_, _, together[s] = g.setup(&w.Model, all, s)
		}
		for c := longest; c != 0; c = (c - s) & s { // the subsets of s in ascending order
			if t := together[c] + seconds[s&^c]; c&longest != 0 && c != longest && t < seconds[s] {
				seconds[s], part[s] = t, c
			}
		}
	}
	var plan corun.Plan
	for s := uint16(len(seconds) - 1); s != 0; s &^= part[s] {
		if set := part[s]; set&(set-1) == 0 {
			plan = append(plan, g.single(int8(bits.TrailingZeros16(set))))
		} else {
			best, group, _ := g.setup(&w.Model, all, set)
			plan = append(plan, g.newGroup(best, group))
		}
	}
	return plan
}

// setup returns the fastest setup for a set of jobs in the order of their slots, and its seconds.
func (g *Grouping) setup(m *corun.Model, all []action, set uint16) (best *action, group []int8, seconds float64) {
	g.candidates, g.chosen = append(g.candidates[:0], set), 0
	group, _ = g.members()
	seconds = math.Inf(1)
	for i := range all {
		if all[i].layout.Slots != len(group) {
			continue
		}
		if t := g.seconds(m, &all[i], group); t < seconds {
			best, seconds = &all[i], t
		}
	}
	return best, group, seconds
}
