package reports

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Level is a value to compare the lines of a [Lines] chart with, such as that of a method that
// does not change along the horizontal axis. It is drawn dashed across the chart. Its name is
// written at the right end and not in the legend, so that levels at the same height stay apart.
type Level struct {
	Name string
	Y    float64
}

// levels draws levels; it is a plot.Plotter that asks for the room that the names need.
type levels []Level

// levelLead is the length of the line from a level to its name.
const levelLead vg.Length = 8

func (ch *chart) addLevels(all []Level) error {
	for i, l := range all {
		if l.Name == "" {
			return ch.bad(fmt.Sprintf("level %d", i+1), "it has no name")
		}
		if err := ch.addY(fmt.Sprintf("level %q", l.Name), []float64{l.Y}); err != nil {
			return err
		}
	}
	ch.levels = all
	return nil
}

func levelHeight() vg.Length { return height(sans(textSize), 1) + 1 }

func (ls levels) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	var wide vg.Length
	for _, l := range ls {
		wide = max(wide, sans(textSize).Width(l.Name)+levelLead+2)
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: rect(0, 0, wide, 0)}}
}

func (ls levels) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	at := make([]vg.Length, len(ls))
	for i, l := range ls {
		at[i] = y(l.Y)
	}
	half := levelHeight() / 2
	names := spread(at, 2*half, c.Max.Y-half)
	for i, l := range ls {
		c.StrokeLine2(dashed(ink, 0.9), c.Min.X, at[i], c.Max.X, at[i])
		c.StrokeLine2(solid(ink, 0.5), c.Max.X, at[i], c.Max.X+levelLead, names[i])
		write(c, sans(textSize), draw.XLeft, vg.Point{X: c.Max.X + levelLead + 2, Y: names[i]}, l.Name)
	}
}

// spread moves the places of labels of a height apart, none above the limit and each as near to
// where it was as possible.
func spread(at []vg.Length, high, limit vg.Length) []vg.Length {
	at = slices.Clone(at)
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	// First move labels up until none overlaps, then down from the limit.
	for k := 1; k < len(order); k++ {
		at[order[k]] = max(at[order[k]], at[order[k-1]]+high)
	}
	for _, i := range slices.Backward(order) {
		at[i] = min(at[i], limit)
		limit = at[i] - high
	}
	return at
}
