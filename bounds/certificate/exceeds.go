package certificate

import (
	"fmt"
	"math/big"
)

// A bound of b s says that no schedule takes less than (1 - slack) b s. The slack is
// slackParts in slackWhole: times of schedules are sums of floating-point numbers, each of which was rounded.
const slackParts, slackWhole = 1, 1_000_000_000

// Exceeds reports whether a is greater than b by more than the slack of bounds: (1 - 1e-9) a > b, computed exactly.
// Neither may be negative. It is true if one of them is not a number. A lower bound that exceeds the value of a valid
// schedule, and a valid value that exceeds an upper bound, are contradictions.
func Exceeds[T ~float64](a, b T) bool {
	if a != a || b != b {
		return true
	}
	// The products have 53 and 30 bits, so that nothing is rounded.
	times := func(x T, n float64) *big.Float {
		return new(big.Float).SetPrec(128).Mul(big.NewFloat(float64(x)), big.NewFloat(n))
	}
	return a > b && times(a, slackWhole-slackParts).Cmp(times(b, slackWhole)) > 0
}

// A ContradictionError says that a claimed bound lies above the value of a valid schedule.
type ContradictionError struct{ Bound, Known float64 }

func (e *ContradictionError) Error() string {
	return fmt.Sprintf("a lower bound of %v s contradicts a valid schedule of %v s: one of them is false", e.Bound,
		e.Known)
}

// CheckKnown compares a lower bound with the makespan of a valid schedule. The error is a [*ContradictionError].
func CheckKnown[T ~float64](bound, makespan T) error {
	if Exceeds(bound, makespan) {
		return &ContradictionError{float64(bound), float64(makespan)}
	}
	return nil
}
