package corun

import (
	"cmp"
	"context"
	"slices"

	"miglab/harness/sim/corun"
)

var _ = register("greedy", "own", "pairs, the one that saves the most time first", greedy)

func greedy(_ context.Context, w *corun.Window) (corun.Plan, error) {
	s := newSearch(w, corun.Hierarchical)
	return s.plan(pairs(s)), nil
}

// pairs puts the two jobs together that save the most time by running together, of
// several the first, and goes on with the rest while any pair saves time.
func pairs(s *search) []group {
	type pair struct {
		group
		gain float64
	}
	var all []pair
	n := len(s.w.Jobs)
	for i := range n {
		for j := i + 1; j < n && s.w.Concurrency > 1; j++ {
			apart := float64(s.w.Jobs[i].Solo + s.w.Jobs[j].Solo)
			if best := s.run([]int{i, j}, apart); best.setup >= 0 {
				all = append(all, pair{group{[]int{i, j}, best.seconds}, apart - best.seconds})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b pair) int { return cmp.Compare(b.gain, a.gain) })
	var groups []group
	taken := make([]bool, n)
	for _, p := range all {
		if i, j := p.jobs[0], p.jobs[1]; !taken[i] && !taken[j] {
			taken[i], taken[j] = true, true
			groups = append(groups, p.group)
		}
	}
	for i := range n {
		if !taken[i] {
			groups = append(groups, group{[]int{i}, float64(s.w.Jobs[i].Solo)})
		}
	}
	return groups
}
