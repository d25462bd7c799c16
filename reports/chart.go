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
	// Ticks are the values to mark; nil leaves the choice to the chart.
	Ticks []float64
	// From and To bound the axis; both 0 takes the range of the data.
	From, To float64
}

// A Chart is a [Figure] that [Panels] can hold: [Lines] or [Bars].
type Chart interface {
	Figure
	// chart checks the input and says what to draw, with the colours of names.
	chart(names *palette) (*chart, error)
}

type palette struct{ names []string }

func (p *palette) index(name string) int {
	if i := slices.Index(p.names, name); i >= 0 {
		return i
	}
	p.names = append(p.names, name)
	return len(p.names) - 1
}

type extent struct{ low, high float64 }

func emptyExtent() extent { return extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(values ...float64) {
	for _, v := range values {
		e.low, e.high = min(e.low, v), max(e.high, v)
	}
}

// chart is what the kinds of charts have in common.
type chart struct {
	title string
	x, y  Axis
	// dataX and dataY are the ranges of the data.
	dataX, dataY extent
	// categories label the places 0, 1, 2... of the horizontal axis; nil for numbers.
	categories []string
	// marks draw the data, in order.
	marks  []mark
	levels levels
	legend legend
	// xLabel and yLabel are the lines of the labels of the axes.
	xLabel, yLabel []string
}

type mark func(c draw.Canvas, x, y func(float64) vg.Length)

func (m mark) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	m(c, x, y)
}

// newChart refuses axes that cannot be drawn.
func newChart(title string, x, y Axis) (*chart, error) {
	ch := &chart{title: title, x: x, y: y, dataX: emptyExtent(), dataY: emptyExtent()}
	for _, a := range []struct {
		name string
		Axis
	}{{"the horizontal axis", x}, {"the vertical axis", y}} {
		if a.Label == "" {
			return nil, ch.bad(a.name, "it has no label; name the quantity and its unit")
		}
		if !a.drawable() {
			return nil, ch.bad(a.name, "it cannot run from %v to %v", a.From, a.To)
		}
		if err := ch.finite("the ticks of "+a.name, a.Axis, a.Ticks); err != nil {
			return nil, err
		}
		if !slices.IsSorted(a.Ticks) {
			return nil, ch.bad(a.name, "its ticks do not ascend")
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
	for i := range low {
		if low[i] > high[i] {
			return ch.bad(part, "at value %d its %s runs from %v down to %v", i+1, what, low[i], high[i])
		}
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

func onePage(ch Chart) (page, error) {
	c, err := ch.chart(&palette{})
	if err != nil {
		return page{}, err
	}
	const width, high = PageWidth - 2*margin, 270
	legendHeight := c.legend.height(width)
	rest := vg.Point{X: width, Y: high - headingHeight(c.title, width) - legendHeight - 2*margin}
	p := c.plot(rest)
	if err := c.fits(p, dataSize(p, rest)); err != nil {
		return page{}, err
	}
	return page{PageWidth, high, func(canvas draw.Canvas) layout {
		rest := heading(canvas, c.title)
		at := c.legend.draw(canvas)
		rest.Min.Y += legendHeight
		return layout{data: []vg.Rectangle{c.draw(rest, p)}, legend: at}
	}}, nil
}

// minData is the least width and height of a data area.
const minData vg.Length = 60

// fits refuses a data area too small for the data, the labels, the names of categories or the ticks asked for.
func (ch *chart) fits(p *plot.Plot, data vg.Point) error {
	width, high := data.X, data.Y
	sty := sans(textSize)
	needX, needY := max(minData, widest(sty, ch.xLabel)), max(minData, widest(sty, ch.yLabel))
	if width < needX || high < needY {
		return ch.bad("", "axes, names and legend leave %.0f x %.0f points for the data, which needs %.0f x %.0f; "+
			"make labels shorter", max(0, width), max(0, high), needX, needY)
	}
	n, need := len(ch.categories), vg.Length(len(ch.categories))*leading*textSize
	if width < need {
		return ch.bad("", "%d categories need %.0f points in width for their names, and there are %.0f", n, need, width)
	}
	n, need = len(ch.levels), vg.Length(len(ch.levels))*levelHeight()
	if high < need {
		return ch.bad("", "%d levels need %.0f points in height for their names, and there are %.0f", n, need, high)
	}
	return ch.askedTicksFit(p, width, high)
}

// askedTicksFit refuses ticks of the caller whose labels would overlap.
func (ch *chart) askedTicksFit(p *plot.Plot, width, high vg.Length) error {
	sty := sans(textSize)
	for _, a := range []struct {
		Axis
		axis   *plot.Axis
		length vg.Length
		extent func(string) vg.Length
	}{
		{ch.x, &p.X, width, sty.Width},
		{ch.y, &p.Y, high, func(string) vg.Length { return textSize }},
	} {
		if a.Ticks == nil {
			continue
		}
		ticks := a.axis.Tick.Marker.Ticks(a.axis.Min, a.axis.Max)
		for i := 1; i < len(ticks); i++ {
			before, t := ticks[i-1], ticks[i]
			apart := a.length * vg.Length(a.axis.Norm(t.Value)-a.axis.Norm(before.Value))
			if need := (a.extent(before.Label)+a.extent(t.Label))/2 + 2; apart < need {
				return ch.bad("the axis "+a.Label,
					"the ticks %s and %s are %.0f points apart and need %.0f; leave one out",
					before.Label, t.Label, apart, need)
			}
		}
	}
	return nil
}

// plot sets up axes and data for a place of the size, without title and legend.
func (ch *chart) plot(size vg.Point) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	label := sans(textSize)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = solid(ink, 0.6)
		a.Tick.LineStyle = solid(ink, 0.6)
		a.Tick.Length = 3
		a.Padding = 0
		a.Tick.Label.Font, a.Tick.Label.Color = label.Font, ink
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = label.Font, ink
		a.Label.Padding = 3
	}
	// Plots leave room for blank labels, and draw writes the labels there. On a logarithmic axis
	// plots would take a label to be beside the arithmetic middle, and leave room above the data.
	p.X.Label.Text, p.Y.Label.Text = " ", " "

	scale(&p.Y, ch.y, ch.dataY)
	p.Y.Tick.Marker = plot.ConstantTicks(ch.y.ticks(p.Y.Min, p.Y.Max, func(ts []plot.Tick) bool {
		return vg.Length(len(ts))*2*textSize <= size.Y-3*textSize
	}))
	if ch.categories == nil {
		scale(&p.X, ch.x, ch.dataX)
		p.X.Tick.Marker = plot.ConstantTicks(ch.x.ticks(p.X.Min, p.X.Max, func(ts []plot.Tick) bool {
			var w vg.Length
			for _, t := range ts {
				w = max(w, label.Width(t.Label))
			}
			return vg.Length(len(ts))*(w+textSize) <= size.X-5*textSize
		}))
	} else {
		p.X.Min, p.X.Max = -0.5, float64(len(ch.categories))-0.5
		ch.nameCategories(p, size)
	}

	grid := plotter.NewGrid()
	grid.Horizontal = solid(gridGrey, 0.5)
	grid.Vertical = grid.Horizontal
	if ch.categories != nil {
		grid.Vertical.Color = nil
	}
	p.Add(grid)
	if ch.levels != nil {
		p.Add(ch.levels)
	}
	for _, m := range ch.marks {
		p.Add(m)
	}
	ch.xLabel = ch.x.wrapped(label, dataSize(p, size).X)
	p.X.Label.Text += strings.Repeat("\n ", len(ch.xLabel)-1)
	ch.yLabel = ch.y.wrapped(label, dataSize(p, size).Y)
	p.Y.Label.Text += strings.Repeat("\n ", len(ch.yLabel)-1)
	return p
}

// dataSize is the size of the data area of a plot.
func dataSize(p *plot.Plot, size vg.Point) vg.Point {
	return p.DataCanvas(draw.Canvas{Rectangle: vg.Rectangle{Max: size}}).Size()
}

func (a *Axis) wrapped(sty draw.TextStyle, length vg.Length) []string {
	text := a.Label
	if a.Log {
		text += ", log scale"
	}
	return wrap(sty, text, length)
}

// draw draws the plot with the labels of its axes, and returns the place of the data.
func (ch *chart) draw(c draw.Canvas, p *plot.Plot) vg.Rectangle {
	p.Draw(c)
	data := p.DataCanvas(c).Rectangle
	sty := sans(textSize)
	write(c, sty, draw.XCenter, vg.Point{X: middle(data).X, Y: c.Min.Y + height(sty, len(ch.xLabel))/2}, ch.xLabel...)
	writeUp(c, sty, vg.Point{X: c.Min.X + height(sty, len(ch.yLabel))/2, Y: middle(data).Y}, ch.yLabel...)
	return data
}

// scale sets the range of an axis: the one that the caller wants, or that of the data with a
// small margin. The margin does not extend below 0 if the data do not.
func scale(a *plot.Axis, want Axis, data extent) {
	if want.Log {
		a.Scale = plot.LogScale{}
	}
	if want.From != want.To {
		a.Min, a.Max = want.From, want.To
		return
	}
	for _, t := range want.Ticks {
		data.add(t)
	}
	if want.Log {
		room := max(math.Pow(data.high/data.low, 0.05), 1.05)
		a.Min, a.Max = data.low/room, data.high*room
		return
	}
	size := max(math.Abs(data.low), math.Abs(data.high))
	room := max(0.05*(data.high-data.low), leastRange*size)
	if data.high == data.low {
		room = max(0.05*size, leastRange)
	}
	a.Min, a.Max = data.low-room, data.high+room
	if data.low >= 0 && a.Min < 0 {
		a.Min = 0
	}
}

// cover sets the range of an axis without one to the data's. The chart checks whether it can be drawn.
func (a *Axis) cover(data extent) {
	if a.From != a.To || math.IsInf(data.high-data.low, 0) || math.IsNaN(data.high-data.low) || a.Log && data.low <= 0 {
		return
	}
	var p plot.Axis
	scale(&p, *a, data)
	a.From, a.To = p.Min, p.Max
}

// nameCategories writes the categories below the axis, wrapped, or upright if a word is wider than a category.
func (ch *chart) nameCategories(p *plot.Plot, size vg.Point) {
	p.X.Tick.Length = 0
	ticks := make([]plot.Tick, len(ch.categories))
	for i := range ticks {
		ticks[i] = plot.Tick{Value: float64(i), Label: " "}
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	slot := dataSize(p, size).X/vg.Length(len(ticks)) - 4

	sty := sans(textSize)
	names := make([][]string, len(ticks))
	upright := false
	for i, name := range ch.categories {
		names[i] = wrap(sty, name, slot)
		upright = upright || widest(sty, names[i]) > slot
	}
	if !upright {
		setLabels(ticks, names, "")
		return
	}
	for i, name := range ch.categories {
		names[i] = wrapTo(sty, name, int((slot+4)/(leading*textSize)))
	}
	// Plots place upright names a descender's height too high; spaces move them down.
	setLabels(ticks, names, "  ")
	p.X.Tick.Label.Rotation = math.Pi / 2
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
}

// setLabels gives all ticks as many lines as the longest name, because plots place names by their height.
func setLabels(ticks []plot.Tick, names [][]string, suffix string) {
	lines := 0
	for _, n := range names {
		lines = max(lines, len(n))
	}
	for i, n := range names {
		for len(n) < lines {
			n = append(n, " ")
		}
		ticks[i].Label = strings.Join(n, suffix+"\n") + suffix
	}
}
