package bounds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// Best returns the best schedule that it finds and what proves how good it is ([Exact]). It takes the schedule of
// treedp, or of lns if the batch is too large for it. Until the budget is spent or a schedule is proven to be
// optimal, it runs lns with ever more iterations. The program must import package algorithms. Errors are those of the
// two algorithms and of [Exact].
func Best(ctx context.Context, p schedule.Problem, budget time.Duration) (r certificate.Certificate, err error) {
	searching, stop := context.WithTimeout(ctx, budget)
	defer stop()
	known, err := algo.MustParse("treedp").Schedule(ctx, p)
	iterations := 1000 // as lns has by default
	if _, many := errors.AsType[*algo.InfeasibleError](err); many {
		known, err = algo.MustParse("lns").Schedule(ctx, p)
		iterations *= 2
	}
	if err != nil {
		return r, err
	}
	if r, err = Exact(ctx, p, known); err != nil {
		return r, err
	}
	for ; !r.Proven && searching.Err() == nil && iterations <= 1e9; iterations *= 2 { // lns takes no more
		next, err := algo.MustParse(fmt.Sprintf("lns?iterations=%d", iterations)).Schedule(searching, p)
		if searching.Err() != nil && ctx.Err() == nil {
			return r, nil // the time is spent, and the search that was cut off gave no schedule
		}
		if err != nil {
			return r, err
		}
		if next.Makespan() >= r.Makespan {
			continue
		}
		if r, err = Exact(ctx, p, next); err != nil {
			return r, err
		}
	}
	return r, nil
}
