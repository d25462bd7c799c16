package leaderboard

import (
	"math"
	"testing"
)

// compared compares values; NaN is a missing answer. Every bound is 10 if the metric is bounded.
func compared(t *testing.T, metric Metric, a, b []float64) *Comparison {
	t.Helper()
	sides := [2]*contender{entries("a", a...), entries("b", b...)}
	for _, side := range sides {
		for i := range side.entries {
			side.entries[i].bound = orNaN(10, metric.Bounded)
		}
	}
	c, err := newComparison(sides[0], sides[1], metric)
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	return c
}

// By hand: B is worse by 1, better by 2, as good up to rounding, has no answer, and has the only
// answer; on the sixth, which A was not run on, they are not compared.
func TestComparison(t *testing.T) {
	gaps := Metric{Name: "makespan_s", Bounded: true}
	c := compared(t, gaps, []float64{11, 14, 12, 15, nan}, []float64{12, 12, 12 * (1 + 1e-12), nan, 20, 30})
	if c.Wins != 2 || c.Ties != 1 || c.Losses != 2 || c.FailedA != 1 || c.FailedB != 1 || c.Instances != 5 || c.LeftOut != 1 {
		t.Errorf("%+v", c)
	}
	near := func(name string, got, want float64) {
		if !(math.Abs(got-want) < 1e-9) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("A", c.A, 37./3)
	near("difference", c.Difference, -1./3)
	near("gap of A", c.GapA, 70./3)
	near("gap difference", c.Gap, -10./3)
	near("p", c.P, 1) // ranks 1 and 2: the sums 1 and 2 lie on both sides of the mean
	if c.Low != -2 || c.High != 1 {
		t.Errorf("interval %v to %v; three differences have quantiles -2 and 1", c.Low, c.High)
	}
	if len(c.Worst) != 2 || c.Worst[0].Instance != 3 || !math.IsInf(c.Worst[0].By, 1) || c.Worst[1].Instance != 0 {
		t.Errorf("worst %+v", c.Worst)
	}
	near("the loss on instance 0", c.Worst[1].By, 10)
}

// Worse is in percent of the mean of A, whichever way the metric goes; a new failure is worse than any percentage.
func TestComparisonWorse(t *testing.T) {
	times, shares := Metric{Name: "makespan_s", Bounded: true}, Metric{Name: "acceptance", Higher: true}
	for _, c := range []struct {
		metric Metric
		a, b   []float64
		want   float64
	}{
		{times, []float64{10, 30}, []float64{11, 30}, 2.5},
		{times, []float64{11, 30}, []float64{10, 30}, 0},
		{shares, []float64{0.4, 0.6}, []float64{0.4, 0.5}, 10},
		{shares, []float64{0.4, 0.5}, []float64{0.4, 0.6}, 0},
		{times, []float64{10, 30}, []float64{nan, 20}, math.Inf(1)},
		{times, []float64{nan, 30}, []float64{10, 20}, 0},
		{times, []float64{nan, 10}, []float64{10, nan}, 0},
		{Metric{Name: "late"}, []float64{0, 0}, []float64{0, 1}, math.Inf(1)},
	} {
		if got := compared(t, c.metric, c.a, c.b).Worse(); !(math.Abs(got-c.want) < 1e-9 || got == c.want) {
			t.Errorf("%v and then %v is worse by %v %%, want %v", c.a, c.b, got, c.want)
		}
	}
}

// Where more is better, signs of verdicts turn, and differences do not.
func TestComparisonHigher(t *testing.T) {
	metric := Metric{Name: "acceptance", Higher: true}
	low, high := []float64{}, []float64{}
	for i := range 20 {
		low, high = append(low, 0.5+float64(i)/100), append(high, 0.6+float64(i)/50)
	}
	up := compared(t, metric, low, high)
	if up.Better() != 1 || up.Difference <= 0 || up.Wins != 20 || !math.IsNaN(up.Gap) {
		t.Errorf("%+v", up)
	}
	down := compared(t, metric, high, low)
	if down.Better() != -1 || down.Losses != 20 || down.Worst[0].Instance != 19 {
		t.Errorf("%+v", down)
	}
	one := *up
	adjustHolm([]*Comparison{&one, down, {P: math.NaN(), PHolm: math.NaN()}})
	if one.PHolm != 2*up.P || down.PHolm != 2*up.P {
		t.Errorf("Holm: %v and %v, want twice %v", one.PHolm, down.PHolm, up.P)
	}
	apart := entries("b", 1)
	apart.entries[0].content = "another"
	if none, err := newComparison(entries("a", 1), apart, metric); none != nil || err != nil {
		t.Errorf("of other contents: %+v, %v", none, err)
	}
}
