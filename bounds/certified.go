package bounds

import (
	"context"
	"math"

	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A Witness says why no schedule is faster than a bound. [certificate.Verify] checks it with code of its own.
type Witness = certificate.Witness

// Prove returns the largest of four lower bounds on the makespan of every schedule that the referee accepts, as a
// witness. Of equal bounds it returns the simplest argument. The bounds hold for all reconfiguration models and release
// times. Package certificate proves each. They are computed with rounding; slice weights and task prices are verified
// exactly before they count:
//
//   - [certificate.Area], in areaterm.go;
//   - [certificate.SliceWeights], in sliceweights.go;
//   - [certificate.TaskPrices], in prices.go, for several GPUs and more than [MaxChainTasks] tasks; [Exact] also
//     tries them for one GPU, where they take seconds and gain less;
//   - [certificate.Chains], in chains.go, for at most [MaxChainTasks] tasks.
//
// The search for task prices is repeated as long as it raises the bound to the limit that it tries. This is slow if the
// other bounds are low.
//
// atMost is the makespan of a known schedule in seconds; +Inf means that no schedule is known. The bound exceeds it by
// no more than rounding, and chains are found faster.
//
// Where tasks can be stopped or GPUs hold instances at the start, only the area is used. The proofs of the other terms
// assume that a task runs on one instance, which is created first.
//
// The error is the error of [task.Batch.Validate] for invalid tasks, or the context's error.
func Prove(ctx context.Context, p algo.Problem, atMost mig.Seconds) (Witness, error) {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return Witness{}, err
	}
	best := Witness{Kind: certificate.Area, Bound: areaTerm(&p)}
	if areaOnly(&p) {
		return best, nil
	}
	weights := newSliceWeights(&p)
	best = higher(p, best, weights.prove(best.Bound))
	if p.GPUs() > 1 {
		best = weights.raise(ctx, best, atMost)
	}
	chained := weights.chains(ctx, best.Bound, atMost, false)
	if chained > best.Bound {
		best = Witness{Kind: certificate.Chains, Bound: chained}
	}
	return best, ctx.Err()
}

// areaOnly reports whether the area is the only bound that is proven for a problem.
func areaOnly(p *algo.Problem) bool { return p.Restart > 0 || len(p.Start) > 0 }

// higher returns the second witness if its bound is higher and its proof is valid, else the first.
func higher(p algo.Problem, w, other Witness) Witness {
	if other.Bound > w.Bound && certificate.VerifyWitness(p, other) == nil {
		return other
	}
	return w
}

// raise raises a bound by task prices. It tries again while the prices reach the limit that they try.
func (s *sliceWeights) raise(ctx context.Context, best Witness, atMost mig.Seconds) Witness {
	p := s.problem
	if len(p.Tasks) <= MaxChainTasks {
		return best
	}
	for range priceRounds {
		if best.Bound >= atMost {
			break
		}
		w := s.prices(ctx, min(atMost, horizon*best.Bound), priceSteps, priceCells)
		before := best.Bound
		best = higher(*p, best, w)
		if best.Bound == before || w.Cells < priceCells {
			break
		}
	}
	return best
}

// Certified returns the bound of [Prove], in seconds.
func Certified(ctx context.Context, p algo.Problem) (mig.Seconds, error) {
	w, err := Prove(ctx, p, mig.Seconds(math.Inf(1)))
	return w.Bound, err
}

var _ = register("certified", 7, true,
	"after DRL 5.2, with idling and reconfiguration charged so that a proof holds; configuration LP and chains: own",
	"the largest of area, slice weights, task prices and chains; proven", certified{Certified})
