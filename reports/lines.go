package reports

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Series is a line of a [Lines] chart.
type Series struct {
	// Name is the name in the legend.
	Name string
	// X and Y are the coordinates of the points, with X ascending.
	X, Y []float64
	// Low and High bound a confidence band, one value for each point; both nil for none.
	Low, High []float64
	// Markers draws signs: one at every point, or about [fewSigns] along a line of many points.
	Markers bool
	// Published draws the line dashed, in the colour of the measured series with the same
	// name.
	Published bool
}

// Add appends a point with the ends of its confidence band.
func (s *Series) Add(x, y, low, high float64) {
	s.X, s.Y = append(s.X, x), append(s.Y, y)
	s.Low, s.High = append(s.Low, low), append(s.High, high)
}

// Lines is a chart of one or several lines, at most [MaxSeries] names.
type Lines struct {
	Title  string
	X, Y   Axis
	Series []Series
	Levels []Level
}

func (f Lines) page() (page, error) { return onePage(f) }

// Split divides the chart into small multiples of at most n series each, with two panels in
// a row and the axes of the whole chart. A published series stays with the series of its
// name.
func (f Lines) Split(n int) Panels {
	var names []string
	for _, s := range f.Series {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	x, y := emptySpan(), emptySpan()
	for _, s := range f.Series {
		x.add(s.X...)
		y.add(s.Y...)
		y.add(s.Low...)
		y.add(s.High...)
	}
	for _, l := range f.Levels {
		y.add(l.Y)
	}
	p := Panels{Title: f.Title, Columns: 2}
	for chunk := range slices.Chunk(names, max(1, n)) {
		part := Lines{X: f.X, Y: f.Y, Levels: f.Levels}
		part.X.cover(x)
		part.Y.cover(y)
		for _, s := range f.Series {
			if slices.Contains(chunk, s.Name) {
				part.Series = append(part.Series, s)
			}
		}
		p.Charts = append(p.Charts, part)
	}
	return p
}

func (f Lines) chart(names *palette) (*chart, error) {
	ch, err := newChart(f.Title, f.X, f.Y)
	if err != nil {
		return nil, err
	}
	if len(f.Series) == 0 {
		return nil, ch.bad("", "it has no series")
	}
	for _, s := range f.Series {
		if err := ch.addSeries(s); err != nil {
			return nil, err
		}
		names.index(s.Name)
	}
	if err := ch.checkCount(names); err != nil {
		return nil, err
	}
	if err := ch.addLevels(f.Levels); err != nil {
		return nil, err
	}
	// Bands lie below all lines.
	for _, s := range f.Series {
		if s.Low != nil {
			ch.marks = append(ch.marks, band(s, names.index(s.Name)))
		}
	}
	for _, s := range f.Series {
		ch.marks = append(ch.marks, line(s, names.index(s.Name)))
		ch.legend = append(ch.legend, lineEntry(s, names.index(s.Name)))
	}
	return ch, nil
}

func (ch *chart) addSeries(s Series) error {
	part := fmt.Sprintf("series %q", s.Name)
	if err := ch.addPoints(part, s.Name, s.X, s.Y); err != nil {
		return err
	}
	if !slices.IsSorted(s.X) {
		return ch.bad(part, "its x values do not ascend")
	}
	return ch.addBand(part, "band", len(s.X), s.Low, s.High)
}

func (ch *chart) checkCount(names *palette) error {
	if n := len(names.names); n > MaxSeries {
		return ch.bad("", "%d series (%s) cannot be told apart; use at most %d, or small multiples (Lines.Split, Panels)",
			n, strings.Join(names.names, ", "), MaxSeries)
	}
	return nil
}

func points(x, y func(float64) vg.Length, xs, ys []float64) []vg.Point {
	out := make([]vg.Point, len(xs))
	for i := range xs {
		out[i] = vg.Point{X: x(xs[i]), Y: y(ys[i])}
	}
	return out
}

func band(s Series, colour int) mark {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		edge := points(x, y, s.X, s.Low)
		back := points(x, y, s.X, s.High)
		slices.Reverse(back)
		fill := okabeIto[colour]
		fill.A = 0x38
		c.FillPolygon(fill, append(edge, back...))
	}
}

func line(s Series, colour int) mark {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		at := points(x, y, s.X, s.Y)
		c.StrokeLines(s.style(colour), at)
		// A single point makes no line.
		if !s.Markers && len(at) > 1 {
			return
		}
		step, first := 1, 0
		if len(at) > 2*fewSigns {
			step = len(at) / fewSigns
			first = step * colour / MaxSeries // lines of other colours have theirs elsewhere
		}
		for i := first; i < len(at); i += step {
			c.DrawGlyphNoClip(glyph(colour), at[i])
		}
	}
}

// fewSigns is how many signs a line of many points has; more would hide it.
const fewSigns = 6

func (s Series) style(colour int) draw.LineStyle {
	if s.Published {
		return dashed(okabeIto[colour], 1.3)
	}
	return solid(okabeIto[colour], 1.3)
}

func glyph(colour int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: okabeIto[colour], Radius: 3.1 - 0.18*vg.Length(colour), Shape: markers[colour]}
}

func lineEntry(s Series, colour int) legendEntry {
	label := s.Name
	if s.Published {
		label += " (published)"
	}
	return legendEntry{label, func(c draw.Canvas) {
		c.StrokeLine2(s.style(colour), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		if s.Markers || len(s.X) == 1 {
			c.DrawGlyphNoClip(glyph(colour), c.Center())
		}
	}}
}
