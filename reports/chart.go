package reports

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An Axis is an axis of a chart. The zero value is a linear axis over the range of the data.
type Axis struct {
	// Label names the quantity and its unit, for example "Makespan [s]". The chart adds "log scale".
	Label string
	// Log scales logarithmically; all values must then be above 0.
	Log bool
	// Ticks are the values to mark, ascending; nil leaves the choice to the chart. Only labels that fit are drawn.
	Ticks []float64
	// From and To bound the axis; both 0 takes the range of the data.
	From, To float64
}

// place returns the place of a value on the axis: on a logarithmic one its power of ten.
func (a *Axis) place(v float64) float64 {
	if a.Log {
		return math.Log10(v)
	}
	return v
}

// A Chart is a [Figure] that [Panels] can hold: [Lines] or [Bars].
type Chart interface {
	Figure
	// chart checks the input and says what to draw, with the colours of names.
	chart(names *palette) (*chart, error)
}

// A palette numbers the colours of names, in the order in which they appear.
type palette struct{ names []string }

func (p *palette) index(name string) int {
	if i := slices.Index(p.names, name); i >= 0 {
		return i
	}
	p.names = append(p.names, name)
	return len(p.names) - 1
}

// An extent is a range of values.
type extent struct{ low, high float64 }

func emptyExtent() extent { return extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(values ...float64) {
	for _, v := range values {
		e.low, e.high = min(e.low, v), max(e.high, v)
	}
}

// chart holds the parts that all kinds of charts share.
type chart struct {
	title string
	x, y  Axis
	// dataX and dataY are the ranges of the data.
	dataX, dataY extent
	// categories label the places 0, 1, 2... of the horizontal axis; nil for numbers.
	categories []string
	// plotters draw the data, in order.
	plotters []plot.Plotter
	legend   legend
}

// newChart refuses axes that cannot be drawn.
func newChart(title string, x, y Axis) (*chart, error) {
	ch := &chart{title: title, x: x, y: y, dataX: emptyExtent(), dataY: emptyExtent()}
	for _, a := range []struct {
		name string
		Axis
	}{{"the horizontal axis", x}, {"the vertical axis", y}} {
		if !a.drawable() {
			return nil, ch.bad(a.name, "it cannot run from %v to %v", a.From, a.To)
		}
		if err := ch.finite("the ticks of "+a.name, a.Axis, a.Ticks); err != nil {
			return nil, err
		}
	}
	return ch, nil
}

// addY checks values along the vertical axis, and adds them to the range of the data.
func (ch *chart) addY(part string, values []float64) error {
	ch.dataY.add(values...)
	return ch.finite(part, ch.y, values)
}

// addBand checks the error bars of n values, which may be missing, and adds them to the range of the data.
func (ch *chart) addBand(part, what string, n int, low, high []float64) error {
	if len(low) != len(high) || low != nil && len(low) != n {
		return ch.bad(part, "its %s has %d lower and %d upper values for %d", what, len(low), len(high), n)
	}
	return ch.addY(part+", "+what, slices.Concat(low, high))
}

func (ch *chart) bad(part, format string, args ...any) error {
	return refuse(ch.title, part, format, args...)
}

// finite checks values that are drawn along an axis.
func (ch *chart) finite(part string, a Axis, values []float64) error {
	for i, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return ch.bad(part, "value %d is %v; a chart needs finite numbers", i+1, v)
		case math.Abs(v) > largest:
			return ch.bad(part, "value %d is %v; a chart shows numbers up to %v", i+1, v, float64(largest))
		case a.Log && v < 1/largest:
			return ch.bad(part, "value %d is %v; a logarithmic axis needs numbers above 0, from %v on", i+1,
				v, 1/largest)
		case a.From != a.To && (v < a.From || v > a.To):
			return ch.bad(part, "value %d is %v, outside the axis from %v to %v", i+1, v, a.From, a.To)
		}
	}
	return nil
}

// largest bounds the numbers of a chart, so that ranges and their logarithms stay finite.
const largest = 1e100

// drawable reports whether the range asked for, if any, ascends by more than rounding errors.
func (a *Axis) drawable() bool {
	if a.From == 0 && a.To == 0 {
		return true
	}
	size := max(math.Abs(a.From), math.Abs(a.To))
	return size <= largest && a.To-a.From >= leastRange*size && (!a.Log || a.From >= 1/largest)
}

// leastRange is the least range of an axis relative to its values; below it ticks could not be told apart.
const leastRange = 1e-9

// points returns the coordinates of data on the axes.
func (ch *chart) points(xs, ys []float64) plotter.XYs {
	out := make(plotter.XYs, len(xs))
	for i := range xs {
		out[i] = plotter.XY{X: ch.x.place(xs[i]), Y: ch.y.place(ys[i])}
	}
	return out
}

// minData is the least width and height of a data area.
const minData vg.Length = 60

// fits refuses a data area that ends to the right of the page's content, or is too small for the data or the names of
// categories.
func (ch *chart) fits(p *plot.Plot, area vg.Rectangle, right vg.Length) error {
	if over := area.Max.X - right; over > margin/2 { // labels are so long that [plot.Align] finds no room for them
		return ch.bad("", "axes and names are %.0f points wider than the page; make labels shorter", over)
	}
	data, sty := area.Size(), sans(textSize)
	need := max(minData, sty.Width(p.X.Label.Text))
	if data.X < need || data.Y < sty.Width(p.Y.Label.Text) {
		return ch.bad("", "axes and names leave %.0f x %.0f points for the data, which needs %.0f x %.0f; "+
			"make labels shorter", max(0, data.X), max(0, data.Y), need, sty.Width(p.Y.Label.Text))
	}
	n := len(ch.categories)
	need = vg.Length(n) * leading * textSize
	if data.X < need {
		return ch.bad("", "%d categories need %.0f points in width for their names, and there are %.0f", n, need,
			data.X)
	}
	return nil
}

// plot sets up axes and data for a data area of about the size. The caller sets the title.
func (ch *chart) plot(size vg.Point) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	sty := sans(textSize)
	p.Title.TextStyle.Font, p.Title.TextStyle.Color = bold(titleSize).Font, ink
	p.Title.Padding = 4
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = solid(ink, 0.6)
		a.Tick.LineStyle = solid(ink, 0.6)
		a.Tick.Length = 3
		a.Padding = 0
		a.Tick.Label.Font, a.Tick.Label.Color = sty.Font, ink
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = sty.Font, ink
		a.Label.Padding = 3
	}
	grid := plotter.NewGrid()
	grid.Horizontal = solid(gridGrey, 0.5)
	grid.Vertical = grid.Horizontal
	p.Add(grid)
	p.Add(ch.plotters...)

	p.Y.Min, p.Y.Max = ch.y.scale(ch.dataY)
	if !ch.y.Log && p.Y.Min < 0 && p.Y.Max > 0 {
		p.Add(zeroLine{})
	}
	p.Y.Label.Text = ch.y.wrapLabel(sty, size.Y)
	p.Y.Tick.Marker = ch.y.ticks(p.Y.Min, p.Y.Max, size.Y, func(string) vg.Length { return textSize })
	p.X.Label.Text = ch.x.wrapLabel(sty, size.X)
	if ch.categories == nil {
		p.X.Min, p.X.Max = ch.x.scale(ch.dataX)
		p.X.Tick.Marker = ch.x.ticks(p.X.Min, p.X.Max, size.X, sty.Width)
		return p
	}
	p.X.Min, p.X.Max = -0.5, float64(len(ch.categories))-0.5
	ch.nameCategories(p, size.X)
	return p
}

// A zeroLine marks where values change their sign.
type zeroLine struct{}

// Plot draws the line, grey and dashed as a [Level].
func (zeroLine) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	c.StrokeLine2(dashed(levelGrey, 0.9), c.Min.X, y(0), c.Max.X, y(0))
}

func (a *Axis) wrapLabel(sty draw.TextStyle, length vg.Length) string {
	text := a.Label
	if a.Log {
		text += ", log scale"
	}
	return strings.Join(wrap(sty, text, length), "\n")
}

// scale returns the ends of an axis: the ends that the caller wants, or the range of the data with a
// small margin. The margin does not extend below 0 if the data do not.
func (a *Axis) scale(data extent) (low, high float64) {
	if a.From != a.To {
		return a.place(a.From), a.place(a.To)
	}
	data.add(a.Ticks...)
	low, high = a.place(data.low), a.place(data.high)
	size := max(math.Abs(low), math.Abs(high))
	room := max(0.05*(high-low), leastRange*size)
	if high == low {
		room = max(0.05*size, leastRange)
	}
	if low >= 0 && !a.Log {
		return max(0, low-room), high + room
	}
	return low - room, high + room
}

// nameCategories writes the categories below the axis, wrapped, or upright if a word is wider than a category.
func (ch *chart) nameCategories(p *plot.Plot, width vg.Length) {
	sty, slot := sans(textSize), width/vg.Length(len(ch.categories))
	names, lines := make([][]string, len(ch.categories)), 0
	upright := false
	for i, name := range ch.categories {
		names[i] = wrap(sty, name, slot-4)
		upright = upright || widest(sty, names[i]) > slot-4
	}
	p.X.Tick.Length = 0
	if upright {
		p.X.Tick.Label.Rotation = math.Pi / 2
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
	for i, name := range ch.categories {
		if upright {
			names[i] = wrapTo(sty, name, int(slot/(leading*textSize)))
		}
		lines = max(lines, len(names[i]))
	}
	ticks := make(plot.ConstantTicks, len(names))
	for i, n := range names {
		ticks[i].Value = float64(i)
		if upright {
			// Plots place upright names a descender's height too high; spaces move them down.
			ticks[i].Label = strings.Join(n, "  \n") + "  "
			continue
		}
		// All have as many lines as the longest name, because plots place names by their height.
		ticks[i].Label = strings.Join(n, "\n") + strings.Repeat("\n ", lines-len(n))
	}
	p.X.Tick.Marker = ticks
}
