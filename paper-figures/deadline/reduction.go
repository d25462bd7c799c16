package deadline

import (
	"miglab/harness/stats"
	figures "miglab/paper-figures"
)

// reduction returns by how many percent the mean of values is below the mean of base, as in
// Table 8. The interval is that of the ratio, linearised at the two means. The values are
// paired by episode, so the difficulty of an episode cancels out.
func reduction(values, base []float64) (figures.Measurement, error) {
	if len(values) != len(base) {
		return figures.Measurement{}, &stats.LengthError{A: len(values), B: len(base)}
	}
	own, err := stats.Summarize(values)
	if err != nil {
		return figures.Measurement{}, err
	}
	theirs, err := stats.Summarize(base)
	if err != nil {
		return figures.Measurement{}, err
	}
	ratio := own.Mean / theirs.Mean
	each := make([]float64, len(values))
	for i := range each {
		each[i] = 100 * (1 - ratio - (values[i]-float64(ratio*base[i]))/theirs.Mean)
	}
	return figures.MeanOf(each, evaluation)
}

// difference is the mean of values less base, paired by episode.
func difference(values, base []float64) (figures.Measurement, error) {
	v, err := stats.Differences(values, base)
	if err != nil {
		return figures.Measurement{}, err
	}
	return figures.MeanOf(v, evaluation)
}

// negative turns a gain into a loss.
func negative(m figures.Measurement) figures.Measurement {
	return figures.Measurement{Value: -m.Value, Low: -m.High, High: -m.Low, SE: m.SE}
}
