package algorithms

import (
	"context"
	"fmt"
	"math"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// maxTreeDP is the largest number n of tasks for each GPU that treedp takes. Its time grows as 3^n.
const maxTreeDP = 18

// These are the iterations of lns before and after tasks are placed together, and on each pair of GPUs.
const iterationsBefore, iterationsAfter, iterationsOnPairs = 30, 100, 300

// polishBlur is the blur of the iterations after tasks are placed together; see [search.improve].
const polishBlur = 0.002

var _ = algo.Register(algo.Spec{
	Name: "treedp", Version: 4, Cite: "ours",
	Summary: fmt.Sprintf("up to %d tasks a GPU placed together as is best, by dynamic programming over "+
		"subsets and the repartitioning tree", maxTreeDP),
	New: algo.NewBatch(func(algo.Args) (algo.Batch, error) { return treeDP{}, nil }),
})

// treeDP places all tasks together by [subsets]. The result is the best of all assignments of tasks to instances that
// are only split and never merged, in a model that ignores how long operations in the middle of the schedule wait for
// each other. A few iterations of lns before it give a tight limit. More after it take the operations into account.
//
// If tasks take much longer than operations, merging instances would hardly help. If tasks take tenths of a second, we
// have seen makespans 5 %, and rarely 12 %, above the optimum that package bounds finds for few tasks.
type treeDP struct{}

func (treeDP) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	most := maxTreeDP * p.GPUs()
	if len(p.Tasks) > most {
		return schedule.Schedule{}, &algo.InfeasibleError{
			Algorithm: "treedp", Task: p.Tasks[most].Name,
			Reason: fmt.Sprintf("is one of %d; treedp takes at most %d, lns any number", len(p.Tasks), most),
		}
	}
	if len(p.Tasks) > maxTreeDP {
		return forestDP(ctx, p)
	}
	s := newSearch(ctx, p, remnants(p))
	return s.plan.answer(ctx, s.solve(ctx))
}

// forestDP runs treedp for more tasks than fit one table. [newForest] divides the tasks between the GPUs, and the tasks
// of each GPU are placed together. Then pairs of GPUs exchange tasks again.
func forestDP(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	f, err := newForest(ctx, p, iterationsOnPairs)
	if err != nil {
		return schedule.Schedule{}, err
	}
	if err = f.placeEach(ctx); err == nil {
		err = f.improve(ctx, iterationsOnPairs, polishBlur)
	}
	if err == nil {
		err = f.placeEach(ctx)
	}
	return f.plan.answer(ctx, err)
}

// solve runs treedp on an assignment of at most maxTreeDP tasks.
func (s *search) solve(ctx context.Context) error {
	if err := s.improve(ctx, iterationsBefore, 0); err != nil || len(s.plan.node) == 0 {
		return err
	}
	s.placeAll(ctx)
	return s.improve(ctx, iterationsAfter, polishBlur)
}

// loadDrift is larger than the relative error of loads, which rounding makes drift when tasks are put and taken.
const loadDrift = 1e-9

// polish moves single tasks and swaps pairs as long as the schedule, operations included, ends earlier.
func (s *search) polish(ctx context.Context) {
	plan := s.plan
	n := int32(len(plan.node))
	for again := true; again && ctx.Err() == nil; {
		again = false
		for i := range n {
			for node := range int32(plan.tree.count()) {
				if node == plan.node[i] || math.IsInf(plan.seconds(i, node), 1) {
					continue
				}
				again = s.try([]int32{i}, []int32{node}) || again
			}
			for j := range i {
				a, b := plan.node[i], plan.node[j]
				if a == b || math.IsInf(plan.seconds(i, b)+plan.seconds(j, a), 1) {
					continue
				}
				again = s.try([]int32{i, j}, []int32{b, a}) || again
			}
		}
	}
}

// try moves tasks to nodes. It moves them back and returns false unless the schedule ends earlier.
func (s *search) try(tasks, to []int32) bool {
	var back []int32
	for _, task := range tasks {
		back = append(back, s.plan.node[task])
		s.plan.take(task)
	}
	for i, task := range tasks {
		s.plan.put(task, to[i])
	}
	makespan := s.plan.time()
	if makespan < s.makespan*(1-loadDrift) {
		s.makespan = makespan
		s.keep()
		return true
	}
	for i, task := range tasks {
		s.plan.take(task)
		s.plan.put(task, back[i])
	}
	return false
}
