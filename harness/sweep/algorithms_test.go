package sweep

import (
	"context"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A boundFunc is a bound made of one function.
type boundFunc func(ctx context.Context, p algo.Problem) (mig.Seconds, error)

func (f boundFunc) Bound(ctx context.Context, p algo.Problem) (mig.Seconds, error) { return f(ctx, p) }

func register(name string, f boundFunc) {
	algo.Register(algo.Spec{Name: name, Version: 1, New: algo.NewBound(func(algo.Args) (algo.Bound, error) { return f, nil })})
}

// longest is the time of the longest task on the whole GPU.
func longest(p algo.Problem) (out mig.Seconds) {
	for i := range p.Tasks {
		out = max(out, p.Tasks[i].On(7))
	}
	return out
}

// afterCell is called after each cell of test-longest. Tests set it that run nothing
// else meanwhile.
var afterCell = func() {}

func init() {
	register("test-longest", func(_ context.Context, p algo.Problem) (mig.Seconds, error) {
		afterCell()
		return longest(p), nil
	})
	// test-picky fails on every other instance or so.
	register("test-picky", func(_ context.Context, p algo.Problem) (mig.Seconds, error) {
		if v := longest(p); int(v*1000)%2 == 0 {
			return v, nil
		}
		return 0, &algo.InfeasibleError{Algorithm: "test-picky", Task: p.Tasks[0].Name, Reason: "is odd"}
	})
	register("test-slow", func(ctx context.Context, p algo.Problem) (mig.Seconds, error) {
		select {
		case <-time.After(time.Second):
			return 2 * longest(p), nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
}
