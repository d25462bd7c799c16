package reports

import (
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// TestTicks: labels fit, differ and say where the marks are, on any axis that can be drawn.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := emptyExtent()
		a := Axis{Log: rapid.Bool().Draw(t, "log")}
		values := rapid.SampledFrom([]*rapid.Generator[float64]{polite, rapid.Float64Range(1e-100, 1e100), rapid.Float64Range(-1e9, 1e9)})
		data.add(rapid.SliceOfN(values.Draw(t, "values"), 1, 3).Draw(t, "data")...)
		if a.Log && data.low < 1e-100 {
			t.Skip("not above 0")
		}
		low, high := a.scale(data)
		length := vg.Length(rapid.Float64Range(60, 400).Draw(t, "length"))
		size := sans(textSize).Width
		before, ends, labels := math.Inf(-1), -vg.Length(math.Inf(1)), 0
		for _, tick := range a.ticks(low, high, length, size) {
			if tick.Label == "" {
				continue
			}
			labels++
			v, err := strconv.ParseFloat(tick.Label, 64)
			if err != nil || !(v > before) || !(math.Abs(a.place(v)-tick.Value) <= (high-low)/100+1e-9*math.Abs(high)) {
				t.Fatalf("%v has the label %s, after %v", tick.Value, tick.Label, before)
			}
			at, half := length*vg.Length((tick.Value-low)/(high-low)), size(tick.Label)/2
			if at-half < ends && labels > 2 {
				t.Fatalf("the label %s begins at %v, before the end %v of the last one", tick.Label, at-half, ends)
			}
			before, ends = v, at+half
		}
	})
}
