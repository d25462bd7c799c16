package stats

import "testing"

// The places of samples of all sizes are not kept together.
func TestPlacesAreLimited(t *testing.T) {
	places(3)
	keptPlaces = mostPlaces
	if got := places(4); len(got) != 4*Resamples || len(allPlaces) != 1 || keptPlaces != 4 {
		t.Errorf("%d places, samples of %d sizes with %d values are kept", len(got), len(allPlaces), keptPlaces)
	}
}

// An interval belongs to the values and to the mean.
func TestAcceleratedKnowsTheMean(t *testing.T) {
	values := []float64{1, 2, 4, 8, 16}
	low, high := Accelerated(values, 6.2)
	if l, h := Accelerated(values, 7); l <= low || h < high {
		t.Errorf("[%v, %v] about 6.2, and [%v, %v] about 7", low, high, l, h)
	}
}
