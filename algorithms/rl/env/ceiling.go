package env

import (
	"math"
	"math/bits"

	"miglab/harness/sim/corun"
)

// Ceiling returns the plan with the least time among all that the agent's actions can form for at
// most [WindowSize] jobs, by dynamic programming over sets of jobs. It simulates every group, which
// an agent does not.
func Ceiling(w *corun.Window) corun.Plan {
	var g Grouping
	g.Load(w.Jobs, min(w.Concurrency, corun.MaxConcurrency))
	if g.Done() {
		return g.Rest()
	}
	best := g.fastest(&w.Model)
	// seconds has the least time of each set of jobs, and part the group of its longest job.
	seconds, part := make([]float64, 1<<len(w.Jobs)), make([]uint16, 1<<len(w.Jobs))
	for s := uint16(1); int(s) < len(seconds); s++ {
		longest := bits.TrailingZeros16(s)
		if s&(s-1) == 0 {
			seconds[s], part[s] = float64(w.Jobs[g.jobs[longest].index].Solo), s
			continue
		}
		seconds[s] = math.Inf(1)
		for _, c := range best[longest] {
			if c.set&^s != 0 {
				continue
			}
			if t := c.seconds + seconds[s&^c.set]; t < seconds[s] {
				seconds[s], part[s] = t, c.set
			}
		}
	}
	var plan corun.Plan
	for s := uint16(len(seconds) - 1); s != 0; s &^= part[s] {
		if set := part[s]; set&(set-1) == 0 {
			plan = append(plan, g.single(int8(bits.TrailingZeros16(set))))
		} else {
			choice, group, _ := g.setup(&w.Model, set)
			plan = append(plan, g.formed(choice, group))
		}
	}
	return plan
}

// A timedSet is a group of jobs on its fastest setup.
type timedSet struct {
	set     uint16
	seconds float64
}

// fastest returns all groups of the window's jobs by their longest job, a place in g.jobs.
func (g *Grouping) fastest(m *corun.Model) (out [WindowSize][]timedSet) {
	for s := uint16(1); s < 1<<len(g.left); s++ {
		if n := bits.OnesCount16(s); n < 2 || n > g.concurrency {
			continue
		}
		_, _, seconds := g.setup(m, s)
		longest := bits.TrailingZeros16(s)
		out[longest] = append(out[longest], timedSet{s, seconds})
	}
	return out
}

// setup returns the fastest setup for a set of jobs in the order of their slots, and its seconds.
func (g *Grouping) setup(m *corun.Model, set uint16) (choice int, group []int8, seconds float64) {
	g.sets, g.chosen = append(g.sets[:0], set), 0
	group, _ = g.members()
	seconds = math.Inf(1)
	for i := range actions {
		if actions[i].layout.Slots != len(group) {
			continue
		}
		if t := g.seconds(m, &actions[i], group); t < seconds {
			choice, seconds = i, t
		}
	}
	return choice, group, seconds
}
