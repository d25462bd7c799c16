package stats

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWilcoxonKnown(t *testing.T) {
	pairs := func(a, b []float64) []float64 {
		d := slices.Clone(a)
		for i := range d {
			d[i] -= b[i]
		}
		return d
	}
	for name, test := range map[string]struct {
		differences []float64
		want        Test
		within      float64
	}{
		// Hollander and Wolfe, depression scale, the first example of R's wilcox.test:
		// V = 40, one-sided p = 0.01953.
		"depression": {
			pairs([]float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}, []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}),
			Test{N: 9, Statistic: 40, P: 20.0 / 512, Exact: true},
			1e-15,
		},
		// Darwin's maize, the example of scipy.stats.wilcoxon: the smaller sum of ranks is 24.
		"maize": {
			[]float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75},
			Test{N: 15, Statistic: 120 - 24, P: 0.041259765625, Exact: true},
			1e-15,
		},
		// R: wilcox.test(sleep$extra[1:10], sleep$extra[11:20], paired = TRUE), with a zero and
		// ties: V = 0, p = 0.009091. In tenths, so that no tie comes from rounding.
		"sleep": {
			[]float64{-12, -24, -13, -13, 0, -10, -18, -8, -46, -14},
			Test{N: 9, Statistic: 0, P: 0.009091},
			5e-7,
		},
		"all zero": {[]float64{0, 0, 0}, Test{P: 1, Exact: true}, 0},
		"one":      {[]float64{-3}, Test{N: 1, P: 1, Exact: true}, 0},
		// The least p that six differences can have is 2/64.
		"six alike": {[]float64{1, 2, 3, 4, 5, 6}, Test{N: 6, Statistic: 21, P: 2.0 / 64, Exact: true}, 0},
		"balance":   {[]float64{1, -1, 2, -2}, Test{N: 4, Statistic: 5, P: 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.differences)
			got, err := Wilcoxon(test.differences)
			if err != nil {
				t.Fatal(err)
			}
			if got.N != test.want.N || got.Statistic != test.want.Statistic || got.Exact != test.want.Exact || math.Abs(got.P-test.want.P) > test.within {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			if !slices.Equal(test.differences, before) {
				t.Error("the differences were changed")
			}
		})
	}
}

// The exact probability is that of all 2ⁿ ways to sign the ranks.
func TestWilcoxonEnumerated(t *testing.T) {
	for n := 1; n <= 10; n++ {
		statistic := func(signs int) (sum float64) {
			for i := range n {
				sum += float64(signs >> i & 1 * (i + 1))
			}
			return sum
		}
		mean := float64(n*(n+1)) / 4
		for signs := 0; signs < 1<<n; signs += max(1, 1<<n/128) {
			differences := make([]float64, n)
			for i := range differences {
				differences[i] = float64(2*(signs>>i&1)-1) * math.Sqrt(float64(i+1))
			}
			got, err := Wilcoxon(differences)
			if err != nil {
				t.Fatal(err)
			}
			far := 0
			for other := range 1 << n {
				if math.Abs(statistic(other)-mean) >= math.Abs(statistic(signs)-mean) {
					far++
				}
			}
			if want := float64(far) / float64(int(1)<<n); !got.Exact || got.Statistic != statistic(signs) || got.P != want {
				t.Fatalf("%v: %+v, want p = %v", differences, got, want)
			}
		}
	}
}

// Where counting ends, the approximation goes on.
func TestWilcoxonApproximation(t *testing.T) {
	for n := exactWilcoxon - 1; n <= exactWilcoxon+2; n++ {
		differences := make([]float64, n)
		for i := range differences {
			differences[i] = float64(i + 1)
			if i%3 == 0 {
				differences[i] *= -1
			}
		}
		got, err := Wilcoxon(differences)
		if err != nil {
			t.Fatal(err)
		}
		// The mean is n(n+1)/4 and the variance n(n+1)(2n+1)/24.
		m := float64(n * (n + 1))
		z := (math.Abs(got.Statistic-m/4) - 0.5) / math.Sqrt(m*float64(2*n+1)/24)
		if want := math.Erfc(z / math.Sqrt2); got.Exact != (n <= exactWilcoxon) || math.Abs(got.P/want-1) > 0.03 {
			t.Errorf("%d differences: %+v, and %v by the normal distribution", n, got, want)
		}
	}
}

func TestWilcoxonProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var differences []float64
		for _, d := range rapid.SliceOfN(rapid.IntRange(-20, 20), 1, 60).Draw(t, "differences") {
			differences = append(differences, float64(d))
		}
		got, err := Wilcoxon(differences)
		if err != nil {
			t.Fatal(err)
		}
		if !(got.P > 0 && got.P <= 1) {
			t.Fatalf("p = %v", got.P)
		}
		for _, by := range []float64{3, -3} {
			other := make([]float64, 0, len(differences)+1)
			for _, d := range slices.Backward(differences) {
				other = append(other, d*by)
			}
			other = append(other, 0)
			want := got
			if by < 0 {
				want.Statistic = float64(got.N*(got.N+1))/2 - got.Statistic
			}
			if o, err := Wilcoxon(other); err != nil || o != want {
				t.Fatalf("reversed, scaled by %v and with a zero: %+v, %v; want %+v", by, o, err, want)
			}
		}
	})
	if _, err := Wilcoxon([]float64{1, math.Inf(1)}); !says(err, "value number 2 is") {
		t.Errorf("infinite: %v", err)
	}
	if _, err := Wilcoxon(nil); !errors.Is(err, ErrNoValues) {
		t.Errorf("nothing: %v", err)
	}
}
