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

// Exact improves a known schedule if it can, and returns it with a proof of how much shorter a schedule can be.
//
// For one GPU that is empty at the start and whose tasks cannot be stopped it adds [certificate.ChainOrders] and task
// prices, which take seconds, to the terms of [Prove]. If the bound reaches the known makespan, the known schedule is
// proven. If not, and if such a GPU has no release time and at most [MaxSearched] tasks, Exact searches all schedules
// that the referee accepts, including those that merge instances, under every reconfiguration model. In all other cases
// it returns the known schedule, and Proven is false.
//
// The error is a [*schedule.InvalidError] for the known schedule, an error of [task.Batch.Validate], or the context's.
func Exact(ctx context.Context, p algo.Problem, known schedule.Schedule) (certificate.Certificate, error) {
	var none certificate.Certificate
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return none, err
	}
	m, err := schedule.Measure(p, known)
	if err != nil {
		return none, err
	}
	w, err := Prove(ctx, p, m.Makespan)
	if err != nil {
		return none, err
	}
	one := p.GPUs() == 1 && !areaOnly(&p)
	if one {
		weights := newSliceWeights(&p)
		weights.prove(w.Bound) // w is at least this witness; raise and chains need the weights that it leaves
		w = weights.raise(ctx, w, m.Makespan)
		ordered := weights.chains(ctx, w.Bound, m.Makespan, true)
		if ordered > w.Bound {
			w = Witness{Kind: certificate.ChainOrders, Bound: ordered}
		}
		if err := ctx.Err(); err != nil {
			return none, err
		}
	}
	c := certificate.New(known, w)
	if c.Proven || len(p.Tasks) > MaxSearched || !one || released(&p) {
		return c, nil
	}
	s := newSearch(ctx, &p, m.Makespan)
	if err := s.visit(&state{stateKey: stateKey{left: 1<<len(p.Tasks) - 1}}); err != nil {
		return none, err
	}
	if s.best < m.Makespan {
		known = s.schedule()
	}
	return certificate.New(known, Witness{Kind: certificate.Search, Bound: known.Makespan()}), nil
}

func released(p *algo.Problem) bool {
	return slices.ContainsFunc(p.Release, func(t mig.Seconds) bool { return t > 0 })
}
