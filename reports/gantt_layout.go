package reports

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

const (
	ganttHeight vg.Length = 380
	minGantt    vg.Length = 150
	// ganttTicks is the room of the time axis without the numbers on it.
	ganttTicks  vg.Length = 22
	ganttGap    vg.Length = 10
	ganttGPUGap vg.Length = 5
	// minSlice is wide enough for "S0" and for a two-digit number.
	minSlice  vg.Length = 14
	goodSlice vg.Length = 44
	// ganttRow is the room of a line of headings.
	ganttRow vg.Length = 13
)

// ganttLayout is where the parts of a Gantt chart lie on its canvas.
type ganttLayout struct {
	Gantt
	// colours holds the colours of tasks, see [taskColour].
	colours map[string]int
	// numbers has the tasks whose numbers the legend explains.
	numbers map[string]int
	// place is where the row lies.
	place vg.Rectangle
	// slice is the width of a slice, and widest its limit.
	slice, widest vg.Length
	// left holds the left edge of each panel's data.
	left []vg.Length
	// zero and far are the heights of time 0 and of the end of the axis, span its length.
	zero, far vg.Length
	span      mig.Seconds
	// last is the latest instant that is shown.
	last  mig.Seconds
	ticks []plot.Tick
	// tickWidth is the width of the numbers on the time axis.
	tickWidth vg.Length
	// titles holds the wrapped titles of the panels, headRows how many rows of
	// headings there are on the side of time 0 (slices, and GPUs where there are several).
	titles   [][]string
	headRows int
	// beside holds the width of each panel's margin for labels of marks; 0 if the labels are inside the panel.
	beside []vg.Length
}

// newGanttLayout settles a row of panels, with the colours and the latest instant of all rows.
func newGanttLayout(
	f Gantt, colours map[string]int, last mig.Seconds, widest vg.Length, r vg.Rectangle,
) *ganttLayout {
	g := &ganttLayout{
		Gantt: f, colours: colours, place: r, widest: widest, last: cmp.Or(last, 1),
		beside: make([]vg.Length, len(f.Panels)), headRows: 1,
	}
	if slices.ContainsFunc(f.Panels, func(p GanttPanel) bool { return p.gpus() > 1 }) {
		g.headRows = 2
	}
	g.arrange()
	for g.widenMargins() { // margins make the slices narrower, so that other labels may no longer fit
		g.arrange()
	}
	return g
}

// widenMargins makes room for the numbers of the time axis, and beside panels whose marks have labels that do not fit
// inside. It reports whether it did.
func (g *ganttLayout) widenMargins() (wider bool) {
	sty := sans(textSize)
	for _, t := range g.ticks {
		if w := sty.Width(t.Label); w > g.tickWidth {
			g.tickWidth, wider = w, true
		}
	}
	for i, p := range g.Panels {
		_, inside := g.markPlaces(i)
		if inside || g.beside[i] > 0 {
			continue
		}
		wider = true
		for _, m := range p.Marks {
			g.beside[i] = max(g.beside[i], sty.Width(m.Label)+4)
		}
	}
	return wider
}

// arrange places the panels between the present margins, and settles the scale of the time axis.
func (g *ganttLayout) arrange() {
	r := g.place
	fixed, columns := g.columns()
	g.slice = min(g.widest, (r.Max.X-r.Min.X-fixed)/vg.Length(columns))
	g.left, g.titles = nil, nil
	x := r.Min.X + ganttTicks + g.tickWidth
	titleLines := 0
	for i := range g.Panels {
		p := &g.Panels[i]
		g.left = append(g.left, x)
		lines := wrapTitle(bold(textSize), p.Title, g.width(p))
		if p.Title == "" {
			lines = nil
		}
		g.titles = append(g.titles, lines)
		titleLines = max(titleLines, len(lines))
		x += g.width(p) + g.beside[i] + ganttGap
	}

	top, bottom := r.Max.Y, r.Min.Y
	if titleLines > 0 {
		top -= height(bold(textSize), titleLines) + 5
	}
	g.zero, g.far = top-vg.Length(g.headRows)*ganttRow, bottom
	room := vg.Length(2)
	if slices.ContainsFunc(g.Panels, func(p GanttPanel) bool { return len(p.Marks) > 0 }) {
		room = height(sans(textSize), 1) + 5 // the label of the latest mark is beyond the mark
	}
	length := g.zero - g.far
	g.span = g.last / mig.Seconds(1-room/length)
	g.ticks = new(Axis).ticks(0, float64(g.last), length, func(string) vg.Length { return textSize })
}

// columns returns the width of everything except slices, and the number of slices.
func (g *ganttLayout) columns() (fixed vg.Length, n int) {
	fixed = ganttTicks + g.tickWidth - ganttGap
	for i := range g.Panels {
		p := &g.Panels[i]
		fixed += ganttGap + vg.Length(p.gpus()-1)*ganttGPUGap + g.beside[i]
		n += p.gpus() * int(p.GPU.ComputeSlices)
	}
	return fixed, n
}

// width returns the width of a panel's data.
func (g *ganttLayout) width(p *GanttPanel) vg.Length {
	n := vg.Length(p.gpus())
	return n*vg.Length(p.GPU.ComputeSlices)*g.slice + (n-1)*ganttGPUGap
}

// x returns the place of a slice's left edge. slice may be a fraction.
func (g *ganttLayout) x(panel, gpu int, slice float64) vg.Length {
	perGPU := vg.Length(g.Panels[panel].GPU.ComputeSlices)*g.slice + ganttGPUGap
	return g.left[panel] + vg.Length(gpu)*perGPU + vg.Length(slice)*g.slice
}

func (g *ganttLayout) y(t mig.Seconds) vg.Length {
	return g.zero + (g.far-g.zero)*vg.Length(t/g.span)
}

func (g *ganttLayout) data(panel int) vg.Rectangle {
	return rect(g.left[panel], g.zero, g.left[panel]+g.width(&g.Panels[panel]), g.far)
}

func (g *ganttLayout) bar(panel int, b schedule.Bar) vg.Rectangle {
	y0, y1 := g.y(b.Start), g.y(b.End)
	const least = 0.6
	if y0-y1 < least {
		y1 = y0 - least
	}
	return rect(g.x(panel, b.GPU, float64(b.Slice)), y0, g.x(panel, b.GPU, float64(b.Slice+b.Width)), y1)
}

// obstacles returns the places of the bars of a panel and of the lines of its marks.
func (g *ganttLayout) obstacles(panel int) []vg.Rectangle {
	p, data := &g.Panels[panel], g.data(panel)
	var out []vg.Rectangle
	for _, b := range p.Bars {
		out = append(out, g.bar(panel, b))
	}
	for _, m := range p.Marks {
		out = append(out, rect(data.Min.X, g.y(m.At)-0.5, data.Max.X, g.y(m.At)+0.5))
	}
	return out
}

// markPlaces finds places for the labels of a panel's marks next to their lines, away from
// bars, lines and each other. It reports false if there is not enough room.
func (g *ganttLayout) markPlaces(panel int) ([]vg.Rectangle, bool) {
	p := &g.Panels[panel]
	data, taken := g.data(panel), g.obstacles(panel)
	var out []vg.Rectangle
	for _, m := range p.Marks {
		at, found := g.markPlace(m, data, taken)
		if !found {
			return nil, false
		}
		taken = append(taken, at)
		out = append(out, at)
	}
	return out, true
}

// markPlace finds a place for the label of a mark within the data.
func (g *ganttLayout) markPlace(m TimeMark, data vg.Rectangle, taken []vg.Rectangle) (at vg.Rectangle, found bool) {
	sty := sans(textSize)
	w, h := sty.Width(m.Label)+3, height(sty, 1)+1
	side := h/2 + 1
	for _, y := range []vg.Length{g.y(m.At) - side, g.y(m.At) + side} { // later, then earlier
		for _, x := range []vg.Length{data.Max.X - w, data.Min.X, (data.Min.X + data.Max.X - w) / 2} {
			at = rect(x, y-h/2, x+w, y+h/2)
			across := at.Min.X >= data.Min.X && at.Max.X <= data.Max.X
			inside := across && at.Min.Y >= data.Min.Y && at.Max.Y <= data.Max.Y
			if inside && isFree(at, taken) {
				return at, true
			}
		}
	}
	return at, false
}

// besidePlaces spreads the labels of a panel's marks in its margin, each as near to its line as possible.
func (g *ganttLayout) besidePlaces(panel int) []vg.Rectangle {
	p := &g.Panels[panel]
	data := g.data(panel)
	h := height(sans(textSize), 1) + 1
	at := make([]vg.Length, len(p.Marks))
	for i, m := range p.Marks {
		at[i] = g.y(m.At)
	}
	out := make([]vg.Rectangle, len(p.Marks))
	for i, y := range spread(at, h, data.Max.Y) {
		out[i] = rect(data.Max.X+3, y-h/2, data.Max.X+g.beside[panel], y+h/2)
	}
	return out
}

// A boxText is the text in a task's rectangle.
type boxText struct {
	lines    []string
	vertical bool
	// rise moves the text up from the middle to make room for descenders.
	rise vg.Length
}

// fitText fits the text into the rectangle on one line, on several, or upright; false if it cannot.
func fitText(r vg.Rectangle, text string) (boxText, bool) {
	w, h := r.Max.X-r.Min.X-2, r.Max.Y-r.Min.Y-1.5
	sty := sans(textSize)
	line := sty.Width(text)
	below := vg.Length(0) // how far the text reaches below its baseline
	if strings.ContainsAny(text, "gjpqy_,;()[]{}|@Q") {
		below = 0.2 * textSize
	}
	if line <= w && textSize*capHeight+below <= h {
		return boxText{lines: []string{text}, rise: below / 2}, true
	}
	if lines := wrap(sty, text, w); len(lines) > 1 && widest(sty, lines) <= w && height(sty, len(lines)) <= h {
		return boxText{lines: lines}, true
	}
	if line <= h && textSize*capHeight+below <= w {
		return boxText{lines: []string{text}, vertical: true}, true
	}
	return boxText{}, false
}
