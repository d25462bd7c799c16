package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/store"
	"miglab/harness/track"
)

// batchFunc and streamFunc are algorithms made of one function.
type (
	batchFunc  func(ctx context.Context, p algo.Problem) (schedule.Schedule, error)
	streamFunc func(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error)
	boundFunc  func(p algo.Problem) (mig.Seconds, error)
)

func (f batchFunc) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	calls.Add(1)
	return f(ctx, p)
}

func (f streamFunc) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	calls.Add(1)
	return f(ctx, p, lengths)
}

func (f boundFunc) Bound(_ context.Context, p algo.Problem) (mig.Seconds, error) {
	calls.Add(1)
	return f(p)
}

// calls counts how often an algorithm of this file was called.
var calls atomic.Int64

// mended says that test-mended panics no more.
var mended atomic.Bool

func register(name string, f batchFunc) {
	algo.Register(algo.Spec{
		Name: name, Version: 3,
		New: algo.NewBatch(func(algo.Args) (algo.Batch, error) { return f, nil }),
	})
}

// fifo runs the tasks one after the other on the largest instance.
func fifo(p algo.Problem) schedule.Schedule {
	sizes := p.GPU.Sizes()
	in, err := p.GPU.Instance(sizes[len(sizes)-1], 0)
	if err != nil {
		panic(err)
	}
	s := schedule.Schedule{GPU: p.GPU, Algorithm: "test-fifo", Model: p.Model}
	var now mig.Seconds
	if p.Model != mig.Free {
		now = in.Profile.Create
	}
	s.Operations = append(s.Operations, schedule.Operation{Op: schedule.Create, Instance: in, End: now})
	for i := range p.Tasks {
		end := now + p.Tasks[i].On(in.Size())
		s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: in, Start: now, End: end})
		now = end
	}
	return s
}

// slowCell is what a cell of test-slow takes.
const slowCell = 3 * time.Millisecond

func init() {
	register("test-fifo", func(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
		s := fifo(p)
		s.Counters = map[string]int{"tasks": len(p.Tasks), "first": 1}
		return s, nil
	})
	// test-vandal leaves its input in another order, as an algorithm that sorts would.
	register("test-vandal", func(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
		s := fifo(p)
		slices.Reverse(p.Tasks)
		return s, nil
	})
	register("test-panic", func(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
		panic(fmt.Sprintf("%d tasks", len(p.Tasks)))
	})
	register("test-mended", func(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
		if !mended.Load() {
			panic("not mended yet")
		}
		return fifo(p), nil
	})
	register("test-invalid", func(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
		s := fifo(p)
		s.Placements[0].End = s.Placements[0].Start
		return s, nil
	})
	register("test-counter", func(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
		s := fifo(p)
		s.Counters = map[string]int{track.MetricMakespan: 1}
		return s, nil
	})
	register("test-infeasible", func(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
		return schedule.Schedule{}, &algo.InfeasibleError{Algorithm: "test-infeasible", Task: p.Tasks[0].Name, Reason: "fits nothing"}
	})
	register("test-failing", func(context.Context, algo.Problem) (schedule.Schedule, error) {
		return schedule.Schedule{}, errors.New("no luck")
	})
	register("test-late", func(context.Context, algo.Problem) (schedule.Schedule, error) {
		return schedule.Schedule{}, lateError{errors.New("too late")}
	})
	register("test-endless", func(ctx context.Context, _ algo.Problem) (schedule.Schedule, error) {
		<-ctx.Done()
		return schedule.Schedule{}, ctx.Err()
	})
	register("test-slow", func(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
		time.Sleep(slowCell)
		return fifo(p), nil
	})
	algo.Register(algo.Spec{
		Name: "test-stream", Version: 1,
		New: algo.NewStream(func(algo.Args) (algo.Stream, error) {
			return streamFunc(func(_ context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
				s := fifo(p)
				s.Counters = map[string]int{"batches": len(lengths)}
				return s, nil
			}), nil
		}),
	})
	algo.Register(algo.Spec{
		Name: "test-bound", Version: 1, Params: []algo.Param{{Name: "of", Default: "longest"}},
		New: algo.NewBound(func(args algo.Args) (algo.Bound, error) {
			return boundFunc(func(p algo.Problem) (mig.Seconds, error) {
				if args["of"] == "nothing" {
					var zero mig.Seconds
					return zero / zero, nil
				}
				longest := slices.MaxFunc(fifo(p).Placements, func(a, b schedule.Placement) int { return cmp.Compare(a.End-a.Start, b.End-b.Start) })
				return longest.End - longest.Start, nil
			}), nil
		}),
	})
}

// lateError is that of an algorithm which took too long.
type lateError struct{ error }

func (e lateError) FailureKind() string { return store.KindTimeout }
func (e lateError) FailureText() string { return e.Error() }
