package algotest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// looked is a context that ends when it is looked at for the second time.
type looked struct {
	context.Context
	times atomic.Int64
}

func (c *looked) Err() error {
	if c.times.Add(1) > 1 {
		return context.Canceled
	}
	return nil
}

// TestEveryScheduleEndsWithItsContext gives every algorithm more tasks than it schedules between two
// looks at its context, which ends at the second. An algorithm that takes fewer tasks gets as many as
// it takes.
func TestEveryScheduleEndsWithItsContext(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 45))
	many := algo.Problem{GPU: mig.MustLookup("A100")}
	for i := range 3000 {
		one := task.New(fmt.Sprint(i), nil)
		for _, size := range many.GPU.Sizes() {
			one.Set(size, mig.Seconds(gains(rng, size)))
		}
		many.Tasks = append(many.Tasks, one)
	}
	few := many
	few.Tasks = few.Tasks[:18]
	for _, a := range append(registered(t, algo.TrackBatch), registered(t, algo.TrackStream)...) {
		run := func(ctx context.Context, p algo.Problem) (s schedule.Schedule, err error) {
			if a.Spec.Track == algo.TrackBatch {
				return algotest.Batch.Run(ctx, a, p)
			}
			return algotest.Stream.Run(ctx, a, algotest.StreamProblem{Problem: p, Lengths: []int{len(p.Tasks)}})
		}
		ctx := &looked{Context: t.Context()}
		s, err := run(ctx, many)
		if _, infeasible := errors.AsType[*algo.InfeasibleError](err); infeasible {
			s, err = run(ctx, few)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s schedules %d of %d tasks, with the error %v, although its context ends at the second look; it has "+
				"looked %d times. Let its loop over the tasks call ctx.Err() at least every 1000 tasks and return that error",
				a.ID, len(s.Placements), len(many.Tasks), err, ctx.times.Load())
		}
	}
}
