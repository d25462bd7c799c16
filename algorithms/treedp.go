package algorithms

import (
	"context"
	"fmt"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// maxTreeDP is the largest batch that treedp takes: time grows as 3^n.
const maxTreeDP = 18

var _ = algo.Register(algo.Spec{
	Name: "treedp", Version: 1, Track: algo.TrackBatch, Cite: "ours",
	Summary: fmt.Sprintf("up to %d tasks placed together as is best, by dynamic programming over subsets and the repartitioning tree", maxTreeDP),
	Batch:   func(algo.Args) (algo.Batch, error) { return treeDP{}, nil },
})

// treeDP places all tasks together by [subsets]: of all assignments of tasks to
// instances that only ever split, the best by a model that leaves out what operations in
// the middle of the schedule wait for each other. A few iterations of lns before that
// give a limit that most subsets exceed, and some after it see to the operations.
type treeDP struct{}

func (treeDP) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	if len(p.Tasks) > maxTreeDP {
		return schedule.Schedule{}, &algo.InfeasibleError{
			Algorithm: "treedp", Task: p.Tasks[maxTreeDP].Name,
			Reason: fmt.Sprintf("is one of %d; treedp takes at most %d, lns any number", len(p.Tasks), maxTreeDP),
		}
	}
	s := newSearch(p, remnants(p))
	if err := s.exact(ctx); err != nil {
		return schedule.Schedule{}, err
	}
	out, _ := s.plan.schedule()
	return out, nil
}

// exact places all tasks together, with some iterations before and after.
func (s *search) exact(ctx context.Context) error {
	if err := s.improve(ctx, 30, 0); err != nil {
		return err
	}
	s.whole()
	return s.improve(ctx, 100, 0.002)
}
