package plan

import (
	"context"
	"math"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// MaxTasks is the largest number n of tasks that [Solve] takes. Each further task would triple its time: it divides
// every set of tasks between two subtrees in all ways, 3^n in all, about 400 million for 18.
const MaxTasks = 18

// These are the iterations of lns before and after tasks are placed together, and on each pair of GPUs.
const iterationsBefore, iterationsAfter, iterationsOnPairs = 30, 100, 300

// polishBlur is the blur of the iterations after tasks are placed together; see [search.improve].
const polishBlur = 0.002

// Solve places at most [MaxTasks] tasks together (subsets.go). The result is the best of all assignments of tasks to
// instances that are only split and never merged, in a model that ignores how long operations in the middle of the
// schedule wait for each other. A few iterations of lns before it, from a rule's plan, give a tight limit. More after
// it take the operations into account. Solve returns the same as [Improve].
func Solve(ctx context.Context, p algo.Problem, from State, first Rule) (schedule.Schedule, State, error) {
	s := newSearch(p, from, first(ctx, p))
	err := s.improve(ctx, iterationsBefore, 0)
	if err == nil && len(p.Tasks) > 0 {
		s.placeAll(ctx)
		err = s.improve(ctx, iterationsAfter, polishBlur)
	}
	return s.plan.answer(ctx, err)
}

// placeAll places all tasks at once in both models of [subsets], polishes each result and restores the best plan.
func (s *search) placeAll(ctx context.Context) {
	s.tasks = s.tasks[:0]
	for i := range s.plan.node {
		s.tasks = append(s.tasks, int32(i))
	}
	for _, greedy := range []bool{false, true} {
		s.subsets.greedy = greedy
		s.makespan = s.least
		s.replace(0, math.Inf(1))
		s.polish(ctx)
	}
	s.restore()
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
			for node := range int32(plan.tree.Count()) {
				if node != plan.node[i] && !math.IsInf(plan.seconds(i, node), 1) {
					again = s.try([]int32{i}, []int32{node}) || again
				}
			}
			for j := range i {
				a, b := plan.node[i], plan.node[j]
				if a != b && !math.IsInf(plan.seconds(i, b)+plan.seconds(j, a), 1) {
					again = s.try([]int32{i, j}, []int32{b, a}) || again
				}
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
		s.plan.move(task, back[i])
	}
	return false
}
