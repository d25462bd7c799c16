package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Confidence is the level of all intervals.
const Confidence = 0.95

// RoundingError is the relative difference up to which two results count as equal, because they are sums in different
// orders, and up to which a result may lie on the wrong side of its bound. Rounding changes a sum of a million terms of
// one sign by about 1e-10 of it at most. Package schedule compares instants, more exactly.
const RoundingError = 1e-9

// ErrNoValues is the error for an empty sample.
var ErrNoValues = errors.New("there are no values to summarise")

// Summary describes a sample. All numbers have the unit of the values.
type Summary struct {
	N         int // the number of values, at least 1
	Mean      float64
	Low, High float64 // of the 95 % confidence interval of the mean; NaN for a single value
	StdDev    float64 // the sample standard deviation, with n-1 in the denominator; NaN for a single value
	// StdErr is the standard error of the mean, StdDev over the root of N; NaN for a single value.
	StdErr           float64
	Median, Min, Max float64
}

// Summarize describes the values. Their order changes the result only by rounding. It returns [ErrNoValues] for an
// empty sample, and an error for a value that is not finite or for values so large that their deviation overflows.
func Summarize(values []float64) (Summary, error) {
	sorted, err := sortFinite(values)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{N: len(values), Median: quantile(sorted, 0.5), Min: sorted[0], Max: sorted[len(sorted)-1]}
	if s.N == 1 {
		nan := math.NaN()
		s.Mean, s.Low, s.High, s.StdDev, s.StdErr = values[0], nan, nan, nan, nan
		return s, nil
	}
	s.Mean, s.StdDev = MeanStdDev(values)
	if s.Min == s.Max {
		// The values are equal; rounding in the sum could show a deviation.
		s.Mean, s.StdDev = s.Min, 0
	}
	if math.IsInf(s.Mean, 0) || math.IsNaN(s.StdDev) || math.IsInf(s.StdDev, 0) {
		return Summary{}, fmt.Errorf("the standard deviation is %v; it must be finite; scale the values down", s.StdDev)
	}
	s.StdErr = s.StdDev / math.Sqrt(float64(s.N))
	// By Student's t, the mean lies in the interval with the probability [Confidence].
	half := float64(StudentQuantile(s.N-1, 1-tail) * s.StdErr)
	s.Low, s.High = s.Mean-half, s.Mean+half
	return s, nil
}

// Quantile returns the value below which the share q of the values lies: the least for 0 and the greatest for 1.
// Between two values it interpolates linearly, as R's type 7 and NumPy's default do. It returns [ErrNoValues] for an
// empty sample, and an error for q outside 0 to 1 or a value that is not finite.
func Quantile(values []float64, q float64) (float64, error) {
	if !(q >= 0 && q <= 1) {
		return 0, fmt.Errorf("the quantile is %v; it must be from 0 to 1", q)
	}
	sorted, err := sortFinite(values)
	if err != nil {
		return 0, err
	}
	return quantile(sorted, q), nil
}

// quantile returns the [Quantile] of values in ascending order.
func quantile(sorted []float64, q float64) float64 {
	at := float64(q * float64(len(sorted)-1))
	i := int(at)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	low, high := sorted[i], sorted[i+1]
	// Two half steps, since the whole one could overflow. Unlike a weighted sum this
	// never decreases as q grows. Rounding may exceed high, hence the minimum.
	step := float64((at - float64(i)) * (float64(high/2) - float64(low/2)))
	return min(low+step+step, high)
}

// sortFinite returns the values in ascending order. It does not change the argument.
func sortFinite(values []float64) ([]float64, error) {
	if len(values) == 0 {
		return nil, ErrNoValues
	}
	if err := finite(values); err != nil {
		return nil, err
	}
	return slices.Sorted(slices.Values(values)), nil
}

// finite returns an error for a value that is NaN or infinite.
func finite(values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("value number %d is %v; it must be a finite number", i+1, v)
		}
	}
	return nil
}
