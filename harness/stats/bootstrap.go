package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Resamples is how often [Bootstrap] draws from the values.
const Resamples = 10_000

// Bootstrap returns the interval in which the mean lies with the probability
// [Confidence], as the quantiles of the means of [Resamples] samples drawn from the
// values with replacement (Efron and Tibshirani, An Introduction to the Bootstrap,
// 13.3). The same values in the same order and the same seed give the same interval.
//
// It asks nothing of the values' distribution, but of few values, fewer than about
// ten, it is too narrow: it then holds the mean less often than it says. A single
// value has no interval; low and high are NaN.
//
// Errors are [ErrNoValues], a [*ValueError], and a [*RangeError] where the values are
// so large that their sums are not finite.
func Bootstrap(values []float64, seed uint64) (low, high float64, err error) {
	if len(values) == 0 {
		return 0, 0, ErrNoValues
	}
	if err := finite(values); err != nil {
		return 0, 0, err
	}
	if len(values) == 1 {
		return math.NaN(), math.NaN(), nil
	}
	if least := slices.Min(values); least == slices.Max(values) {
		return least, least, nil // not what sums round to
	}
	random := rand.NewPCG(seed, 0)
	n := uint64(len(values))
	means := make([]float64, Resamples)
	for i := range means {
		// Each half of a random number draws a value; that some are drawn more often than
		// others, by n in 2³², is far below what resampling can show.
		var a, b float64
		for range n / 2 {
			u := random.Uint64()
			a += values[(u>>32)*n>>32]
			b += values[(u&math.MaxUint32)*n>>32]
		}
		if n%2 == 1 {
			a += values[(random.Uint64()>>32)*n>>32]
		}
		means[i] = (a + b) / float64(n)
		if math.IsNaN(means[i]) || math.IsInf(means[i], 0) {
			return 0, 0, &RangeError{"the mean of a resample", means[i], "finite; scale the values down"}
		}
	}
	slices.Sort(means)
	const tail = (1 - Confidence) / 2
	return quantile(means, tail), quantile(means, 1-tail), nil
}
