package algorithms

import (
	"context"
	"fmt"

	"miglab/algorithms/plan"
	"miglab/harness/algo"
	"miglab/harness/schedule"
	"miglab/harness/spec"
)

// iterations returns the parameter for the number of iterations. The text more ends its description.
func iterations(more string) []algo.Param {
	return []algo.Param{{
		Name: "iterations", Default: "1000", Type: spec.Whole(0, 1e9),
		Doc: "iterations, each of which removes and re-inserts up to seven tasks; a whole number" + more,
	}}
}

func iterationBudget(a algo.Args) string { return a["iterations"] + " iterations" }

var _ = algo.Register(algo.Spec{
	Name: "lns", Version: 4, Cite: "ours; the search is that of Shaw, CP 1998",
	Summary: "large neighbourhood search from FAR's schedule: removes up to seven tasks and inserts them again",
	Params: iterations(fmt.Sprintf("; on several GPUs, three searches have as many for each pair of GPUs, and annealing has "+
		"%d steps for each iteration and GPU", plan.AnnealSteps)),
	Budget: iterationBudget,
	New:    algo.NewBatch(func(a algo.Args) (algo.Batch, error) { return lns{a.Int("iterations")}, nil }),
})

// lns starts from FAR's plan. Each iteration removes up to seven tasks, some of them from the instances that
// determine the makespan, re-inserts them, and times the result ([plan.Improve]). The insertion is optimal in a model
// that leaves out some waits. The budget is a number of iterations, so that answers do not depend on the machine.
// Several GPUs are searched in pairs ([plan.ImprovePairs]).
type lns struct{ iterations int }

func (l lns) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	improve := plan.Improve
	if p.GPUs() > 1 {
		improve = plan.ImprovePairs
	}
	out, _, err := improve(ctx, p, plan.Start(p), refinedFAR, l.iterations)
	return out, err
}

var _ = algo.Register(algo.Spec{
	Name: "lns-stream", Version: 2, Cite: "ours",
	Summary: fmt.Sprintf("every batch by treedp, or by lns's search if it has more than %d tasks, from the state that "+
		"earlier batches leave", plan.MaxTasks),
	Params: iterations(""),
	Budget: func(a algo.Args) string { return iterationBudget(a) + " for a large batch" },
	New:    algo.NewStream(func(a algo.Args) (algo.Stream, error) { return lnsStream{a.Int("iterations")}, nil }),
})

// lnsStream plans each batch for the instances that the batches before it leave and for the times at which slices
// become free. Thus a batch fills idle time of the batch before it and reuses its instances. It searches all GPUs at
// once. Unlike FAR's concatenation (concat.go), it reverses no schedule.
type lnsStream struct{ iterations int }

func (l lnsStream) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	out := schedule.Schedule{GPU: p.GPU, Model: p.Model}
	state := plan.Start(p)
	from := 0
	for _, n := range lengths {
		batch, before := nextBatch(p, state, from, n)
		var own schedule.Schedule
		var err error
		if n <= plan.MaxTasks {
			own, state, err = plan.Solve(ctx, batch, before, refinedFAR)
		} else {
			own, state, err = plan.Improve(ctx, batch, before, refinedFAR, l.iterations)
		}
		if err != nil {
			return schedule.Schedule{}, err
		}
		for _, pl := range own.Placements {
			pl.Task += from
			out.Placements = append(out.Placements, pl)
		}
		out.Operations = append(out.Operations, own.Operations...)
		from += n
	}
	return out, ctx.Err()
}
