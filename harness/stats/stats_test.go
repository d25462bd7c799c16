package stats

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }

// The formulas are those of sd, median and t.test in R.
func TestKnownValues(t *testing.T) {
	for name, test := range map[string]struct {
		values []float64
		want   Summary
	}{
		// qt(0.975, 4) = 2.7764451051978
		"1 to 5": {[]float64{5, 3, 1, 2, 4}, Summary{
			N: 5, Mean: 3, StdDev: 1.5811388300841898, StdErr: 0.7071067811865476,
			Low: 3 - 2.7764451051978*0.7071067811865476, High: 3 + 2.7764451051978*0.7071067811865476,
			Median: 3, Min: 1, Max: 5,
		}},
		// qt(0.975, 1) = 12.706204736432
		"two": {[]float64{-1, 1}, Summary{
			N: 2, Mean: 0, StdDev: math.Sqrt2, StdErr: 1, Low: -12.706204736432, High: 12.706204736432, Median: 0, Min: -1, Max: 1,
		}},
		// R's sleep$extra[1:10]; t.test gives -0.5297804 to 2.0297804.
		"sleep": {[]float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2}, Summary{
			N: 10, Mean: 0.75, StdDev: 1.7890096577591626, StdErr: 0.5657345274557277,
			Low: 0.75 - 2.2621571627409915*0.5657345274557277, High: 0.75 + 2.2621571627409915*0.5657345274557277,
			Median: 0.35, Min: -1.6, Max: 3.7,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.values)
			got, err := Summarize(test.values)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []struct {
				name      string
				got, want float64
			}{
				{"n", float64(got.N), float64(test.want.N)},
				{"mean", got.Mean, test.want.Mean},
				{"standard deviation", got.StdDev, test.want.StdDev},
				{"standard error", got.StdErr, test.want.StdErr},
				{"low", got.Low, test.want.Low},
				{"high", got.High, test.want.High},
				{"median", got.Median, test.want.Median},
				{"min", got.Min, test.want.Min},
				{"max", got.Max, test.want.Max},
			} {
				if !near(f.got, f.want) {
					t.Errorf("%s = %v, want %v", f.name, f.got, f.want)
				}
			}
			if !slices.Equal(test.values, before) {
				t.Error("the values were reordered")
			}
		})
	}
}

func TestSingleValue(t *testing.T) {
	s, err := Summarize([]float64{7})
	if err != nil {
		t.Fatal(err)
	}
	if s.N != 1 || s.Mean != 7 || s.Median != 7 || s.Min != 7 || s.Max != 7 {
		t.Errorf("summary %+v", s)
	}
	if !math.IsNaN(s.Low) || !math.IsNaN(s.High) || !math.IsNaN(s.StdDev) || !math.IsNaN(s.StdErr) {
		t.Errorf("one value has a spread: %+v", s)
	}
}

func TestEqualValues(t *testing.T) {
	s, err := Summarize(slices.Repeat([]float64{0.1}, 1001))
	if err != nil {
		t.Fatal(err)
	}
	if s.Mean != 0.1 || s.StdDev != 0 || s.Low != 0.1 || s.High != 0.1 {
		t.Errorf("summary %+v", s)
	}
}

func TestQuantile(t *testing.T) {
	// R: quantile(c(1, 2, 4, 8), c(0, .1, .25, .5, .9, 1))
	for q, want := range map[float64]float64{0: 1, 0.1: 1.3, 0.25: 1.75, 0.5: 3, 0.9: 6.8, 1: 8} {
		if got, err := Quantile([]float64{8, 1, 4, 2}, q); err != nil || !near(got, want) {
			t.Errorf("quantile %v = %v, %v; want %v", q, got, err, want)
		}
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := Quantile([]float64{1}, q); !says(err, "from 0 to 1") {
			t.Errorf("quantile %v: %v", q, err)
		}
	}
}

func says(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func TestBadValues(t *testing.T) {
	if _, err := Summarize(nil); !errors.Is(err, ErrNoValues) {
		t.Errorf("no values: %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := Summarize([]float64{1, v}); !says(err, "value number 2 is") {
			t.Errorf("%v: %v", v, err)
		}
		if _, err := Quantile([]float64{v}, 0.5); !says(err, "value number 1 is") {
			t.Errorf("quantile of %v: %v", v, err)
		}
	}
	if _, err := Summarize([]float64{1e308, -1e308, 1e308, 1e308}); !says(err, "scale the values down") {
		t.Errorf("huge values: %v", err)
	}
}

func TestSummaryProperties(t *testing.T) {
	values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 50)
	rapid.Check(t, func(t *rapid.T) {
		v := values.Draw(t, "values")
		s, err := Summarize(v)
		if err != nil {
			t.Fatal(err)
		}
		const slack = 1e-6
		if s.Min > s.Median || s.Median > s.Max || s.Mean < s.Min-slack || s.Mean > s.Max+slack || s.Low > s.Mean || s.High < s.Mean {
			t.Fatalf("out of order: %+v", s)
		}
		shift := rapid.Float64Range(-1e6, 1e6).Draw(t, "shift")
		moved := slices.Clone(v)
		for i := range moved {
			moved[i] += shift
		}
		m, err := Summarize(moved)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(m.Mean-s.Mean-shift) > slack || math.Abs((m.High-m.Low)-(s.High-s.Low)) > slack {
			t.Fatalf("shifted by %v: %+v became %+v", shift, s, m)
		}
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		a, errA := Quantile(v, q/2)
		b, errB := Quantile(v, q)
		if errA != nil || errB != nil || a > b {
			t.Fatalf("quantile %v is %v and quantile %v is %v", q/2, a, q, b)
		}
	})
}

// A quantile never falls as q grows, not even by the last bit: found by the property
// above at these values, where a weighted sum rises above the least value and back.
func TestQuantileNeverFalls(t *testing.T) {
	values := []float64{1, 1, -1e6, -1e6}
	for q := 1e-12; q < 1; q *= 1.5 {
		a, errA := Quantile(values, q/2)
		b, errB := Quantile(values, q)
		if errA != nil || errB != nil || a > b {
			t.Errorf("quantile %v is %v and quantile %v is %v", q/2, a, q, b)
		}
	}
}
