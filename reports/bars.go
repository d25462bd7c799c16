package reports

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A BarGroup is a set of bars of one colour, one for each category.
type BarGroup struct {
	// Name is the name in the legend.
	Name string
	// Values holds the bars' heights, one for each category.
	Values []float64
	// Low and High bound error bars, one value for each category; both nil for none.
	Low, High []float64
	// Published holds the published value of each category, or NaN for none; nil if there are none at all.
	Published []float64
}

// Add appends the bar of the next category, with the ends of its error bar.
func (g *BarGroup) Add(value, low, high float64) {
	g.Values, g.Low, g.High = append(g.Values, value), append(g.Low, low), append(g.High, high)
}

// Bars is a chart of grouped bars from 0, at most [MaxSeries] groups, on a linear axis unless it has dots.
type Bars struct {
	Title string
	X, Y  Axis
	// Categories are the names below the bars; long words may have [MayBreak].
	Categories []string
	Groups     []BarGroup
	// Dots draws signs in place of bars. The vertical axis covers the data alone, and NaN draws nothing.
	Dots bool
}

func (f Bars) page() (page, error) { return onePage(f) }

// barSpace is the part of a category's width that its bars take.
const barSpace = 0.8

func (f Bars) chart(names *palette) (*chart, error) {
	ch, err := newChart(f.Title, f.X, f.Y)
	if err != nil {
		return nil, err
	}
	ch.categories = f.Categories
	if f.Dots {
		ch.marks = append(ch.marks, f.separators)
	} else {
		ch.dataY = extent{0, 0}
	}
	if err := f.validate(ch); err != nil {
		return nil, err
	}
	for _, g := range f.Groups {
		names.index(g.Name)
	}
	if err := ch.checkCount(names); err != nil {
		return nil, err
	}
	published := false
	width := barSpace / float64(len(f.Groups))
	for i, g := range f.Groups {
		colour := names.index(g.Name)
		left := -barSpace/2 + float64(i)*width
		ch.marks = append(ch.marks, func(c draw.Canvas, x, y func(float64) vg.Length) {
			for k, v := range g.Values {
				at := float64(k) + left
				switch {
				case math.IsNaN(v):
				case f.Dots: // above its whisker, which may be shorter
					g.whisker(c, okabeIto[colour], k, x(at+width/2), y)
					c.DrawGlyphNoClip(glyph(colour), vg.Point{X: x(at + width/2), Y: y(v)})
				default:
					barBox(c, rect(x(at), y(0), x(at+width), y(v)), colour)
					g.whisker(c, ink, k, x(at+width/2), y)
				}
			}
			for k, v := range g.Published {
				if !math.IsNaN(v) {
					publishedSign(c, vg.Point{X: x(float64(k) + left + width/2), Y: y(v)})
				}
			}
		})
		ch.legend = append(ch.legend, legendEntry{g.Name, func(c draw.Canvas) {
			if f.Dots {
				c.DrawGlyphNoClip(glyph(colour), c.Center())
			} else {
				barBox(c, c.Rectangle, colour)
			}
		}})
		published = published || len(known(g.Published)) > 0
	}
	if published {
		ch.legend = append(ch.legend, legendEntry{"published", func(c draw.Canvas) { publishedSign(c, c.Center()) }})
	}
	return ch, nil
}

func (f Bars) separators(c draw.Canvas, x, _ func(float64) vg.Length) {
	for k := range len(f.Categories) - 1 {
		at := x(float64(k) + 0.5)
		c.StrokeLine2(solid(gridGrey, 0.5), at, c.Min.Y, at, c.Max.Y)
	}
}

func (f Bars) validate(ch *chart) error {
	switch {
	case f.Y.Log && !f.Dots || f.X.Log:
		return ch.bad("", "bars begin at 0, which a logarithmic axis does not have")
	case len(f.Categories) == 0:
		return ch.bad("", "it has no categories")
	case len(f.Groups) == 0:
		return ch.bad("", "it has no groups")
	}
	for i, name := range f.Categories {
		if strings.TrimSpace(name) == "" {
			return ch.bad(fmt.Sprintf("category %d", i+1), "it has no name")
		}
	}
	for _, g := range f.Groups {
		part := fmt.Sprintf("group %q", g.Name)
		n := len(f.Categories)
		switch {
		case g.Name == "":
			return ch.bad(part, "it has no name")
		case len(g.Values) != n:
			return ch.bad(part, "it has %d values for %d categories", len(g.Values), n)
		case len(known(g.Values)) == 0:
			return ch.bad(part, "it has no values")
		case g.Published != nil && len(g.Published) != n:
			return ch.bad(part, "it has %d published values for %d categories; use NaN where there is none",
				len(g.Published), n)
		}
		values, low, high := g.Values, g.Low, g.High
		if f.Dots {
			values, low, high = known(values), known(low), known(high)
		}
		if err := ch.addY(part, slices.Concat(values, known(g.Published))); err != nil {
			return err
		}
		if err := ch.addBand(part, "error bar", len(values), low, high); err != nil {
			return err
		}
	}
	return nil
}

func known(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}

func (g *BarGroup) whisker(c draw.Canvas, colour color.Color, category int, x vg.Length, y func(float64) vg.Length) {
	if g.Low == nil || math.IsNaN(g.High[category]-g.Low[category]) {
		return
	}
	const half vg.Length = 2.2
	low, high := y(g.Low[category]), y(g.High[category])
	sty := solid(colour, 0.8)
	c.StrokeLine2(sty, x, low, x, high)
	c.StrokeLine2(sty, x-half, low, x+half, low)
	c.StrokeLine2(sty, x-half, high, x+half, high)
}

// barBox draws a bar, paler than the palette so that error bars and published values stand out.
func barBox(c draw.Canvas, r vg.Rectangle, colour int) {
	box(c, r, tint(okabeIto[colour], 0.35), solid(okabeIto[colour], 0.6))
}

// publishedSign marks a published value: a white diamond with a black edge.
func publishedSign(c draw.Canvas, at vg.Point) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink, Radius: 3.6, Shape: diamond}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: color.White, Radius: 2.4, Shape: diamond}, at)
}
