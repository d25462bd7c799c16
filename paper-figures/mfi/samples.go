package mfi

import (
	"cmp"
	"slices"

	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
)

// each applies a function to the values of every instance.
func each(f func(v []float64) float64, columns ...[]float64) []float64 {
	out := make([]float64, len(columns[0]))
	row := make([]float64, len(columns))
	for i := range out {
		for j := range columns {
			row[j] = columns[j][i]
		}
		out[i] = f(row)
	}
	return out
}

// less returns scale times the paired differences a - b.
func less(a, b []float64, scale float64) []float64 {
	return each(func(v []float64) float64 { return scale * (v[0] - v[1]) }, a, b)
}

// highest and lowest return the sample with the highest and the lowest mean.
func highest(columns ...[]float64) []float64 {
	return slices.MaxFunc(columns, compareMeans)
}

func lowest(columns ...[]float64) []float64 {
	return slices.MinFunc(columns, compareMeans)
}

func compareMeans(a, b []float64) int { return cmp.Compare(figures.Mean(a), figures.Mean(b)) }

// A measured collects the values of a reading.
type measured struct {
	d      *figures.Data
	values figures.Values
}

func newMeasured(d *figures.Data) *measured { return &measured{d, figures.Values{}} }

// mean sets a claim to the mean of a sample.
func (m *measured) mean(claim string, values []float64) {
	m.values[claim] = m.d.MeanOf(values, verdict.Simulations, simulations)
}

// pair is two samples; the first is said to be larger.
type pair struct{ more, fewer []float64 }

// count sets a claim to the number of pairs whose difference is above zero with its
// 95 % interval.
func (m *measured) count(claim string, pairs []pair) {
	n := 0
	for _, p := range pairs {
		if m.d.Summarize(less(p.more, p.fewer, 1)).Low > 0 {
			n++
		}
	}
	m.values[claim] = figures.Exactly(float64(n))
}
