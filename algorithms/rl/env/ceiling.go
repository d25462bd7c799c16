package env

import (
	"math"
	"math/bits"

	"miglab/harness/sim/corun"
)

// Ceiling returns the fastest plan that an agent can form with the setups of a family: groups of two or more jobs, and
// at most one job alone, at the end. The window has at most [WindowSize] jobs. As for an agent, the order of a group's
// jobs decides their slots. With [corun.Agent], the setups are the agent's own actions. Ceiling simulates every group,
// which an agent does not.
func Ceiling(w *corun.Window, f corun.Family) corun.Plan {
	var g Grouping
	g.Load(w.Jobs, min(w.Concurrency, corun.MaxConcurrency))
	if g.Done() {
		return g.Rest()
	}
	setups := listActions(f)
	// This is dynamic programming over sets of jobs. A set is a bit mask of indices in g.jobs, so that its lowest bit
	// is its longest job. For each set, the slices hold the seconds of the set as one group, the seconds of its fastest
	// division into groups, and the group of this division that has the longest job.
	sets := 1 << len(w.Jobs)
	oneGroup, divided, firstGroup := make([]float64, sets), make([]float64, sets), make([]uint16, sets)
	for set := uint16(1); int(set) < sets; set++ {
		longest := set & -set
		if set == longest {
			divided[set], firstGroup[set] = float64(g.jobs[bits.TrailingZeros16(set)].program.Solo), set
			continue
		}
		oneGroup[set], divided[set] = math.Inf(1), math.Inf(1)
		if bits.OnesCount16(set) <= g.concurrency {
			_, _, oneGroup[set] = g.fastestSetup(&w.Model, setups, set)
		}
		others := set &^ longest
		for partners := others & -others; partners != 0; partners = (partners - others) & others { // all subsets
			group := longest | partners
			if seconds := oneGroup[group] + divided[set&^group]; seconds < divided[set] {
				divided[set], firstGroup[set] = seconds, group
			}
		}
	}
	var plan corun.Plan
	for set := uint16(sets - 1); set != 0; set &^= firstGroup[set] {
		group := firstGroup[set]
		if bits.OnesCount16(group) == 1 {
			plan = append(plan, g.single(int8(bits.TrailingZeros16(group))))
			continue
		}
		setup, jobs, _ := g.fastestSetup(&w.Model, setups, group)
		plan = append(plan, g.newGroup(setup, jobs))
	}
	return plan
}

// fastestSetup returns the fastest setup for a set of the jobs left, the jobs in the order of their slots, and their
// seconds on it.
func (g *Grouping) fastestSetup(m *corun.Model, all []action, set uint16) (best *action, jobs []int8, seconds float64) {
	jobs, _ = g.split(set)
	seconds = math.Inf(1)
	for i := range all {
		if all[i].layout.Slots != len(jobs) {
			continue
		}
		if t := g.seconds(m, &all[i], jobs); t < seconds {
			best, seconds = &all[i], t
		}
	}
	return best, jobs, seconds
}
