package stats

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"miglab/harness/portable"
)

// Mean returns the mean of one or more values.
func Mean(values []float64) float64 { return portable.Sum(values) / float64(len(values)) }

// MeanStdDev returns the mean and the sample standard deviation of two or more values.
func MeanStdDev(values []float64) (mean, deviation float64) {
	mean, squares := squaresAround(values)
	return mean, math.Sqrt(squares / float64(len(values)-1))
}

// PopStdDev returns the population standard deviation of one or more values, with n in the denominator.
func PopStdDev(values []float64) float64 {
	_, squares := squaresAround(values)
	return math.Sqrt(squares / float64(len(values)))
}

// squaresAround returns the mean and the sum of the squared distances from it, by the corrected two-pass algorithm
// (1.7) of Chan, Golub and LeVeque (Algorithms for computing the sample variance, 1983).
func squaresAround(values []float64) (mean, squares float64) {
	mean = Mean(values)
	rest := 0.0
	for _, v := range values {
		d := v - mean
		squares += float64(d * d)
		rest += d
	}
	return mean, squares - float64(rest*rest/float64(len(values)))
}

// skew returns the sample skewness of three or more values that are not all equal; NaN for two values.
func skew(values []float64) float64 {
	mean, deviation := MeanStdDev(values)
	sum := 0.0
	for _, v := range values {
		z := (v - mean) / deviation
		sum += float64(z * z * z)
	}
	n := float64(len(values))
	return sum * (n / (n - 1) * (1 / (n - 2)))
}

// StudentQuantile returns the quantile p of Student's t distribution with so many degrees of freedom.
func StudentQuantile(freedom int, p float64) float64 {
	return roundDigits(distuv.StudentsT{Sigma: 1, Nu: float64(freedom)}.Quantile(p))
}

// NormalQuantile returns the quantile p of the standard normal distribution.
func NormalQuantile(p float64) float64 { return roundDigits(distuv.UnitNormal.Quantile(p)) }

// roundDigits rounds to twelve significant digits. Quantiles differ by processor in the last two of sixteen.
func roundDigits(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	return short
}
