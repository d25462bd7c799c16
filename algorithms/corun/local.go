package corun

import (
	"context"
	"slices"

	"miglab/harness/sim/corun"
)

var _ = register("local", "own",
	"greedy pairs, then any two and any three groups divided again in the best way, while that helps", local)

// effort is the number of sets of jobs after which local stops. For up to some hundred jobs this takes at most a
// second. A window of 12 jobs has 793 sets, and one of 35 jobs has fewer than effort.
const effort = 1 << 16

// local improves the greedy pairs by dividing the jobs of two or three groups again in the best way, until that saves
// no time for any of them. A division moves and swaps jobs and merges and splits groups, in any combination.
func local(ctx context.Context, w *corun.Window) (corun.Plan, error) {
	s := &descent{divider: newDivider(w, corun.Every)}
	s.groups = s.pairs(ctx)
	for s.improve(ctx, s.two) {
	}
	for s.improve(ctx, s.three) {
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.plan(s.groups), nil
}

// A descent holds the groups that [local] improves.
type descent struct {
	*divider
	groups []jobGroup
}

// improve calls step for every two groups, neighbours first, because they save about as much. It reports whether a step
// changed the groups.
func (s *descent) improve(ctx context.Context, step func(ctx context.Context, from, to int) bool) (changed bool) {
	n := len(s.groups)
	for apart := 1; apart < n; apart++ {
		for from := 0; from+apart < n && len(s.known) < effort && ctx.Err() == nil; from++ {
			changed = step(ctx, from, from+apart) || changed
		}
	}
	s.groups = slices.DeleteFunc(s.groups, func(g jobGroup) bool { return len(g.jobs) == 0 })
	return changed
}

func (s *descent) two(ctx context.Context, from, to int) bool { return s.divideAgain(ctx, from, to) }

// three divides two groups again, together with each group between them.
func (s *descent) three(ctx context.Context, from, to int) (changed bool) {
	for middle := from + 1; middle < to; middle++ {
		changed = s.divideAgain(ctx, from, middle, to) || changed
	}
	return changed
}

// divideAgain divides the jobs of some groups again if that saves time. Groups may become empty. New groups come last.
func (s *descent) divideAgain(ctx context.Context, which ...int) bool {
	var jobs []int
	before := 0.0
	for _, i := range which {
		jobs = append(jobs, s.groups[i].jobs...)
		before += s.groups[i].seconds
	}
	slices.Sort(jobs)
	groups := s.divide(ctx, jobs)
	after := 0.0
	for _, g := range groups {
		after += g.seconds
	}
	// Sums in another order may differ in their last digits.
	if groups == nil || after >= before*(1-rounding) {
		return false
	}
	for _, i := range which {
		s.groups[i] = jobGroup{}
		if len(groups) > 0 {
			s.groups[i], groups = groups[0], groups[1:]
		}
	}
	s.groups = append(s.groups, groups...)
	return true
}
