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
func Chains(p algo.Problem, limit mig.Seconds) mig.Seconds { return solveChains(p, limit, false) }

// ChainOrders is the chain-orders term, or the limit if that is less.
func ChainOrders(p algo.Problem, limit mig.Seconds) mig.Seconds { return solveChains(p, limit, true) }

// SearchOptimum is the optimum of one GPU, or the makespan of a known schedule if that is less, by the search alone.
func SearchOptimum(p algo.Problem, known mig.Seconds) (mig.Seconds, error) {
	s := newSearch(context.Background(), &p, known)
	err := s.visit(&state{stateKey: stateKey{left: 1<<len(p.Tasks) - 1}})
	return min(s.best, known), err
}

func solveChains(p algo.Problem, limit mig.Seconds, orders bool) mig.Seconds {
	s := newSliceWeights(&p)
	s.maximize(mig.Seconds(math.Inf(1)))
	c := newChainSearch(context.Background(), &p, s.weights, limit)
	c.orders = orders
	bound, _ := c.solve()
	return bound
}

// AcceptedAtMost is the bound of the registered algorithm.
var AcceptedAtMost = offline{}.AcceptedAtMost
