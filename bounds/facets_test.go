package bounds

import (
	"math"
	"slices"
	"testing"

	"miglab/harness/mig"
)

// A weight whose denominator does not divide the common one must not grow: 17 instances of weight 1631/27720 would
// weigh more than 1, and a bound from them would be false.
func TestWeightsOfOtherDenominators(t *testing.T) {
	v := vertices{n: 1, partitions: 1, rows: [][]float64{{17, 1}, {1, 0}}, chosen: [][]float64{{0, 0}}, pivots: []int{0}}
	v.choose(0, 0)
	if len(v.found) == 0 {
		t.Fatal("no vertex")
	}
	for _, w := range v.found {
		if 17*w[0] > 1+tiny {
			t.Errorf("17 instances of weight %v weigh %v", w[0], 17*w[0])
		}
	}
}

// The weights of the models of package mig are fractions of the common denominator.
func TestWeightsAreFractions(t *testing.T) {
	for _, g := range mig.GPUs() {
		all := facets(g)
		for _, w := range all {
			for _, x := range w {
				if math.Round(x*denominator)/denominator != x {
					t.Errorf("%v has the weight %v", g, x)
				}
			}
			if slices.ContainsFunc(all, func(o []float64) bool { return !slices.Equal(o, w) && dominates(o, w) }) {
				t.Errorf("%v: %v is dominated", g, w)
			}
		}
	}
}
