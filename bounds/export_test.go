package bounds

import (
	"context"
	"math"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// The terms of [Prove], for tests of each alone.

func Occupied(p algo.Problem) mig.Seconds { return occupied(&p) }

func Longest(p algo.Problem) mig.Seconds { return newOptions(&p).longest() }

func SliceWeights(p algo.Problem) Witness { return newSliceWeights(&p, newOptions(&p)).prove(0) }

// Rounded is the rounded-weights term between 0.85 and 1.06 times the limit.
func Rounded(p algo.Problem, limit mig.Seconds) mig.Seconds {
	s := newSliceWeights(&p, newOptions(&p))
	s.maximize(mig.Seconds(math.Inf(1)))
	return s.rounded(context.Background(), mig.Seconds(0.85*float64(limit)), mig.Seconds(math.Inf(1))).Bound
}

// TaskPrices is the task-prices term, or the limit if that is less, after little search.
func TaskPrices(p algo.Problem, limit mig.Seconds) Witness {
	s := newSliceWeights(&p, newOptions(&p))
	s.maximize(mig.Seconds(math.Inf(1)))
	return s.prices(context.Background(), limit, 40, 512)
}

// Chains is the chains term, or the limit if that is less.
func Chains(p algo.Problem, limit mig.Seconds) mig.Seconds {
	s := newSliceWeights(&p, newOptions(&p))
	s.maximize(mig.Seconds(math.Inf(1)))
	bound, _ := newChainSearch(context.Background(), &p, s.weights, limit).solve()
	return bound
}
