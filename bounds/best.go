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

// Best searches for a schedule until the budget is spent or a schedule is proven optimal. It returns the certificate of
// the best schedule found (see [Exact]). It begins with treedp, or with lns if the batch is too large for treedp, and
// then runs lns with ever more iterations. The program must import package algorithms, which registers both. The
// errors of both and of [Exact] are returned unchanged.
func Best(ctx context.Context, p schedule.Problem, budget time.Duration) (r certificate.Certificate, err error) {
	searching, stop := context.WithTimeout(ctx, budget)
	defer stop()
	known, err := algo.MustParse("treedp").Schedule(ctx, p)
	iterations := 1000 // the default of lns
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
	for ; !r.Proven && searching.Err() == nil && iterations <= 1e9; iterations *= 2 { // lns refuses more
		next, err := algo.MustParse(fmt.Sprintf("lns?iterations=%d", iterations)).Schedule(searching, p)
		if searching.Err() != nil && ctx.Err() == nil {
			return r, nil // the budget is spent; the interrupted search returned no schedule
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
