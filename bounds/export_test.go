package bounds

import (
	"context"
	"math"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// The terms of [Prove], for tests of each alone.

func Occupied(p algo.Problem) mig.Seconds { return areaTerm(&p) }

func SliceWeights(p algo.Problem) Witness { return newSliceWeights(&p).prove(0) }

// TaskPrices is the task-prices term, or the limit if that is less, after little search.
func TaskPrices(p algo.Problem, limit mig.Seconds) Witness {
	s := newSliceWeights(&p)
	s.maximize(mig.Seconds(math.Inf(1)))
	return s.prices(context.Background(), limit, 40, 512)
}

// Chains is the chains term, or the limit if that is less.
func Chains(p algo.Problem, limit mig.Seconds) mig.Seconds {
	s := newSliceWeights(&p)
	s.maximize(mig.Seconds(math.Inf(1)))
	bound, _ := newChainSearch(context.Background(), &p, s.weights, limit).solve()
	return bound
}

// AcceptedAtMost is the bound of the registered algorithm.
var AcceptedAtMost = offline{}.AcceptedAtMost
