package bounds

import (
	"context"
	"slices"

	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// MaxSearched is the largest batch that [Exact] searches, and the largest of which
// package certificate verifies a search. One task more takes the one some five times
// as long and the other, which searches plainly, fifty times.
const MaxSearched = 6

// A Result is the best schedule known, and what every schedule takes at least.
type Result struct {
	// Lower is a lower bound on the makespan of every schedule that the referee
	// accepts, in seconds, and Witness says why.
	Lower   mig.Seconds
	Witness Witness
	// Best is the best schedule known.
	Best schedule.Schedule
	// Proven says that Best is optimal: its makespan exceeds Lower by no more than
	// 1e-9 of it.
	Proven bool
}

// Exact returns the best schedule and proves that none is better, or how much better
// one can be at most. known is a schedule of the problem from which it starts.
//
// Where the bound of [Prove] does not reach the best makespan, one GPU without
// release times and with at most [MaxSearched] tasks is searched: all schedules that the
// referee accepts, those that merge instances again included, under every
// reconfiguration model and from any start partition. It takes milliseconds. Larger
// problems, several GPUs and release times are not searched: Best is known then.
//
// The error says what is wrong with the known schedule (a [*schedule.InvalidError])
// or with the tasks, or is that of the context.
func Exact(ctx context.Context, p algo.Problem, known schedule.Schedule) (Result, error) {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return Result{}, err
	}
	m, err := schedule.Measure(p, known)
	if err != nil {
		return Result{}, err
	}
	w, err := Prove(p, m.Makespan)
	if err != nil {
		return Result{}, err
	}
	r := Result{Lower: w.Bound, Witness: w, Best: known, Proven: m.Makespan-w.Bound <= tolerance(m.Makespan)}
	waits := slices.ContainsFunc(p.Release, func(t mig.Seconds) bool { return t > 0 })
	if r.Proven || len(p.Tasks) > MaxSearched || p.GPUs() > 1 || waits {
		return r, nil
	}
	x := newSearch(ctx, &p, m.Makespan)
	if err := x.run(); err != nil {
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
