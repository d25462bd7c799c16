package corun

import (
	"math"
	"math/bits"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// A search finds the best way to run sets of a window's jobs together. It is not safe
// for concurrent use.
type search struct {
	w    *corun.Window
	menu *menu
	// alone has the seconds that a job takes in a place without others, by place and job.
	alone []float64
	// least has the seconds that a job takes in the best place.
	least []float64

	// What follows belongs to the set in hand.

	set  []int
	best way
	// now is the assignment that is tried: indices in set by slot.
	now [corun.MaxSlots]int
}

// A way is how a set of jobs runs.
type way struct {
	seconds float64
	// setup is an index in the menu's setups for that many jobs, -1 if there is no way.
	setup int
	// jobs are indices in the set by slot.
	jobs [corun.MaxSlots]int
}

func newSearch(w *corun.Window, f corun.Family) *search {
	m, n := menuOf(f), len(w.Jobs)
	s := &search{w: w, menu: m, alone: make([]float64, len(m.places)*n), least: make([]float64, n)}
	for p := range m.places {
		at := &m.places[p]
		for j := range w.Jobs {
			job := &w.Jobs[j]
			t := float64(job.Solo) * job.Relative(at.most(&w.Model), at.memory)
			s.alone[p*n+j] = t
			if p == 0 || t < s.least[j] {
				s.least[j] = t
			}
		}
	}
	return s
}

// run returns the fastest way to run a set of jobs together, of those that take less
// than some seconds.
func (s *search) run(set []int, below float64) way {
	s.set, s.best = set, way{seconds: below, setup: -1}
	rest := 0.0
	for _, j := range set {
		rest += s.least[j]
	}
	s.fill(s.menu.trees[len(set)], 0, 1<<len(set)-1, rest, 0, 0, 0)
	return s.best
}

// fill tries the jobs left, a bit mask, in the slots from number at on. Those placed so
// far take at least floor seconds in the GPU instances that are full; in the one at hand
// the longest would take longest alone, and all of them together sum. rest is the sum of
// what the jobs left take alone at least.
//
// In a GPU instance with m jobs active each takes 1 + kappa (m-1) times as long as alone,
// or longer. The job that ends as number k, of n, has then been in want of at least its
// time alone, t_k; summed up over the times between ends, the last ends no earlier than
// after max t + kappa (sum t - max t).
func (s *search) fill(nodes []node, at int, left uint, rest, floor, longest, sum float64) {
	kappa, jobs := s.w.Model.Kappa, len(s.w.Jobs)
	for i := range nodes {
		n := &nodes[i]
		alone := s.alone[n.place*jobs:]
		floor, longest, sum := floor, longest, sum
		if n.gpu {
			floor, longest, sum = max(floor, longest+kappa*(sum-longest)), 0, 0
		}
		open := left
		if n.twin {
			open &= ^uint(0) << (s.now[at-1] + 1)
		}
		for ; open != 0; open &= open - 1 {
			k := bits.TrailingZeros(open)
			j := s.set[k]
			longest, sum, rest := max(longest, alone[j]), sum+alone[j], rest-s.least[j]
			bound := longest + kappa*(sum-longest)
			if n.last {
				bound += kappa * rest
			}
			if max(floor, bound) >= s.best.seconds {
				continue
			}
			s.now[at] = k
			if n.setup < 0 {
				s.fill(n.next, at+1, left&^(1<<k), rest, floor, longest, sum)
				continue
			}
			if t := s.seconds(n.setup); t < s.best.seconds {
				s.best = way{t, n.setup, s.now}
			}
		}
	}
}

// seconds simulates the assignment at hand.
func (s *search) seconds(setup int) float64 {
	var programs [corun.MaxSlots]*task.Program
	var ends [corun.MaxSlots]float64
	for i, k := range s.now[:len(s.set)] {
		programs[i] = &s.w.Jobs[s.set[k]]
	}
	return s.w.Model.Ends(&s.menu.layouts[len(s.set)][setup], &programs, &ends)
}

// plan runs every group in the fastest way.
func (s *search) plan(groups []group) corun.Plan {
	var out corun.Plan
	for _, g := range groups {
		w := s.run(g.jobs, math.Inf(1))
		as := corun.Group{Setup: s.menu.setups[len(g.jobs)][w.setup]}
		for _, k := range w.jobs[:len(g.jobs)] {
			as.Jobs = append(as.Jobs, g.jobs[k])
		}
		out = append(out, as)
	}
	return out
}
