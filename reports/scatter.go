package reports

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Points is a group of a [Scatter] chart.
type Points struct {
	// Name stands in the legend.
	Name string
	// X and Y are the points, one value each.
	X, Y []float64
}

// Scatter is a chart of points, at most [MaxSeries] groups.
type Scatter struct {
	Title  string
	X, Y   Axis
	Groups []Points
	// Width and Height are those of the image in points; 0 means [PageWidth] and 270.
	Width, Height vg.Length
}

func (f Scatter) page() (page, error) { return onePage(f, f.Width, f.Height) }

func (f Scatter) chart(names *palette) (*chart, error) {
	ch := &chart{title: f.Title, x: f.X, y: f.Y, dataX: emptySpan(), dataY: emptySpan()}
	if err := ch.check(); err != nil {
		return nil, err
	}
	if len(f.Groups) == 0 {
		return nil, ch.bad("", "it has no groups")
	}
	for _, g := range f.Groups {
		part := fmt.Sprintf("group %q", g.Name)
		switch {
		case g.Name == "":
			return nil, ch.bad(part, "it has no name")
		case len(g.X) == 0:
			return nil, ch.bad(part, "it has no points")
		case len(g.X) != len(g.Y):
			return nil, ch.bad(part, "it has %d x and %d y values", len(g.X), len(g.Y))
		}
		if err := ch.finite(part+", x", f.X, g.X); err != nil {
			return nil, err
		}
		if err := ch.finite(part+", y", f.Y, g.Y); err != nil {
			return nil, err
		}
		ch.dataX.add(g.X...)
		ch.dataY.add(g.Y...)
		names.index(g.Name)
	}
	if err := ch.checkCount(names); err != nil {
		return nil, err
	}
	for _, g := range f.Groups {
		sign := glyph(names.index(g.Name))
		ch.marks = append(ch.marks, func(c draw.Canvas, x, y func(float64) vg.Length) {
			for _, p := range points(x, y, g.X, g.Y) {
				c.DrawGlyphNoClip(sign, p)
			}
		})
		ch.legend = append(ch.legend, legendEntry{g.Name, func(c draw.Canvas) { c.DrawGlyphNoClip(sign, c.Center()) }})
	}
	return ch, nil
}
