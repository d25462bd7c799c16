package track_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
	"miglab/harness/track"
)

// A recorder keeps the start of the problem that it is asked to solve.
type recorder struct{ start *[]schedule.Existing }

var errRecorded = errors.New("recorded")

func (r recorder) Schedule(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
	*r.start = p.Start
	return schedule.Schedule{}, errRecorded
}

func (r recorder) ScheduleStream(ctx context.Context, p algo.Problem, _ []int) (schedule.Schedule, error) {
	return r.Schedule(ctx, p)
}

func (r recorder) ScheduleTogether(ctx context.Context, p []algo.Problem, _ [][]int) ([]schedule.Schedule, error) {
	_, err := r.Schedule(ctx, p[0])
	return nil, err
}

func (r recorder) Bound(_ context.Context, p algo.Problem) (mig.Seconds, error) {
	*r.start = p.Start
	return 0, errRecorded
}

// TestStartReachesTheAlgorithm: what exists on the GPU at time 0 is part of the problem in every
// track of batches. A task that fits no instance does not.
func TestStartReachesTheAlgorithm(t *testing.T) {
	var got []schedule.Existing
	r := recorder{&got}
	algo.Register(algo.Spec{Name: "records-batch", Version: 1, New: algo.NewBatch(func(algo.Args) (algo.Batch, error) { return r, nil })})
	algo.Register(algo.Spec{Name: "records-stream", Version: 1, New: algo.NewStream(func(algo.Args) (algo.Stream, error) { return r, nil })})
	algo.Register(algo.Spec{Name: "records-bound", Version: 1, New: algo.NewBound(func(algo.Args) (algo.Bound, error) { return r, nil })})
	g := mig.MustLookup("A100")
	in := task.OneBatch(task.Batch{task.New("a", map[mig.Slices]mig.Seconds{1: 1})})
	in.Start = []task.Existing{{Instance: g.Partitions()[1][0], BusyUntil: 3}}
	for name, of := range map[string]*track.Track{"records-batch": track.Batch, "records-stream": track.Stream, "records-bound": track.Bound} {
		got = nil
		p := track.Problem{GPU: g, Count: 1, Payload: in}
		if _, err := of.Solve(context.Background(), algo.MustParse(name), p); !errors.Is(err, errRecorded) {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(got, in.Start) {
			t.Errorf("%s gets the start %v, want %v", name, got, in.Start)
		}
		if of == track.Bound {
			continue // it says so itself
		}
		got = nil
		p.Payload = task.Batches{Tasks: append(in.Tasks, task.New("no size", nil)), Lengths: []int{2}, Start: in.Start}
		_, err := of.Solve(context.Background(), algo.MustParse(name), p)
		_, together := of.SolveTogether(context.Background(), algo.MustParse(name), []track.Problem{p})
		for _, err := range []error{err, together} {
			if infeasible, ok := errors.AsType[*algo.InfeasibleError](err); !ok || infeasible.Algorithm != name || infeasible.Task != "no size" || got != nil {
				t.Errorf("%s is given a task that fits nothing: %v", name, err)
			}
		}
	}
}
