package reports

import (
	"math"
	"testing"
)

// results makes entries of a dataset; NaN is a missing answer. Every bound is 10 if the metric
// is bounded.
func results(metric Metric, values ...float64) []Entry {
	bound := math.NaN()
	if metric.Bounded {
		bound = 10
	}
	var out []Entry
	for i, v := range values {
		out = append(out, Entry{Track: "batch", Dataset: "d", Algorithm: "x", Instance: i, Value: v, Bound: bound})
	}
	return out
}

// By hand: B is worse by 1, better by 2, as good up to rounding, has no answer, and has the only
// answer; on the sixth, which A was not run on, they are not compared.
func TestCompare(t *testing.T) {
	nan := math.NaN()
	gaps := Metric{Name: "makespan_s", Bounded: true}
	c, err := Compare(results(gaps, 11, 14, 12, 15, nan), results(gaps, 12, 12, 12*(1+1e-12), nan, 20, 30), gaps)
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
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
	if len(c.Worst) != 2 || c.Worst[0].Instance != 3 || !math.IsInf(c.Worst[0].Worse, 1) || c.Worst[1].Instance != 0 {
		t.Errorf("worst %+v", c.Worst)
	}
	near("the loss on instance 0", c.Worst[1].Worse, 10)
}

// Where more is better, signs of verdicts turn, and differences do not.
func TestCompareHigher(t *testing.T) {
	metric := Metric{Name: "acceptance", Higher: true}
	low, high := []float64{}, []float64{}
	for i := range 20 {
		low, high = append(low, 0.5+float64(i)/100), append(high, 0.6+float64(i)/50)
	}
	up, err := Compare(results(metric, low...), results(metric, high...), metric)
	if err != nil || up.Better() != 1 || up.Difference <= 0 || up.Wins != 20 || !math.IsNaN(up.Gap) {
		t.Errorf("%+v, %v", up, err)
	}
	down, err := Compare(results(metric, high...), results(metric, low...), metric)
	if err != nil || down.Better() != -1 || down.Losses != 20 || down.Worst[0].Instance != 19 {
		t.Errorf("%+v, %v", down, err)
	}
	one := *up
	AdjustHolm([]*Comparison{&one, down, {P: math.NaN(), PHolm: math.NaN()}})
	if one.PHolm != 2*up.P || down.PHolm != 2*up.P {
		t.Errorf("Holm: %v and %v, want twice %v", one.PHolm, down.PHolm, up.P)
	}
	if none, err := Compare(results(metric, 1), nil, metric); none != nil || err != nil {
		t.Errorf("without results: %+v, %v", none, err)
	}
	apart := results(metric, 1)
	apart[0].Content = "another"
	if none, err := Compare(results(metric, 1), apart, metric); none != nil || err != nil {
		t.Errorf("of other contents: %+v, %v", none, err)
	}
}
