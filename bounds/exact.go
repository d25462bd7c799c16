package bounds

import (
	"context"
	"slices"

	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// MaxSearched is the largest batch for which [Exact] searches and package certificate verifies a search. With one more
// task, Exact takes about five times as long and the plain search of the verification fifty times.
const MaxSearched = 6

// A Result is the best known schedule and a lower bound.
type Result struct {
	// Lower is a lower bound on the makespan of every schedule that the referee accepts, in seconds. Witness proves it.
	Lower   mig.Seconds
	Witness Witness
	// Best is the best known schedule.
	Best schedule.Schedule
	// Proven means that Best is optimal: its makespan exceeds Lower by no more than 1e-9 of the makespan.
	Proven bool
}

// Exact returns the best schedule and proves that none is better, or how much better one
// can be at most. It starts from a known schedule of the problem.
//
// If the bound of [Prove] does not reach the known makespan, Exact searches all schedules that the referee accepts,
// including those that merge instances, under every reconfiguration model and from any start partition. This takes
// milliseconds. It only searches problems with one GPU, without release times and with at most [MaxSearched] tasks. For
// other problems Best is the known schedule.
//
// The error says what is wrong with the known schedule (a [*schedule.InvalidError]) or with
// the tasks, or it is the context's error.
func Exact(ctx context.Context, p algo.Problem, known schedule.Schedule) (Result, error) {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return Result{}, err
	}
	m, err := schedule.Measure(p, known)
	if err != nil {
		return Result{}, err
	}
	w, err := Prove(ctx, p, m.Makespan)
	if err != nil {
		return Result{}, err
	}
	r := Result{Lower: w.Bound, Witness: w, Best: known, Proven: m.Makespan-w.Bound <= tolerance(m.Makespan)}
	waits := slices.ContainsFunc(p.Release, func(t mig.Seconds) bool { return t > 0 })
	if r.Proven || len(p.Tasks) > MaxSearched || p.GPUs() > 1 || waits {
		return r, nil
	}
	x := newSearch(ctx, &p, m.Makespan)
	if err := x.assign(0, state{stateKey: stateKey{left: 1<<len(p.Tasks) - 1}}); err != nil {
		return Result{}, err
	}
	if x.best < m.Makespan {
		r.Best = x.schedule()
	}
	r.Lower, r.Proven = r.Best.Makespan(), true
	r.Witness = Witness{Kind: certificate.Search, Bound: r.Lower}
	return r, nil
}

// tolerance is the difference between makespans that counts as none.
func tolerance(makespan mig.Seconds) mig.Seconds { return mig.Seconds(1e-9 * float64(makespan)) }
