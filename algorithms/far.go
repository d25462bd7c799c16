package algorithms

import (
	"context"
	"strconv"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// refinementIterations limits phase 3, as the released code does (FAR 3.3 leaves
// the number open).
const refinementIterations = 100

var _ = algo.Register(algo.Spec{
	Name: "far", Version: 2, Track: algo.TrackBatch, Cite: "FAR 3, Algorithms 1 and 2",
	Summary: "family of allocations, repartitioning tree, refinement",
	Params: []algo.Param{
		{Name: "refine", Default: "true", Values: []string{"true", "false"}, Doc: "whether phase 3 moves and swaps tasks"},
	},
	New: func(a algo.Args) (algo.Batch, error) {
		refine, err := strconv.ParseBool(a["refine"])
		return far{refine}, err
	},
})

// far is FAR (Family of Allocations and Repartitioning): phase 1 lists allocations
// of sizes to tasks (family.go), phase 2 schedules them on the repartitioning tree
// and takes the one of least makespan (repartition.go), phase 3 moves and swaps
// tasks (refine.go). A problem with several GPUs has several trees (FAR 3.2).
//
// FAR plans for an empty GPU: instances that exist at the start and release times
// are respected when the plan is timed, not when it is made.
type far struct{ refine bool }

func (f far) Schedule(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
	plan := farPlan(p)
	best := run(p, plan.asFound())
	if !f.refine {
		return best, nil
	}
	s, r := refineFAR(p, plan, &best)
	s.Counters = map[string]int{}
	s.Counters["moves"], s.Counters["swaps"] = r.count()
	return s, nil
}

// farPlan runs phases 1 and 2.
func farPlan(p algo.Problem) *treePlan {
	r := newRepartitioner(p, newFamily(p))
	k, makespan := r.best()
	plan := newTreePlan(r.forest)
	r.makespan(k, makespan, planRecorder{plan, p})
	return plan
}

// refineFAR runs phase 3 on a plan whose schedule is given and returns the best
// schedule on the way. The refinement reckons without the reconfiguration that its
// changes add or save; so every iteration's plan is timed, and changes after the
// best one are taken back. The released code keeps the last plan, better or worse.
func refineFAR(p algo.Problem, plan *treePlan, found *schedule.Schedule) (schedule.Schedule, *refinement) {
	r := &refinement{plan: plan, end: sliceEnds(p, found)}
	best, kept := *found, 0
	keepBetter := func() {
		if s := run(p, plan.uses(forward, 0)); s.Makespan() < best.Makespan() {
			best, kept = s, len(r.log)
		}
	}
	keepBetter()
	r.improve(refinementIterations, keepBetter)
	r.undo(kept)
	return best, r
}

// sliceEnds returns, by compute slice of all GPUs, when its last task ends.
func sliceEnds(p algo.Problem, s *schedule.Schedule) []float64 {
	k := int(p.GPU.ComputeSlices)
	end := make([]float64, k*p.GPUs())
	for i := range s.Placements {
		pl := &s.Placements[i]
		for c := range int(pl.Instance.Size()) {
			at := &end[pl.GPU*k+int(pl.Instance.Start)+c]
			*at = max(*at, float64(pl.End))
		}
	}
	return end
}
