package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The means of resamples of four ones and six zeros are binomial: by tables of the
// distribution (n = 10, p = 0.4), P(X <= 0) = 0.0060 and P(X <= 1) = 0.0464 lie about
// 0.025, P(X <= 6) = 0.9452 and P(X <= 7) = 0.9877 about 0.975.
func TestBootstrapBinomial(t *testing.T) {
	low, high, err := Bootstrap([]float64{0, 1, 0, 0, 1, 0, 1, 1, 0, 0}, 1)
	if err != nil || low != 0.1 || high != 0.7 {
		t.Errorf("[%v, %v], %v; want [0.1, 0.7]", low, high, err)
	}
}

// The quantiles of 10,000 resamples are next to those of the list of all that there are.
func TestBootstrapEnumerated(t *testing.T) {
	for _, values := range [][]float64{{1, 5, 25, 125}, {1, 6, 36, 216, 1296}} {
		sums := []float64{0}
		for range values {
			var longer []float64
			for _, sum := range sums {
				for _, v := range values {
					longer = append(longer, sum+v)
				}
			}
			sums = longer
		}
		slices.Sort(sums)
		for seed := range uint64(5) {
			low, high, err := Bootstrap(values, seed)
			if err != nil {
				t.Fatal(err)
			}
			// Four standard errors of a share of 0.025 of 10,000.
			const slack = 4 * 0.00156
			for _, q := range []struct{ got, at float64 }{{low, 0.025}, {high, 0.975}} {
				sum := q.got * float64(len(values))
				if from, to := quantile(sums, q.at-slack), quantile(sums, q.at+slack); sum < from-1e-9 || sum > to+1e-9 {
					t.Errorf("%v, seed %d: the quantile %v of sums is %v; by enumeration it lies from %v to %v", values, seed, q.at, sum, from, to)
				}
			}
		}
	}
}

// Of many values the interval is that of the normal distribution, and holds the mean
// as often as it says: 475 of 500 times, give or take four standard deviations of 4.9.
func TestBootstrapCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	holds := 0
	for i := range 500 {
		values := make([]float64, 100)
		for j := range values {
			values[j] = 3 + 2*random.NormFloat64()
		}
		low, high, err := Bootstrap(values, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		if low <= 3 && 3 <= high {
			holds++
		}
		s, err := Summarize(values)
		if err != nil {
			t.Fatal(err)
		}
		if width, want := high-low, 2*1.96*s.StdErr; math.Abs(width/want-1) > 0.1 {
			t.Errorf("sample %d: width %v, and %v by the normal distribution", i, width, want)
		}
	}
	if holds < 455 || holds > 495 {
		t.Errorf("%d of 500 intervals hold the mean", holds)
	}
}

func TestBootstrapProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 12).Draw(t, "values")
		seed := rapid.Uint64().Draw(t, "seed")
		low, high, err := Bootstrap(values, seed)
		if err != nil {
			t.Fatal(err)
		}
		const slack = 1e-6 // of sums
		if low > high || low < slices.Min(values)-slack || high > slices.Max(values)+slack {
			t.Fatalf("[%v, %v] of %v", low, high, values)
		}
		for _, by := range []float64{1, 8, -0.5} {
			scaled := make([]float64, len(values))
			for i, v := range values {
				scaled[i] = v * by
			}
			a, b, err := Bootstrap(scaled, seed)
			if err != nil {
				t.Fatal(err)
			}
			want := []float64{low * by, high * by}
			if by < 0 {
				want = []float64{high * by, low * by}
			}
			if by > 0 && (a != want[0] || b != want[1]) || math.Abs(a-want[0])+math.Abs(b-want[1]) > slack {
				t.Fatalf("scaled by %v: [%v, %v], want %v", by, a, b, want)
			}
		}
	})
}

// resampledInterval is the definition of the interval: all means in order.
func resampledInterval(values []float64, seed uint64) Interval {
	random := rand.NewPCG(seed, 0)
	means := make([]float64, Resamples)
	for i := range means {
		means[i] = resampledMean(values, random)
	}
	slices.Sort(means)
	return Interval{quantile(means, tail), quantile(means, 1-tail)}
}

// Samples that are resampled together have the intervals that each has by itself, and
// what lies above zero is known without the interval.
func TestBootstrapEach(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	above := 0
	for n := 2; n < 40; n++ {
		for count := 1; count < 7; count++ {
			samples := make([][]float64, count)
			for i := range samples {
				mean := random.NormFloat64() / math.Sqrt(float64(n))
				for range n {
					samples[i] = append(samples[i], math.Round(8*(mean+random.NormFloat64()))/8)
				}
			}
			got, err := BootstrapEach(samples, uint64(n))
			if err != nil {
				t.Fatal(err)
			}
			for i, sample := range samples {
				want := resampledInterval(sample, uint64(n))
				if got[i] != want {
					t.Fatalf("%v: %v, want %v", sample, got[i], want)
				}
				apart, err := BootstrapAbove(sample, uint64(n))
				if err != nil || apart != (want.Low > 0) {
					t.Fatalf("%v: above zero %v, %v, and the interval is %v", sample, apart, err, want)
				}
				if apart {
					above++
				}
			}
		}
	}
	if above < 10 {
		t.Errorf("only %d intervals lie above zero", above)
	}
	var length *LengthError
	if _, err := BootstrapEach([][]float64{{1, 2}, {1}}, 1); !errors.As(err, &length) {
		t.Errorf("samples of different sizes: %v", err)
	}
	if out, err := BootstrapEach(nil, 1); err != nil || len(out) != 0 {
		t.Errorf("no samples: %v, %v", out, err)
	}
	for _, test := range []struct {
		values []float64
		want   bool
	}{{[]float64{1}, false}, {[]float64{1, 1}, true}, {[]float64{0, 0}, false}, {[]float64{1, 2}, true}, {[]float64{-1, 0}, false}} {
		if got, err := BootstrapAbove(test.values, 1); err != nil || got != test.want {
			t.Errorf("%v: above zero %v, %v", test.values, got, err)
		}
	}
}

func TestBootstrapEdges(t *testing.T) {
	if low, high, err := Bootstrap([]float64{7}, 1); err != nil || !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("a single value has the interval [%v, %v], %v", low, high, err)
	}
	if low, high, err := Bootstrap(slices.Repeat([]float64{0.1}, 11), 1); err != nil || low != 0.1 || high != 0.1 {
		t.Errorf("equal values: [%v, %v], %v", low, high, err)
	}
	if _, _, err := Bootstrap(nil, 1); !errors.Is(err, ErrNoValues) {
		t.Errorf("no values: %v", err)
	}
	var bad *ValueError
	if _, _, err := Bootstrap([]float64{1, math.NaN()}, 1); !errors.As(err, &bad) || bad.Index != 1 {
		t.Errorf("NaN: %v", err)
	}
	var out *RangeError
	if _, _, err := Bootstrap([]float64{1e308, 1.1e308, 1.2e308, 1.3e308}, 1); !errors.As(err, &out) {
		t.Errorf("huge values: %v", err)
	}
	spread := []float64{1, math.Sqrt2, math.E, math.Pi, 7, 11, 13.3, 17.1}
	a, _, errA := Bootstrap(spread, 1)
	b, _, errB := Bootstrap(spread, 2)
	if errA != nil || errB != nil || a == b {
		t.Errorf("the seed has no effect: %v (%v) and %v (%v)", a, errA, b, errB)
	}
}

func BenchmarkBootstrap(b *testing.B) {
	values := make([]float64, 1000)
	for i := range values {
		values[i] = math.Sqrt(float64(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Bootstrap(values, 1); err != nil {
			b.Fatal(err)
		}
	}
}
