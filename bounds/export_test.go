package bounds

import (
	"math"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// The terms of [Prove], for tests of each alone.

func Occupied(p algo.Problem) mig.Seconds { return occupied(&p) }

func Longest(p algo.Problem) mig.Seconds { return newOptions(&p).longest() }

func SliceWeights(p algo.Problem) Witness { return newSliceWeights(&p, newOptions(&p)).prove(0) }

// Chains is the chains term, or the limit if that is less.
func Chains(p algo.Problem, limit mig.Seconds) mig.Seconds {
	s := newSliceWeights(&p, newOptions(&p))
	s.maximize(mig.Seconds(math.Inf(1)))
	bound, _ := newChainSearch(&p, s.weights, limit).solve()
	return bound
}
