package certificate_test

import (
	"math"
	"testing"

	"miglab/bounds/certificate"
)

func TestExceedsIsExact(t *testing.T) {
	const third = 1.0 / 3
	for _, c := range []struct {
		a, b float64
		want bool
	}{
		{1, 1, false},
		{1, 0, true},
		{0, 0, false},
		{0, 1, false},
		{120, 99.6, true},
		{1e9, 1e9 - 1, false}, // equal to the slack, which is not more than it
		{1e9, math.Nextafter(1e9-1, 0), true},
		{1 << 30 * 1e9, 1 << 30 * (1e9 - 1), false},
		{1 << 30 * 1e9, 1 << 30 * math.Nextafter(1e9-1, 0), true},
		{third, third * (1 - 1.1e-9), true},
		{third, third * (1 - 0.9e-9), false},
		{math.MaxFloat64, 1, true},
		{5e-324, 0, true},
		{math.Inf(1), 1, true},
		{1, math.Inf(1), false},
		{math.NaN(), 1, true},
		{1, math.NaN(), true},
	} {
		if got := certificate.Exceeds(c.a, c.b); got != c.want {
			t.Errorf("Exceeds(%v, %v) = %v", c.a, c.b, got)
		}
		if err := certificate.CheckKnown(c.a, c.b); (err != nil) != c.want {
			t.Errorf("CheckKnown(%v, %v): %v", c.a, c.b, err)
		}
	}
}
