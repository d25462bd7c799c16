package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"miglab/harness/deep"
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

// resampledMeans is the definition of the means: rows are drawn one by one, two of every
// random number, and added to two sums by turns.
func resampledMeans(values []float64, seed uint64) []float64 {
	random := rand.NewPCG(seed, 0)
	means := make([]float64, Resamples)
	for i := range means {
		var number uint64
		var sums [2]float64
		for drawn := range values {
			if drawn%2 == 0 {
				number = random.Uint64()
			} else {
				number <<= 32
			}
			row := (number >> 32) * uint64(len(values)) >> 32
			sums[drawn%2] += values[row]
		}
		means[i] = (sums[0] + sums[1]) / float64(len(values))
	}
	return means
}

// Samples that are resampled together have the intervals that each has by itself, and the
// sign of a difference is that of the interval of the differences of the means.
func TestResample(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	above := 0
	for n := 2; n < 40; n += deep.N(6, 1) {
		for count := 1; count < 7; count++ {
			samples, means := make([][]float64, count), make([][]float64, count)
			for i := range samples {
				mean := random.NormFloat64() / math.Sqrt(float64(n))
				for range n {
					samples[i] = append(samples[i], math.Round(8*(mean+random.NormFloat64()))/8)
				}
				means[i] = resampledMeans(samples[i], uint64(n))
			}
			r, err := Resample(samples, uint64(n))
			if err != nil {
				t.Fatal(err)
			}
			for a := range samples {
				low, high := r.Interval(a)
				sorted := slices.Sorted(slices.Values(means[a]))
				if wantLow, wantHigh := quantile(sorted, tail), quantile(sorted, 1-tail); low != wantLow || high != wantHigh {
					t.Fatalf("%v: [%v, %v], want [%v, %v]", samples[a], low, high, wantLow, wantHigh)
				}
				for b := range samples {
					differences := make([]float64, Resamples)
					for i := range differences {
						differences[i] = math.Round((means[a][i]-means[b][i])*float64(8*n)) / float64(8*n)
					}
					slices.Sort(differences)
					want := quantile(differences, tail) > 0
					if got := r.Above(a, b); got != want {
						t.Fatalf("%v less %v: above zero %v, want %v", samples[a], samples[b], got, want)
					}
					if want {
						above++
					}
				}
			}
		}
	}
	if above < deep.N(15, 100) {
		t.Errorf("only %d differences lie above zero", above)
	}
}

// Tenths have the decision that the same numbers have as integers, although their sums
// show rounding: six differences are 1, one is -1 and thirteen are 0, so that the mean
// difference is zero in many resamples.
func TestResampleRounding(t *testing.T) {
	var a, b, aTenths, bTenths []float64
	for row := range 20 {
		v := float64(row + 1)
		a, b = append(a, v), append(b, v)
		switch {
		case row < 6:
			a[row]++
		case row == 6:
			a[row]--
		}
		aTenths, bTenths = append(aTenths, a[row]/10), append(bTenths, b[row]/10)
	}
	for seed := range uint64(20) {
		r, err := Resample([][]float64{a, b, aTenths, bTenths}, seed)
		if err != nil {
			t.Fatal(err)
		}
		if exact, rounded := r.Above(0, 1), r.Above(2, 3); exact != rounded {
			t.Errorf("seed %d: above zero %v by integers and %v by tenths", seed, exact, rounded)
		}
	}
}

func TestResampleEdges(t *testing.T) {
	if _, err := Resample([][]float64{{1, 2}, {1}}, 1); !says(err, "cannot be paired") {
		t.Errorf("samples of different sizes: %v", err)
	}
	if _, err := Resample(nil, 1); err != nil {
		t.Errorf("no samples: %v", err)
	}
	for _, test := range []struct {
		a, b []float64
		want bool
	}{
		{[]float64{2}, []float64{1}, false},
		{[]float64{2, 2}, []float64{1, 1}, true},
		{[]float64{1, 1}, []float64{1, 1}, false},
		{[]float64{0.1, 0.7}, []float64{0.1, 0.7}, false},
		{[]float64{2, 4}, []float64{1, 2}, true},
		{[]float64{2, 4}, []float64{3, 4}, false},
	} {
		r, err := Resample([][]float64{test.a, test.b}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Above(0, 1); got != test.want {
			t.Errorf("%v less %v: above zero %v", test.a, test.b, got)
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
	if _, _, err := Bootstrap([]float64{1, math.NaN()}, 1); !says(err, "value number 2 is") {
		t.Errorf("NaN: %v", err)
	}
	if _, _, err := Bootstrap([]float64{1e308, 1.1e308, 1.2e308, 1.3e308}, 1); !says(err, "scale the values down") {
		t.Errorf("huge values: %v", err)
	}
	spread := []float64{1, math.Sqrt2, math.E, math.Pi, 7, 11, 13.3, 17.1}
	a, _, errA := Bootstrap(spread, 1)
	b, _, errB := Bootstrap(spread, 2)
	if errA != nil || errB != nil || a == b {
		t.Errorf("the seed has no effect: %v (%v) and %v (%v)", a, errA, b, errB)
	}
}

// Memory that was used before gives the same resamples as new memory.
func TestReleasedMemory(t *testing.T) {
	samples := [][]float64{{1, 5, 2, 8, 3}, {2, 2, 2, 2, 2}, {9, 1, 4, 1, 5}}
	fresh, err := Resample(samples, 3)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		other, err := Resample([][]float64{{7, -3}, {0, 100}, {1, 1}, {4, 5}}, 9)
		if err != nil {
			t.Fatal(err)
		}
		other.Above(0, 1)
		other.Release()
		again, err := Resample(samples, 3)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.means, fresh.means) {
			t.Fatal("the means of resamples differ")
		}
		again.Release()
	}
}
