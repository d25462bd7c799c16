package corun

import (
	"cmp"
	"context"
	"math"
	"slices"

	"miglab/harness/sim/corun"
)

var _ = register("greedy", "own", "pairs, the one that saves the most time first", greedy)

func greedy(ctx context.Context, w *corun.Window) (corun.Plan, error) {
	s := newSearch(w, corun.Hierarchical)
	return s.plan(s.pairs(ctx)), ctx.Err()
}

// pairs repeatedly pairs the two jobs that save the most time, the first two on a tie, until no two remaining jobs save
// time. The groups are in the order of the time that they save, single jobs last. They are incomplete if ctx is done.
func (s *search) pairs(ctx context.Context) []jobGroup {
	type pair struct {
		jobGroup
		saves float64
	}
	var all []pair
	single := make([]jobGroup, len(s.w.Jobs))
	for j := range single {
		if ctx.Err() != nil {
			break
		}
		single[j] = jobGroup{[]int{j}, s.fastest([]int{j}, math.Inf(1))}
		for i := 0; i < j && s.w.Concurrency > 1; i++ {
			apart := single[i].seconds + single[j].seconds
			together := s.fastest([]int{i, j}, apart)
			if together < apart {
				all = append(all, pair{jobGroup{[]int{i, j}, together}, apart - together})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b pair) int { return cmp.Compare(b.saves, a.saves) })
	var groups []jobGroup
	for _, p := range all {
		i, j := p.jobs[0], p.jobs[1]
		if single[i].jobs != nil && single[j].jobs != nil {
			groups = append(groups, p.jobGroup)
			single[i].jobs, single[j].jobs = nil, nil
		}
	}
	return append(groups, slices.DeleteFunc(single, func(g jobGroup) bool { return g.jobs == nil })...)
}
