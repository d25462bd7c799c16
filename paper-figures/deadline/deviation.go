package deadline

import (
	"math"
	"slices"

	figures "miglab/paper-figures"
)

// deviation is the population standard deviation of an evaluation, the one that the
// report prints, with the jackknife's interval: tardiness has a heavy tail, and an
// interval for normal values would be too narrow.
func deviation(values []float64) (figures.Measurement, error) {
	sd := populationSD(values)
	n := float64(len(values))
	pseudo := make([]float64, len(values))
	rest := make([]float64, 0, len(values))
	for i := range values {
		rest = append(append(rest[:0], values[:i]...), values[i+1:]...)
		pseudo[i] = n*sd - (n-1)*populationSD(rest)
	}
	m, err := figures.MeanOf(pseudo, len(values))
	if err != nil {
		return figures.Measurement{}, err
	}
	half := m.High - m.Value
	return figures.Measurement{Value: sd, Low: math.Max(0, sd-half), High: sd + half, SE: m.SE}, nil
}

// deviations is the mean of the population standard deviations of many evaluations.
// Over all their episodes at once it would be larger: the few very bad days of a
// thousand are in hardly any evaluation of ten.
func deviations(values []float64) (figures.Measurement, error) {
	var each []float64
	for part := range slices.Chunk(values, evaluation) {
		each = append(each, populationSD(part))
	}
	return figures.MeanOf(each, 1)
}

func populationSD(values []float64) float64 {
	n := float64(len(values))
	mean := 0.0
	for _, v := range values {
		mean += v / n
	}
	sum := 0.0
	for _, v := range values {
		// The conversion rounds the product, which keeps it from being fused with the sum.
		sum += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(sum / n)
}
