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

// The kinds of error rows, beside [store.KindPanic]. An [algo.Failure] names its kind itself.
const (
	// KindInfeasible is an [*algo.InfeasibleError]: the algorithm's rules leave a task without a place.
	KindInfeasible = "infeasible"
	KindInvalid    = "invalid" // an answer that the referee rejects
	KindFailed     = "failed"  // any other error of the algorithm
)

// panicError says that an algorithm panicked.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// solve runs the algorithm on an instance and checks the answer. It returns a panic of the algorithm as a [panicError].
func (t *Trial) solve(ctx context.Context, in task.Payload, index int) (a track.Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError{v}
		}
	}()
	return t.track.Solve(ctx, t.algorithm, t.problem(in, instanceSeed(&t.Series, index)))
}

// An input is a generated instance.
type input struct {
	index   int
	payload task.Payload
}

// groupSize returns the number of instances that the algorithm solves at once; 1 if one after the other.
func (t *Trial) groupSize() int {
	if t.track.SolveTogether == nil {
		return 1
	}
	return max(t.algorithm.Spec.Together, 1)
}

// solveTogether runs the algorithm on several instances at once. It returns nil if the caller must
// solve them one by one: there is only one, ctx is done, or an instance fails. Solving each alone
// then shows which instance fails, and why.
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
		problems[i] = t.problem(in.payload, instanceSeed(&t.Series, in.index))
	}
	answers, err := t.track.SolveTogether(ctx, t.algorithm, problems)
	if err != nil {
		return nil
	}
	return answers
}

// problem adds the conditions of the series to an instance.
func (t *Trial) problem(in task.Payload, seed uint64) track.Problem {
	return track.Problem{GPU: t.gpu, Count: t.Series.Count, Model: t.model, Seed: seed, Payload: in}
}

// instanceSeed returns the seed of an instance, a hash of the dataset, the GPU and the index. It is the same for
// every algorithm.
func instanceSeed(s *store.Series, index int) uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", s.Dataset, s.GPU, index))
	return binary.LittleEndian.Uint64(h[:8])
}

// storedMetrics returns the metrics for the store, without those that are NaN.
func storedMetrics(ms []track.Metric) store.Metrics {
	out := make(map[string]float64, len(ms))
	for _, m := range ms {
		if !math.IsNaN(m.Value) {
			out[m.Name] = m.Value
		}
	}
	return store.NewMetrics(out)
}

// errorKind returns the kind of the error row for an error of [Trial.solve].
func errorKind(err error) string {
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
		return store.KindPanic
	}
	return KindFailed
}
