package env

import (
	"math"
	"math/bits"

	"miglab/harness/sim/corun"
)

// Ceiling returns the plan with the least time among all that the setups of a family can form for at most [WindowSize]
// jobs in the agent's order of slots, by dynamic programming over sets of jobs. It simulates every group, which an
// agent does not. Those of [corun.Agent] are the agent's actions.
func Ceiling(w *corun.Window, f corun.Family) corun.Plan {
	var g Grouping
	g.Load(w.Jobs, min(w.Concurrency, corun.MaxConcurrency))
	if g.Done() {
		return g.Rest()
	}
	all := actionsOf(f)
	// together has the time of each set of jobs in one group, places in g.jobs; seconds has the least time of the set,
	// and part the group of its longest job.
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
