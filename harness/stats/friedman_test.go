package stats

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFriedmanKnown(t *testing.T) {
	for name, test := range map[string]struct {
		scores        [][]float64
		ranks         []float64
		chiSquared, p float64
		within        float64
	}{
		// Hollander and Wolfe, rounding first base, the first example of R's friedman.test:
		// chi-squared = 11.143, df = 2, p = 0.003805.
		"rounding times": {
			scores: [][]float64{
				{5.40, 5.50, 5.55},
				{5.85, 5.70, 5.75},
				{5.20, 5.60, 5.50},
				{5.55, 5.50, 5.40},
				{5.90, 5.85, 5.70},
				{5.45, 5.55, 5.60},
				{5.40, 5.40, 5.35},
				{5.45, 5.50, 5.35},
				{5.25, 5.15, 5.00},
				{5.85, 5.80, 5.70},
				{5.25, 5.20, 5.10},
				{5.65, 5.55, 5.45},
				{5.60, 5.35, 5.45},
				{5.05, 5.00, 4.95},
				{5.50, 5.50, 5.40},
				{5.45, 5.55, 5.50},
				{5.55, 5.55, 5.35},
				{5.45, 5.50, 5.55},
				{5.50, 5.45, 5.25},
				{5.65, 5.60, 5.40},
				{5.70, 5.65, 5.55},
				{6.30, 6.30, 6.25},
			},
			ranks: []float64{53.0 / 22, 47.0 / 22, 32.0 / 22}, chiSquared: 11.143, p: 0.003805, within: 5e-4,
		},
		// Demšar, Statistical comparisons of classifiers over multiple data sets (2006), table
		// 6: areas under the curve, of which the greatest is best. He has these mean ranks, and
		// without the correction for ties a chi-squared of 9.28; scipy.stats.friedmanchisquare,
		// with it, has 10.2283464566929 and p = 0.0167215803284414. Of two values that both are
		// printed as 0.975, the ranks are those of different ones.
		"classifiers": {
			scores: negated([][]float64{
				{0.763, 0.768, 0.771, 0.798},
				{0.599, 0.591, 0.590, 0.569},
				{0.954, 0.971, 0.968, 0.967},
				{0.628, 0.661, 0.654, 0.657},
				{0.882, 0.888, 0.886, 0.898},
				{0.936, 0.931, 0.916, 0.931},
				{0.661, 0.668, 0.609, 0.685},
				{0.583, 0.583, 0.563, 0.625},
				{0.775, 0.838, 0.866, 0.875},
				{1, 1, 1, 1},
				{0.940, 0.962, 0.965, 0.962},
				{0.619, 0.666, 0.614, 0.669},
				{0.972, 0.981, 0.9751, 0.975},
				{0.957, 0.978, 0.946, 0.970},
			}),
			ranks: []float64{44.0 / 14, 28.0 / 14, 40.5 / 14, 27.5 / 14}, chiSquared: 10.2283464566929, p: 0.0167215803284414, within: 1e-12,
		},
		// Ranks 1, 2.5, 2.5 and 1, 3, 2, whose sums differ from their mean by -2, 1.5 and 0.5:
		// chi-squared is 2·6.5/3.5, and of two degrees of freedom p its exponential.
		"no answers": {
			scores: [][]float64{{1, math.NaN(), math.NaN()}, {2, math.NaN(), 3}},
			ranks:  []float64{1, 2.75, 2.25}, chiSquared: 13 / 3.5, p: math.Exp(-6.5 / 3.5), within: 1e-12,
		},
		"alone": {scores: [][]float64{{1}, {2}}, ranks: []float64{1}, p: 1},
		"alike": {scores: [][]float64{{1, 1}, {2, 2}}, ranks: []float64{1.5, 1.5}, p: 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Friedman(test.scores)
			if err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(got.Ranks, test.ranks, near)
			if !same || math.Abs(got.ChiSquared-test.chiSquared) > test.within || math.Abs(got.P-test.p) > test.within {
				t.Errorf("%+v, want %+v", got, test)
			}
		})
	}
	if _, err := Friedman([][]float64{{1, 2}, {1}}); !says(err, "cannot be paired") {
		t.Errorf("unequal lengths: %v", err)
	}
	for _, none := range [][][]float64{nil, {{}}} {
		if _, err := Friedman(none); !errors.Is(err, ErrNoValues) {
			t.Errorf("%v: %v", none, err)
		}
	}
}

func negated(rows [][]float64) [][]float64 {
	for _, row := range rows {
		for j := range row {
			row[j] *= -1
		}
	}
	return rows
}

func TestRanks(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct{ values, want []float64 }{
		{nil, []float64{}},
		{[]float64{5}, []float64{1}},
		{[]float64{3, 1, 2}, []float64{3, 1, 2}},
		{[]float64{2, 1, 2, 0}, []float64{3.5, 2, 3.5, 1}},
		{[]float64{nan, 1, math.Inf(1), nan, math.Inf(-1)}, []float64{4.5, 2, 3, 4.5, 1}},
	} {
		if got, _ := midRanks(test.values); !slices.Equal(got, test.want) {
			t.Errorf("ranks of %v: %v, want %v", test.values, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-2, 2), 0, 20).Draw(t, "values")
		for i := range values {
			values[i] = math.Round(values[i])
		}
		ranks, _ := midRanks(values)
		for i, r := range ranks {
			below, equal := 0, 0
			for _, v := range values {
				if v < values[i] {
					below++
				}
				if v == values[i] {
					equal++
				}
			}
			if want := float64(below) + float64(equal+1)/2; r != want {
				t.Fatalf("rank %v of %v among %v, want %v", r, values[i], values, want)
			}
		}
	})
}
