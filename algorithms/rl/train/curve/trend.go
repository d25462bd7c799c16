package curve

import (
	"math"
	"slices"

	"miglab/harness/stats"
)

// A Trend describes the scores over the last quarter of a training.
type Trend struct {
	// Slope is the change of the scores in a million steps, by least squares: one slope for all runs, and an intercept
	// for each. Half is half the width of its 95 % confidence interval.
	Slope, Half float64
	// Fades is set if the learning rate falls to 0, which flattens any curve, but not if there are too few points.
	Fades bool
}

// faded is a learning rate that counts as 0; trainings begin with more than a hundred times as much.
const faded = 2e-6

// TrendOf returns the trend of an agent's runs, at least one. Its numbers are NaN if there are too few points.
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
	return Trend{Slope: 1e6 * slope, Half: 1e6 * half, Fades: runs[0].Rate < faded}
}

// Falls reports whether the whole confidence interval is below 0.
func (t Trend) Falls() bool { return t.Slope+t.Half < 0 }

// Word returns the trend in a few words.
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
