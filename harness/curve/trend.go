package curve

import (
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

// TrendOf returns the trend of an agent's runs, at least one.
func TrendOf(runs []Run) Trend {
	var x, y [][]float64
	for _, r := range runs {
		first := slices.IndexFunc(r.Steps, func(steps float64) bool { return steps >= 0.75*r.Last() })
		var millions []float64
		for _, steps := range r.Steps[first:] {
			millions = append(millions, steps/1e6)
		}
		x, y = append(x, millions), append(y, r.Scores[first:])
	}
	slope, half := stats.SharedSlope(x, y)
	return Trend{slope, half, runs[0].Rate < faded}
}

// Falls reports whether the whole interval is below 0.
func (t Trend) Falls() bool { return t.Slope+t.Half < 0 }

// Word says whether the curve falls.
func (t Trend) Word() string {
	if t.Falls() {
		return "falls"
	}
	return "shows no fall"
}
