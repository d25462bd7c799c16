package algorithms

import (
	"context"

	"miglab/algorithms/plan"
	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// refinementIterations limits phase 3 as in the released code; FAR 3.3 leaves the number open.
const refinementIterations = 100

var _ = algo.Register(algo.Spec{
	Name: "far", Version: 3, Cite: "FAR 3, Algorithms 1 and 2",
	Summary: "family of allocations, repartitioning tree, refinement",
	Params: []algo.Param{
		{
			Name: "refine", Default: "true", Values: []string{"true", "false"},
			Doc: "whether phase 3 moves and swaps tasks",
		},
		keepParam,
	},
	New: algo.NewBatch(func(a algo.Args) (algo.Batch, error) {
		return far{refine: a["refine"] == "true", keep: keepRule(a["keep"] == "last")}, nil
	}),
})

// A keepRule says which plan a refinement keeps.
type keepRule bool

const (
	keepBest keepRule = false // undoes the changes after the plan with the least makespan
	// keepLast keeps all changes, as the released scripts do. The result can be worse than the plan before them.
	keepLast keepRule = true
)

// keepParam declares the parameter that selects the [keepRule].
var keepParam = algo.Param{
	Name: "keep", Default: "best", Values: []string{"best", "last"},
	Doc: "undo the changes after the best plan, or none of them (refinement_test and concat_test of the released code)",
}

// far is FAR (Family of Allocations and Repartitioning). Phase 1 lists allocations of sizes to tasks (family.go). Phase
// 2 schedules them on the repartitioning tree and takes the one with the least makespan (repartition.go). Phase 3 moves
// and swaps tasks (refine.go). A problem with several GPUs has several trees (FAR 3.2).
//
// FAR plans for an empty GPU. Only the timing of the plan respects release times and instances that exist at the start.
//
// keep=last is what the released scripts do, among them refinement_test, which made FAR Table 6: they undo nothing and
// count every move and swap until an iteration finds no change.
type far struct {
	refine bool
	keep   keepRule
}

func (f far) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	planned := farPlan(ctx, p)
	if !f.refine {
		return plan.Schedule(p, planned.asFound()), ctx.Err()
	}
	s, r := refineFAR(ctx, p, planned, f.keep)
	s.Counters = map[string]int{}
	s.Counters["moves"], s.Counters["swaps"] = r.count()
	return s, ctx.Err()
}

// farPlan runs phases 1 and 2. An empty batch has an empty plan. If ctx is done, farPlan and refineFAR stop early.
func farPlan(ctx context.Context, p algo.Problem) *treePlan {
	if len(p.Tasks) == 0 {
		return newTreePlan(plan.NewTree(p))
	}
	r := newRepartitioner(p, newFamily(p))
	k, makespan := r.best(ctx)
	planned := newTreePlan(r.tree)
	r.makespan(k, makespan, planned)
	return planned
}

// refineFAR runs phase 3 on a plan and returns the schedule of the plan that it keeps. The refinement ignores the
// reconfiguration that its changes add or save. So the plan is timed after every iteration that changed it, and the
// changes after the best one are undone. The plan as phase 2 found it has destroys that no later use needs: it is timed
// with and without them before the first iteration. With keepLast, it is timed again only after the last iteration.
func refineFAR(ctx context.Context, p algo.Problem, planned *treePlan, rule keepRule) (schedule.Schedule, *refinement) {
	t := plan.NewTimer(p, plan.Start(p))
	least := t.Time(planned.asFound())
	r := &refinement{plan: planned, end: t.SliceEnds(), iterations: refinementIterations}
	if rule == keepLast {
		r.improve(ctx, func() {})
		t.Time(planned.uses(forward))
		return t.Schedule(), r
	}
	best, kept := t.Schedule(), 0
	keepBetter := func() {
		makespan := t.Time(planned.uses(forward))
		if makespan < least {
			least, best, kept = makespan, t.Schedule(), len(r.log)
		}
	}
	keepBetter()
	r.improve(ctx, keepBetter)
	r.undo(kept)
	return best, r
}

// refinedFAR returns the tasks of each node in FAR's plan. It is the [plan.Rule] with which treedp and lns begin.
func refinedFAR(ctx context.Context, p algo.Problem) [][]plan.Task {
	planned := farPlan(ctx, p)
	refineFAR(ctx, p, planned, keepBest)
	return planned.lists
}
