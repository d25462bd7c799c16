package mfi

import (
	"fmt"
	"slices"

	"miglab/harness/run"
	"miglab/harness/stats"
	figures "miglab/paper-figures"
)

// samples holds metrics of series, by instance.
type samples map[sampleKey][]float64

type sampleKey struct {
	series run.Series
	metric string
}

// gather reads metrics of all series that are needed.
func gather(d *figures.Data, needs []figures.Need, metrics ...string) (samples, error) {
	out := samples{}
	for _, n := range needs {
		for _, m := range metrics {
			k := sampleKey{n.Series, m}
			if _, ok := out[k]; ok {
				continue
			}
			var err error
			if out[k], err = d.Values(n.Series, m); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// of returns a metric of a series. One that was not gathered is a mistake in the
// program, so it panics.
func (s samples) of(series run.Series, metric string) []float64 {
	v, ok := s[sampleKey{series, metric}]
	if !ok {
		panic(fmt.Sprintf("mfi: %s of %v was not gathered", metric, series))
	}
	return v
}

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

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// less returns scale times the paired differences a - b.
func less(a, b []float64, scale float64) []float64 {
	return each(func(v []float64) float64 { return scale * (v[0] - v[1]) }, a, b)
}

// ratio returns a/b by instance.
func ratio(a, b []float64) []float64 {
	return each(func(v []float64) float64 { return v[0] / v[1] }, a, b)
}

// highest and lowest return the sample with the highest and the lowest mean.
func highest(columns ...[]float64) []float64 {
	return slices.MaxFunc(columns, compareMeans)
}

func lowest(columns ...[]float64) []float64 {
	return slices.MinFunc(columns, compareMeans)
}

func compareMeans(a, b []float64) int {
	if x, y := mean(a), mean(b); x != y {
		if x < y {
			return -1
		}
		return 1
	}
	return 0
}

// above reports whether the 95 % interval of the paired differences a - b lies above
// zero.
func above(a, b []float64) (bool, error) {
	s, err := stats.Summarize(less(a, b, 1))
	return err == nil && s.Low > 0, err
}

// A measured fills in the claims of a reading, and keeps the first error.
type measured struct {
	values map[string]figures.Measurement
	err    error
}

func newMeasured() *measured { return &measured{values: map[string]figures.Measurement{}} }

// mean sets a claim to the mean of a sample.
func (m *measured) mean(claim string, values []float64) {
	v, err := figures.MeanOf(values, simulations)
	m.values[claim] = v
	if m.err == nil {
		m.err = err
	}
}

// pair is a sample of MFI, or whatever is said to have more, beside another.
type pair struct{ more, fewer []float64 }

// count sets a claim to the number of pairs whose difference is above zero with its
// 95 % interval.
func (m *measured) count(claim string, pairs []pair) {
	n := 0
	for _, p := range pairs {
		ok, err := above(p.more, p.fewer)
		if m.err == nil {
			m.err = err
		}
		if ok {
			n++
		}
	}
	m.values[claim] = figures.Exactly(float64(n))
}
