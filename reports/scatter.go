package reports

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Points is a group of a [Scatter] chart.
type Points struct {
	// Name is the name in the legend.
	Name string
	// X and Y are the coordinates of the points.
	X, Y []float64
}

// Scatter is a chart of points, at most [MaxSeries] groups.
type Scatter struct {
	Title  string
	X, Y   Axis
	Groups []Points
}

func (f Scatter) page() (page, error) { return onePage(f) }

func (f Scatter) chart(names *palette) (*chart, error) {
	ch, err := newChart(f.Title, f.X, f.Y)
	if err != nil {
		return nil, err
	}
	if len(f.Groups) == 0 {
		return nil, ch.bad("", "it has no groups")
	}
	for _, g := range f.Groups {
		if err := ch.addPoints(fmt.Sprintf("group %q", g.Name), g.Name, g.X, g.Y); err != nil {
			return nil, err
		}
		names.index(g.Name)
	}
	if err := ch.checkCount(names); err != nil {
		return nil, err
	}
	for _, g := range f.Groups {
		sign := glyph(names.index(g.Name))
		ch.legend = append(ch.legend, legendEntry{g.Name, func(c draw.Canvas) { c.DrawGlyphNoClip(sign, c.Center()) }})
	}
	ch.marks = append(ch.marks, func(c draw.Canvas, x, y func(float64) vg.Length) { f.draw(c, names, x, y) })
	return ch, nil
}

// cloud is the number of points of a group from which on they are small and let others through.
const cloud = 100

// draw draws the first point of each group, then the second and so on, so that no group covers another.
func (f Scatter) draw(c draw.Canvas, names *palette, x, y func(float64) vg.Length) {
	most := 0
	for _, g := range f.Groups {
		most = max(most, len(g.X))
	}
	for i := range most {
		for _, g := range f.Groups {
			if i >= len(g.X) {
				continue
			}
			sign := glyph(names.index(g.Name))
			if most >= cloud {
				fill := okabeIto[names.index(g.Name)]
				fill.A = 0x80
				sign.Color, sign.Radius = fill, 1.6
			}
			c.DrawGlyphNoClip(sign, vg.Point{X: x(g.X[i]), Y: y(g.Y[i])})
		}
	}
}
