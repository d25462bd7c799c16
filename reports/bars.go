package reports

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// A BarGroup is a set of bars of one colour, one for each category.
type BarGroup struct {
	// Name is the name in the legend.
	Name string
	// Values holds the bars' heights, one for each category.
	Values []float64
	// Low and High bound error bars, one value for each category; both may be nil.
	Low, High []float64
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
	// Dots draws signs in place of bars. The vertical axis covers the data alone, and NaN is skipped.
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
	if !f.Dots {
		ch.dataY = extent{0, 0}
	}
	if err := f.validate(ch, names); err != nil {
		return nil, err
	}
	for i, g := range f.Groups {
		f.drawGroup(ch, i, names.index(g.Name))
	}
	return ch, nil
}

// drawGroup adds the bars or signs of the i-th group to the chart.
func (f Bars) drawGroup(ch *chart, i, colour int) {
	g := &f.Groups[i]
	width := barSpace / float64(len(f.Groups))
	from := -barSpace/2 + float64(i)*width
	signs := &plotter.Scatter{GlyphStyle: glyph(colour)}
	// Bars are paler than the palette so that error bars stand out.
	boxes := &plotter.Polygon{Color: tint(okabeIto[colour], 0.35), LineStyle: solid(okabeIto[colour], 0.6)}
	whiskers := &plotter.YErrorBars{LineStyle: solid(ink, 0.8), CapWidth: 4.4}
	for k, v := range g.Values {
		if math.IsNaN(v) {
			continue
		}
		x := float64(k) + from
		at := ch.points([]float64{x + width/2}, []float64{v})
		signs.XYs = append(signs.XYs, at...)
		boxes.XYs = append(boxes.XYs, ch.points([]float64{x, x, x + width, x + width}, []float64{0, v, v, 0}))
		if g.Low != nil && !math.IsNaN(g.High[k]-g.Low[k]) {
			ends := struct{ Low, High float64 }{at[0].Y - ch.y.place(g.Low[k]), ch.y.place(g.High[k]) - at[0].Y}
			whiskers.XYs = append(whiskers.XYs, at...)
			whiskers.YErrors = append(whiskers.YErrors, ends)
		}
	}
	if f.Dots {
		whiskers.Color = okabeIto[colour]
		ch.plotters = append(ch.plotters, whiskers, signs) // a whisker may be shorter than its sign
		ch.legend = append(ch.legend, legendEntry{g.Name, []plot.Thumbnailer{signs}})
	} else {
		ch.plotters = append(ch.plotters, boxes, whiskers)
		ch.legend = append(ch.legend, legendEntry{g.Name, []plot.Thumbnailer{boxes}})
	}
}

func (f Bars) validate(ch *chart, names *palette) error {
	switch {
	case f.Y.Log && !f.Dots || f.X.Log:
		return ch.bad("", "bars begin at 0, which a logarithmic axis does not have")
	case len(f.Categories) == 0:
		return ch.bad("", "it has no categories")
	case len(f.Groups) == 0:
		return ch.bad("", "it has no groups")
	}
	for _, g := range f.Groups {
		names.index(g.Name)
		part := fmt.Sprintf("group %q", g.Name)
		n := len(f.Categories)
		switch {
		case len(g.Values) != n:
			return ch.bad(part, "it has %d values for %d categories", len(g.Values), n)
		case len(withoutNaN(g.Values)) == 0:
			return ch.bad(part, "it has no values")
		}
		values, low, high := g.Values, g.Low, g.High
		if f.Dots {
			values, low, high = withoutNaN(values), withoutNaN(low), withoutNaN(high)
		}
		if err := ch.addY(part, values); err != nil {
			return err
		}
		if err := ch.addBand(part, "error bar", len(values), low, high); err != nil {
			return err
		}
	}
	return ch.checkCount(names)
}

func withoutNaN(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}
