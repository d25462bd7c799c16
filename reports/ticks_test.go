package reports

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"pgregory.net/rapid"
)

func alwaysFits([]plot.Tick) bool { return true }

// Numbers that differ little in comparison with their size have labels with all digits that tell them apart.
func TestLabelsOfTicksDiffer(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 8e6, "0 2e6 4e6 6e6 8e6"},
		{1e9, 1e9 + 100, "1e9 1.00000002e9 1.00000004e9 1.00000006e9 1.00000008e9 1.0000001e9"},
		{1, 1 + 1e-8, "1 1.000000002 1.000000004 1.000000006 1.000000008"},
		{-3e-8, 3e-8, "-3e-8 -2e-8 -1e-8 0 1e-8 2e-8 3e-8"},
	} {
		var got []string
		for _, tick := range linearTicks(c.low, c.high, alwaysFits) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v to %v has the labels %v, want %s", c.low, c.high, got, c.want)
		}
	}
	linearTicks(1e-320, 2e-320, alwaysFits) // ends
	rapid.Check(t, func(t *rapid.T) {
		low := numbers.Draw(t, "low")
		high := low + math.Abs(low)*math.Pow(10, rapid.Float64Range(-12, 2).Draw(t, "power of ten"))
		if !(high-low > 1e-290) || math.IsInf(high-low, 0) {
			t.Skip("no axis")
		}
		before := math.Inf(-1)
		for _, tick := range linearTicks(low, high, alwaysFits) {
			v, err := strconv.ParseFloat(tick.Label, 64)
			if err != nil || !(v > before) || !(math.Abs(v-tick.Value) <= (high-low)/100+1e-15*math.Abs(high)) {
				t.Fatalf("%v has the label %s, after %v", tick.Value, tick.Label, before)
			}
			before = v
		}
	})
}
