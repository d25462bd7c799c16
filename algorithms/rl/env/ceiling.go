package env

import (
	"math"
	"math/bits"
	"slices"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
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
	best := g.fastest(w)
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
		plan = append(plan, g.formed(w, part[s]))
	}
	return plan
}

// formed returns a set of jobs as a group on its fastest setup.
func (g *Grouping) formed(w *corun.Window, set uint16) corun.Group {
	if set&(set-1) == 0 {
		return corun.Group{Jobs: []int{g.jobs[bits.TrailingZeros16(set)].index}, Setup: alone}
	}
	g.sets, g.chosen = append(g.sets[:0], set), 0
	choice, _ := g.setup(w)
	var in, out [WindowSize]int8
	var buf [corun.MaxConcurrency]int
	group, _ := g.members(&in, &out)
	return corun.Group{Jobs: slices.Clone(g.indices(&actions[choice], group, &buf)), Setup: actions[choice].setup}
}

// A timedSet is a group of jobs on its fastest setup.
type timedSet struct {
	set     uint16
	seconds float64
}

// fastest returns all groups of the window's jobs by their longest job, a place in g.jobs.
func (g *Grouping) fastest(w *corun.Window) (out [WindowSize][]timedSet) {
	for s := uint16(1); s < 1<<len(g.left); s++ {
		if n := bits.OnesCount16(s); n < 2 || n > g.concurrency {
			continue
		}
		g.sets, g.chosen = append(g.sets[:0], s), 0
		_, t := g.setup(w)
		longest := bits.TrailingZeros16(s)
		out[longest] = append(out[longest], timedSet{s, t})
	}
	return out
}

// setup returns the fastest setup for the current candidate, and its seconds.
func (g *Grouping) setup(w *corun.Window) (choice int, seconds float64) {
	var in, out [WindowSize]int8
	group, _ := g.members(&in, &out)
	seconds = math.Inf(1)
	for i := range actions {
		a := &actions[i]
		if a.layout.Slots != len(group) {
			continue
		}
		var programs [corun.MaxSlots]*task.Program
		var ends [corun.MaxSlots]float64
		for k, j := range group {
			programs[a.offers[k].slot] = &w.Jobs[g.jobs[j].index]
		}
		if t := w.Model.Ends(&a.layout, &programs, &ends); t < seconds {
			choice, seconds = i, t
		}
	}
	return choice, seconds
}
