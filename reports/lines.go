package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Series is a line of a [Lines] chart.
type Series struct {
	// Name is the name in the legend, which series may share.
	Name string
	// X and Y are the coordinates of the points, with X ascending.
	X, Y []float64
	// Low and High bound a confidence band, one value for each point; both may be nil.
	Low, High []float64
	// Markers draws signs: one at every point, or about [fewSigns] along a line of many points.
	Markers bool
	// Published draws the line dashed, in the colour of the measured series with the same name.
	Published bool
	// Reference draws the line grey and dashed: something to compare the others with.
	Reference bool
	// Width is the width of the line in points; 0 means 1.3. Published and Reference lines have their own.
	Width vg.Length
}

// Add appends a point with the ends of its confidence band.
func (s *Series) Add(x, y, low, high float64) {
	s.X, s.Y = append(s.X, x), append(s.Y, y)
	s.Low, s.High = append(s.Low, low), append(s.High, high)
}

// Lines is a chart of lines. They have at most [MaxSeries] different names, not counting references.
type Lines struct {
	Title  string
	X, Y   Axis
	Series []Series
	Levels []Level
	// Dots draws only the points of series, as small translucent signs, and their X need not ascend. References are
	// drawn as lines.
	Dots bool
}

func (f Lines) page() (page, error) { return onePage(f) }

func (f Lines) chart(names *palette) (*chart, error) {
	ch, err := newChart(f.Title, f.X, f.Y)
	if err != nil {
		return nil, err
	}
	if len(f.Series) == 0 {
		return nil, ch.bad("", "it has no series")
	}
	for _, s := range f.Series {
		if err := f.checkSeries(ch, s); err != nil {
			return nil, err
		}
		if !s.Reference {
			names.index(s.Name)
		}
	}
	if err := ch.checkCount(names); err != nil {
		return nil, err
	}
	if err := ch.addLevels(f.Levels); err != nil {
		return nil, err
	}
	// Bands lie below all lines.
	for _, s := range f.Series {
		if s.Low != nil && !s.Reference {
			edge, back := ch.points(s.X, s.Low), ch.points(s.X, s.High)
			slices.Reverse(back)
			fill := okabeIto[names.index(s.Name)]
			fill.A = 0x38
			ring := []plotter.XYs{append(edge, back...)}
			ch.plotters = append(ch.plotters, &plotter.Polygon{XYs: ring, Color: fill, LineStyle: solid(fill, 0.3)})
		}
	}
	for _, s := range f.Series {
		f.addSeries(ch, names, s)
	}
	return ch, nil
}

// addSeries adds the line of a series and its entry in the legend.
func (f Lines) addSeries(ch *chart, names *palette, s Series) {
	if s.Reference {
		line := &plotter.Line{XYs: ch.points(s.X, s.Y), LineStyle: dashed(levelGrey, 0.9)}
		ch.plotters = append(ch.plotters, line)
		ch.legend = append(ch.legend, legendEntry{s.Name, []plot.Thumbnailer{line}})
		return
	}
	colour := names.index(s.Name)
	line := &plotter.Line{XYs: ch.points(s.X, s.Y), LineStyle: solid(okabeIto[colour], cmp.Or(s.Width, 1.3))}
	signs := &plotter.Scatter{GlyphStyle: glyph(colour)}
	e := legendEntry{s.Name, nil}
	if s.Published {
		line.LineStyle = dashed(okabeIto[colour], 1.3)
		e.label += " (published)"
	}
	if f.Dots {
		dots := &plotter.Scatter{XYs: line.XYs, GlyphStyle: glyph(colour)}
		fill := okabeIto[colour]
		fill.A = 0x80
		dots.Color, dots.Radius = fill, 1.6
		ch.plotters, e.signs = append(ch.plotters, dots), append(e.signs, signs)
		ch.legend.add(e)
		return
	}
	ch.plotters, e.signs = append(ch.plotters, line), append(e.signs, line)
	if s.Markers || len(s.X) == 1 { // a single point makes no line
		signs.XYs = pickPoints(line.XYs, colour)
		ch.plotters, e.signs = append(ch.plotters, signs), append(e.signs, signs)
	}
	ch.legend.add(e)
}

// checkSeries checks a series and adds it to the ranges of the data.
func (f Lines) checkSeries(ch *chart, s Series) error {
	part := fmt.Sprintf("series %q", s.Name)
	switch {
	case len(s.X) == 0:
		return ch.bad(part, "it has no points")
	case len(s.X) != len(s.Y):
		return ch.bad(part, "it has %d x and %d y values", len(s.X), len(s.Y))
	}
	if err := ch.finite(part+", x", ch.x, s.X); err != nil {
		return err
	}
	ch.dataX.add(s.X...)
	if err := ch.addY(part+", y", s.Y); err != nil {
		return err
	}
	return ch.addBand(part, "band", len(s.X), s.Low, s.High)
}

// checkCount refuses more names than colours.
func (ch *chart) checkCount(names *palette) error {
	n := len(names.names)
	if n > MaxSeries {
		return ch.bad("",
			"%d series (%s) cannot be told apart; use at most %d, or small multiples (Panels)",
			n, strings.Join(names.names, ", "), MaxSeries)
	}
	return nil
}

// pickPoints returns the points that have signs: all, or about [fewSigns] of many.
func pickPoints(all plotter.XYs, colour int) (out plotter.XYs) {
	step, first := 1, 0
	if len(all) > 2*fewSigns {
		step = len(all) / fewSigns
		first = step * colour / MaxSeries // lines of other colours have theirs elsewhere
	}
	for i := first; i < len(all); i += step {
		out = append(out, all[i])
	}
	return out
}

// fewSigns is how many signs a line of many points has; more would hide it.
const fewSigns = 6

func glyph(colour int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: okabeIto[colour], Radius: 3.1 - 0.18*vg.Length(colour), Shape: markers[colour]}
}

// A Level is a value to compare the lines of a [Lines] chart with. It is drawn grey and dashed across the chart. Its
// name is at the right end, where names that would overlap are moved apart.
type Level struct {
	Name string
	Y    float64
}

// levels is a [plot.Plotter] that draws levels, and a [plot.GlyphBoxer] that asks for the room of their names.
type levels struct {
	names []string
	// at has the places of the levels on the axis.
	at []float64
}

const (
	// levelLead is the length of the line from a level to its name.
	levelLead vg.Length = 8
	// levelWidth is the width of the names, unless a word is wider.
	levelWidth vg.Length = 80
)

func (ch *chart) addLevels(all []Level) error {
	var ls levels
	for _, l := range all {
		if err := ch.addY(fmt.Sprintf("level %q", l.Name), []float64{l.Y}); err != nil {
			return err
		}
		ls.names = append(ls.names, l.Name)
		ls.at = append(ls.at, ch.y.place(l.Y))
	}
	if all != nil {
		ch.plotters = append(ch.plotters, ls)
	}
	return nil
}

// GlyphBoxes returns the room of the names.
func (ls levels) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	var wide vg.Length
	for _, name := range ls.names {
		wide = max(wide, widest(sans(textSize), wrap(sans(textSize), name, levelWidth))+levelLead+2)
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: rect(0, 0, wide, 0)}}
}

// Plot draws the lines with their names.
func (ls levels) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	at, lines := make([]vg.Length, len(ls.names)), make([][]string, len(ls.names))
	high := vg.Length(0)
	for i, name := range ls.names {
		at[i], lines[i] = y(ls.at[i]), wrap(sans(textSize), name, levelWidth)
		high = max(high, height(sans(textSize), len(lines[i]))+2)
	}
	for i, to := range spread(at, high, c.Max.Y-high/2) {
		c.StrokeLine2(dashed(levelGrey, 0.9), c.Min.X, at[i], c.Max.X, at[i])
		c.StrokeLine2(solid(levelGrey, 0.5), c.Max.X, at[i], c.Max.X+levelLead, to)
		write(c, sans(textSize), draw.XLeft, vg.Point{X: c.Max.X + levelLead + 2, Y: to}, lines[i]...)
	}
}

// spread returns places near the given ones for labels of the given height. None overlaps another or is above limit.
func spread(at []vg.Length, high, limit vg.Length) []vg.Length {
	at = slices.Clone(at)
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	// First move labels up until they are apart, then down from the limit.
	for k := 1; k < len(order); k++ {
		at[order[k]] = max(at[order[k]], at[order[k-1]]+high)
	}
	for _, i := range slices.Backward(order) {
		at[i] = min(at[i], limit)
		limit = at[i] - high
	}
	return at
}
