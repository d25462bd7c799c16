package curve

import (
	"math"
	"slices"

	"miglab/harness/stats"
)

// A Trend is by how much scores change in a million steps over the last quarter of the training: the slope that
// all runs share, each with its own height, by least squares, and half of its 95 % confidence interval.
type Trend struct {
	Slope, Half float64
	// Fades is set if the learning rate falls to 0, which flattens any curve.
	Fades bool
}

// faded is a learning rate that counts as 0; trainings begin with more than a hundred times as much.
const faded = 2e-6

// TrendOf returns the trend of an agent's runs, at least one. It is not a number where there are too few points.
func TrendOf(runs []Run) Trend {
	var x, y [][]float64
	for _, r := range runs {
		first := slices.IndexFunc(r.Steps, func(steps float64) bool { return steps >= 0.75*r.Last() })
		x, y = append(x, r.Steps[first:]), append(y, r.Scores[first:])
	}
	if len(slices.Concat(x...)) < len(runs)+2 {
		return Trend{Slope: math.NaN(), Half: math.NaN()}
	}
	slope, half := stats.SharedSlope(x, y)
	return Trend{1e6 * slope, 1e6 * half, runs[0].Rate < faded}
}

// Falls reports whether the whole interval is below 0.
func (t Trend) Falls() bool { return t.Slope+t.Half < 0 }

// Word says what the curve does.
func (t Trend) Word() string {
	switch {
	case math.IsNaN(t.Slope):
		return "too short"
	case t.Falls():
		return "falls"
	case t.Slope-t.Half > 0:
		return "rises"
	}
	return "shows no fall"
}
