package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// Speedups draws how much faster tasks are on larger instances than on one slice (FAR Figs. 3 and 11, DRL Figs. 7
// and 8), perPanel tasks in a panel, and the linear speedup if it is wanted. A task that does not fit on one slice
// is compared with the smallest size that it fits on, and its name says so. Tasks that fit no size are left out.
func Speedups(title string, g *mig.GPU, b task.Batch, perPanel int, linear bool) Panels {
	x, y := Axis{Label: "Instance size [slices]"}, Axis{Label: "Speedup"}
	for _, size := range g.Sizes() {
		x.Ticks = append(x.Ticks, float64(size))
	}
	var series []Series
	top := 0.0
	for i := range b {
		t := &b[i]
		s := Series{Name: t.Name, Markers: true}
		var from mig.Slices
		for _, size := range g.Sizes() {
			if t.Fits(size) {
				from = cmp.Or(from, size)
				s.X, s.Y = append(s.X, float64(size)), append(s.Y, float64(t.On(from)/t.On(size)))
			}
		}
		if from == 0 {
			continue
		}
		if from != g.Sizes()[0] {
			s.Name += fmt.Sprintf(" (over %d slices)", from)
		}
		top = max(top, slices.Max(s.Y))
		series = append(series, s)
	}
	if linear {
		top = max(top, float64(g.ComputeSlices))
	}
	y.To = math.Ceil(top)
	ends := []float64{1, float64(g.ComputeSlices)}
	out := Panels{Title: title}
	for some := range slices.Chunk(series, perPanel) {
		panel := Lines{X: x, Y: y, Series: slices.Clone(some)}
		if linear {
			panel.Series = append(panel.Series, Series{Name: "linear", X: ends, Y: ends, Reference: true})
		}
		out.Charts = append(out.Charts, panel)
	}
	return out
}
