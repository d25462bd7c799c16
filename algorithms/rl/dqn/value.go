package dqn

import (
	"math"
	"math/rand/v2"
)

// drawIndex draws an index of a true value, all equally likely. It panics if there is none, which breaks the contract
// of an environment.
func drawIndex(mask []bool, rng *rand.Rand) int {
	n := 0
	for _, ok := range mask {
		if ok {
			n++
		}
	}
	if n == 0 {
		panic("dqn: an environment allows no action")
	}
	j := -1
	for skip := rng.IntN(n); skip >= 0; {
		if j++; mask[j] {
			skip--
		}
	}
	return j
}

// huber returns the Huber loss of an error, squared up to 1 and linear beyond, and its derivative.
func huber(miss float64) (loss, slope float64) {
	if a := math.Abs(miss); a > 1 {
		return a - 0.5, math.Copysign(1, miss)
	}
	return miss * miss / 2, miss
}
