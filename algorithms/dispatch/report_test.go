package dispatch_test

import (
	"fmt"
	"math"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/deep"
	"miglab/harness/stats"
)

// published is Table 7 of the deadline report: means over 10 episodes. Energies have
// the unit that the report calls MJ: millions of watt-minutes, a sixtieth of it.
var published = map[string]struct{ late, tardiness, energy float64 }{
	"eft":            {43.1, 1.04, 2.48},
	"largest-first":  {42.7, 1.02, 2.51},
	"smallest-first": {54.3, 1.21, 2.42},
	"random":         {50.1, 1.13, 2.49},
}

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

// TestTable7 takes the first 10 episodes of the default seed, which are not selected in
// any way, and then many.
func TestTable7(t *testing.T) {
	all := episodes(t, "deadline/relaxed", deep.N(60, 1000))
	for name, want := range published {
		inside := func(what string, values []float64, published float64) {
			t.Helper()
			s, err := stats.Summarize(values)
			if err != nil {
				t.Fatal(err)
			}
			if published < s.Low || published > s.High {
				t.Errorf("%s: %s in 10 episodes is %.3f in [%.3f, %.3f], published %v", name, what, s.Mean, s.Low, s.High, published)
			}
		}
		late, tardiness, energy := measure(t, name, all[:10])
		inside("late %", late, want.late)
		inside("tardiness", tardiness, want.tardiness)
		inside("energy", energy, want.energy)

		late, _, energy = measure(t, name, all)
		if got := mean(late); math.Abs(got-want.late) > 1.5 {
			t.Errorf("%s: %.2f %% late in %d episodes, published %v", name, got, len(all), want.late)
		}
		if got := mean(energy); math.Abs(got/want.energy-1) > 0.02 {
			t.Errorf("%s: energy %.3f in %d episodes, published %v", name, got, len(all), want.energy)
		}
	}
}

// TestTightDeadlines compares with the 85-90 % of Tables 2 and 6.
func TestTightDeadlines(t *testing.T) {
	all := episodes(t, "deadline/tight", deep.N(30, 50))
	for name, want := range map[string][2]float64{
		"eft": {84, 91}, "largest-first": {84, 91}, "random": {84, 91}, "smallest-first": {94, 96},
	} {
		late, _, _ := measure(t, name, all)
		if got := mean(late); got < want[0] || got > want[1] {
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
	return fmt.Sprintf("%.1f±%.1f %.2f±%.2f %.2f±%.2f",
		mean(late), deviation(late), mean(tardiness), deviation(tardiness), mean(energy), deviation(energy))
}

// TestTable7ToTheLastDigit takes the report's own days, and random their random stream.
func TestTable7ToTheLastDigit(t *testing.T) {
	all := episodes(t, "deadline/report", 10)
	for name, want := range printed {
		if got := row(t, name, all); got != want {
			t.Errorf("%s: %s, published %s", name, got, want)
		}
	}
}

// TestTable7NeedsTheFloat32Clock shows that the rounding matters: a queue amplifies it.
func TestTable7NeedsTheFloat32Clock(t *testing.T) {
	all := episodes(t, "deadline/report?clock=float64", 10)
	for name, want := range map[string]string{
		"eft":           "42.9±5.6 1.02±0.64 2.48±0.05",
		"largest-first": "42.4±5.6 0.97±0.63 2.51±0.05",
	} {
		if got := row(t, name, all); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// deviation is that of a whole population.
func deviation(values []float64) float64 {
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(values)))
}
