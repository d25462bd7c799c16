package run

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"miglab/harness/algo"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
)

// The kinds of error rows. An [algo.Failure] names its kind itself.
const (
	// KindInfeasible is an [*algo.InfeasibleError]: the algorithm's rules leave a task without a place.
	KindInfeasible = "infeasible"
	// KindInvalid is an answer that the referee rejects.
	KindInvalid = "invalid"
	// KindPanic is a panic of the algorithm.
	KindPanic = "panic"
	// KindFailed is any other error that the algorithm returned.
	KindFailed = "failed"
)

// panicError says that an algorithm panicked.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// solve runs the algorithm on an instance and has the answer checked.
func (t *Trial) solve(ctx context.Context, in task.Payload, index int) (a track.Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError{v}
		}
	}()
	return t.track.Solve(ctx, t.algorithm, t.problem(in, seedOf(&t.Series, index)))
}

// An input is a generated instance.
type input struct {
	index   int
	payload task.Payload
}

// together is how many instances the algorithm solves at once; 1 if one after the other.
func (t *Trial) together() int {
	if t.track.SolveTogether == nil {
		return 1
	}
	return max(t.algorithm.Spec.Together, 1)
}

// solveTogether runs the algorithm on several instances at once. It returns nil if they are
// to be solved one by one: there is only one, ctx is done, or an instance fails. Solving it
// alone then says how.
func (t *Trial) solveTogether(ctx context.Context, inputs []input) (answers []track.Answer) {
	if len(inputs) == 1 || ctx.Err() != nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			answers = nil
		}
	}()
	problems := make([]track.Problem, len(inputs))
	for i, in := range inputs {
		problems[i] = t.problem(in.payload, seedOf(&t.Series, in.index))
	}
	answers, err := t.track.SolveTogether(ctx, t.algorithm, problems)
	if err != nil {
		return nil
	}
	return answers
}

// problem puts an instance under the series' conditions.
func (t *Trial) problem(in task.Payload, seed uint64) track.Problem {
	return track.Problem{GPU: t.gpu, Count: t.Series.Count, Model: t.model, Seed: seed, Payload: in}
}

// seedOf is the seed of an instance: it hangs on what names the instance, and is the same for
// every algorithm.
func seedOf(s *store.Series, index int) uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", s.Dataset, s.GPU, index))
	return binary.LittleEndian.Uint64(h[:8])
}

// metricsOf leaves out metrics that are no number.
func metricsOf(ms []track.Metric) store.Metrics {
	out := make(map[string]float64, len(ms))
	for _, m := range ms {
		if !math.IsNaN(m.Value) {
			out[m.Name] = m.Value
		}
	}
	return store.NewMetrics(out)
}

// kindOf classifies the error of a cell that the caller did not cut short.
func kindOf(err error) string {
	var (
		failure    algo.Failure
		infeasible *algo.InfeasibleError
		invalid    *track.InvalidError
		panicked   panicError
	)
	switch {
	case errors.As(err, &failure):
		return failure.FailureKind()
	case errors.As(err, &infeasible):
		return KindInfeasible
	case errors.As(err, &invalid):
		return KindInvalid
	case errors.As(err, &panicked):
		return KindPanic
	}
	return KindFailed
}
