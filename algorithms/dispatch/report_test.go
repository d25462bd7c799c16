package dispatch_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/stat"

	"miglab/algorithms/algotest"
	"miglab/harness/deep"
)

// measure returns late percent, tardiness in minutes and energy as released by
// episode.
func measure(t *testing.T, name string, episodes []algotest.DispatchProblem) (late, tardiness, energy []float64) {
	t.Helper()
	for i, in := range episodes {
		in.Seed = uint64(i)
		r := serve(t, name, in)
		late = append(late, r.LatePercent())
		tardiness = append(tardiness, float64(r.Tardiness))
		energy = append(energy, float64(r.EnergyAsReleased)/1e6)
	}
	return late, tardiness, energy
}

func episodes(t *testing.T, spec string, n int) []algotest.DispatchProblem {
	t.Helper()
	out := make([]algotest.DispatchProblem, n)
	for i := range out {
		out[i] = queue(t, spec, i)
	}
	return out
}

// TestTightDeadlines compares with the 85-90 % of Tables 2 and 6.
func TestTightDeadlines(t *testing.T) {
	all := episodes(t, "deadline/tight", deep.N(30, 50))
	for name, want := range map[string][2]float64{
		"eft": {84, 91}, "largest-first": {84, 91}, "random": {84, 91}, "smallest-first": {94, 96},
	} {
		late, _, _ := measure(t, name, all)
		if got := stat.Mean(late, nil); got < want[0] || got > want[1] {
			t.Errorf("%s: %.2f %% late, want %v", name, got, want)
		}
	}
}

// printed is all that Table 7 prints about the heuristics: means and population standard
// deviations of late %, tardiness and energy.
var printed = map[string]string{
	"eft":            "43.1±5.6 1.04±0.63 2.48±0.05",
	"largest-first":  "42.7±5.7 1.02±0.73 2.51±0.05",
	"smallest-first": "54.3±4.7 1.21±0.58 2.42±0.05",
	"random":         "50.1±4.7 1.13±0.57 2.49±0.04",
}

// row formats the results of some episodes as Table 7 does.
func row(t *testing.T, name string, episodes []algotest.DispatchProblem) string {
	t.Helper()
	late, tardiness, energy := measure(t, name, episodes)
	part := func(values []float64, digits int) string {
		return fmt.Sprintf("%.*f±%.*f", digits, stat.Mean(values, nil), digits, stat.PopStdDev(values, nil))
	}
	return part(late, 1) + " " + part(tardiness, 2) + " " + part(energy, 2)
}

// TestTable7ToTheLastDigit takes the report's own days, and random their random stream. With a
// clock of float64 the numbers are others, as a queue amplifies the rounding.
func TestTable7ToTheLastDigit(t *testing.T) {
	for spec, rows := range map[string]map[string]string{
		"deadline/report": printed,
		"deadline/report?clock=float64": {
			"eft":           "42.9±5.6 1.02±0.64 2.48±0.05",
			"largest-first": "42.4±5.6 0.97±0.63 2.51±0.05",
		},
	} {
		all := episodes(t, spec, 10)
		for name, want := range rows {
			if got := row(t, name, all); got != want {
				t.Errorf("%s, %s: %s, want %s", spec, name, got, want)
			}
		}
	}
}
