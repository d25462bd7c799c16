package reports

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// Speedups draws how much faster tasks are on larger instances than on one slice (FAR Figs. 3
// and 11). Each panel has perPanel tasks and the linear speedup. A task that does not fit on
// one slice is compared with the smallest size that it fits on, and its name says so. Sizes
// that it does not fit on have no point.
func Speedups(title string, g *mig.GPU, b task.Batch, perPanel int) Panels {
	sizes := g.Sizes()
	top := float64(g.ComputeSlices)
	var all []Series
	for i := range b {
		t := &b[i]
		s := Series{Name: t.Name, Markers: true}
		var from mig.Slices
		for _, size := range sizes {
			if !t.Fits(size) {
				continue
			}
			if from == 0 {
				from = size
			}
			s.X = append(s.X, float64(size))
			s.Y = append(s.Y, float64(t.On(from)/t.On(size)))
		}
		if from == 0 {
			continue
		}
		if from != sizes[0] {
			s.Name += fmt.Sprintf(" (over %d slices)", from)
		}
		top = max(top, slices.Max(s.Y))
		all = append(all, s)
	}
	ticks := make([]float64, len(sizes))
	for i, size := range sizes {
		ticks[i] = float64(size)
	}
	linear := []float64{1, float64(g.ComputeSlices)}
	out := Panels{Title: title}
	for some := range slices.Chunk(all, perPanel) {
		out.Charts = append(out.Charts, Lines{
			X:      Axis{Label: "Instance size [slices]", Ticks: ticks},
			Y:      Axis{Label: "Speedup", To: math.Ceil(top)},
			Series: append(slices.Clone(some), Series{Name: "linear", X: linear, Y: linear}),
		})
	}
	return out
}
