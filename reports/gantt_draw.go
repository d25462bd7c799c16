package reports

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

const (
	ganttHeight     vg.Length = 380 // the default height of a row of panels
	ganttTickHeight vg.Length = 150 // less than the height of the data: ticks that fit into it fit the time axis
	ganttTicks      vg.Length = 22  // the width of the time axis without the numbers on it
	ganttGap        vg.Length = 10  // between panels
	ganttGPUGap     vg.Length = 5   // between the GPUs of a panel
	ganttHeading    vg.Length = 13  // the height of a line of headings
	minSlice        vg.Length = 14  // wide enough for "S0" and for a two-digit number
	maxSlice        vg.Length = 44  // the width of a slice where there is room
)

// A ganttChart is a Gantt chart with its sizes, in points.
type ganttChart struct {
	Gantt
	rows [][]GanttPanel
	// colours holds the colours of tasks, see [taskColour]. numbers has the tasks whose numbers the legend explains.
	colours, numbers map[string]int
	// slice is the width of a slice, and width and rowHeight the size of a row.
	slice, width, rowHeight vg.Length
	// last is the latest instant that is shown.
	last  mig.Seconds
	ticks []plot.Tick
}

// A placedPanel is a panel with its place on the canvas.
type placedPanel struct {
	*GanttPanel
	chart  *ganttChart
	data   vg.Rectangle // its upper edge is time 0
	top    vg.Length    // the upper edge of the title
	titles []string     // the lines of the title
	first  bool         // marks the first panel of a row, which has the time axis
}

func (f Gantt) page() (page, error) {
	if err := f.validate(); err != nil {
		return page{}, err
	}
	g := newGanttChart(f)
	high := vg.Length(len(g.rows))*(g.rowHeight+panelGap) - panelGap
	panels := g.place(rect(0, 0, g.width, high))
	for i := range panels {
		if p := &panels[i]; widest(bold(textSize), p.titles) > p.data.Size().X {
			return page{}, refuse(f.Title, fmt.Sprintf("panel %q", p.Title),
				"its title is wider than its slices; shorten it")
		}
	}
	return frame(f.Title, g.width, high, g.legend(panels), func(c draw.Canvas) (out layout) {
		for _, p := range g.place(rect(c.Min.X, c.Max.Y-high, c.Max.X, c.Max.Y)) {
			p.draw(c)
			out.data = append(out.data, p.data)
		}
		return out
	}), nil
}

// newGanttChart divides the panels into as few rows as fit, as equal as possible. Slices have one width in all rows.
func newGanttChart(f Gantt) *ganttChart {
	g := &ganttChart{Gantt: f}
	for i := range f.Panels {
		g.last = max(g.last, f.Panels[i].last())
	}
	g.last = cmp.Or(g.last, 1)
	g.ticks = new(Axis).ticks(0, float64(g.last), ganttTickHeight, func(string) vg.Length { return textSize })
	for rows := 1; rows == 1 || g.slice < minSlice && len(g.rows[0]) > 1; rows++ {
		g.rows = slices.Collect(slices.Chunk(f.Panels, (len(f.Panels)+rows-1)/rows))
		g.slice = maxSlice
		for _, row := range g.rows {
			fixed, columns := g.measureRow(row)
			g.slice = min(g.slice, (PageWidth-2*margin-fixed)/vg.Length(columns))
		}
	}
	g.slice = max(g.slice, minSlice)
	for _, row := range g.rows {
		fixed, columns := g.measureRow(row)
		g.width = max(g.width, fixed+vg.Length(columns)*g.slice)
	}
	n := vg.Length(len(g.rows))
	g.rowHeight = ganttHeight
	if f.Height > 0 {
		g.rowHeight = (f.Height - (n-1)*panelGap) / n
	}
	return g
}

// measureRow returns the width of everything in a row except slices, and the number of slices.
func (g *ganttChart) measureRow(row []GanttPanel) (fixed vg.Length, n int) {
	fixed = g.axisWidth() - ganttGap
	for i := range row {
		p := &row[i]
		fixed += ganttGap + vg.Length(p.gpus()-1)*ganttGPUGap + p.besideWidth()
		n += p.gpus() * int(p.GPU.ComputeSlices)
	}
	return fixed, n
}

// axisWidth returns the width of the time axis.
func (g *ganttChart) axisWidth() vg.Length {
	wide := vg.Length(0)
	for _, t := range g.ticks {
		wide = max(wide, sans(textSize).Width(t.Label))
	}
	return ganttTicks + wide
}

// labelsBelow reports whether the panel's only mark has its label below the line, because all bars end before it.
func (p *GanttPanel) labelsBelow() bool {
	least := vg.Length(p.gpus()*int(p.GPU.ComputeSlices)) * minSlice
	return len(p.Marks) == 1 && p.Marks[0].At >= p.last() && sans(textSize).Width(p.Marks[0].Label) < least
}

// besideWidth returns the room for the labels of marks beside the panel.
func (p *GanttPanel) besideWidth() (wide vg.Length) {
	if p.labelsBelow() {
		return 0
	}
	for _, m := range p.Marks {
		wide = max(wide, sans(textSize).Width(m.Label)+4)
	}
	return wide
}

// place places the panels on a rectangle.
func (g *ganttChart) place(r vg.Rectangle) (out []placedPanel) {
	headRows := 1
	if slices.ContainsFunc(g.Panels, func(p GanttPanel) bool { return p.gpus() > 1 }) {
		headRows = 2
	}
	top := r.Max.Y
	for _, row := range g.rows {
		own, left, titleHeight := make([]placedPanel, len(row)), r.Min.X+g.axisWidth(), vg.Length(0)
		for i := range row {
			p := &row[i]
			n := vg.Length(p.gpus())
			wide := n*vg.Length(p.GPU.ComputeSlices)*g.slice + (n-1)*ganttGPUGap
			own[i] = placedPanel{GanttPanel: p, chart: g, top: top, first: i == 0}
			own[i].data.Min.X, own[i].data.Max.X = left, left+wide
			if p.Title != "" {
				own[i].titles = wrapTitle(bold(textSize), p.Title, wide)
				titleHeight = max(titleHeight, height(bold(textSize), len(own[i].titles))+5)
			}
			left += wide + p.besideWidth() + ganttGap
		}
		for i := range own {
			own[i].data.Max.Y, own[i].data.Min.Y = top-titleHeight-vg.Length(headRows)*ganttHeading, top-g.rowHeight
		}
		out = append(out, own...)
		top -= g.rowHeight + panelGap
	}
	return out
}

// x returns the place of a slice's left edge. slice may be a fraction.
func (p *placedPanel) x(gpu int, slice float64) vg.Length {
	perGPU := vg.Length(p.GPU.ComputeSlices)*p.chart.slice + ganttGPUGap
	return p.data.Min.X + vg.Length(gpu)*perGPU + vg.Length(slice)*p.chart.slice
}

// y returns the place of an instant. Below the latest instant there is room for the label of a mark.
func (p *placedPanel) y(t mig.Seconds) vg.Length {
	room := height(sans(textSize), 1) + 5
	return p.data.Max.Y - (p.data.Size().Y-room)*vg.Length(t/p.chart.last)
}

func (p *placedPanel) bar(b schedule.Bar) vg.Rectangle {
	const least = 0.6
	top := p.y(b.Start)
	return rect(p.x(b.GPU, float64(b.Slice)), top, p.x(b.GPU, float64(b.Slice+b.Width)), min(p.y(b.End), top-least))
}

// tasks lists all tasks, f.Tasks first and the others as they appear, and maps each to the index of its colour.
func (f Gantt) tasks() (names []string, colours map[string]int) {
	colours = map[string]int{}
	add := func(name string) {
		_, seen := colours[name]
		if !seen {
			colours[name] = len(names)
			names = append(names, name)
		}
	}
	for _, name := range f.Tasks {
		add(name)
	}
	for _, p := range f.Panels {
		for _, b := range p.Bars {
			if b.Kind == schedule.RunBar {
				add(b.Label)
			}
		}
	}
	return names, colours
}

// legend numbers the tasks whose names do not fit in all their bars, from 1, and explains numbers and signs.
func (g *ganttChart) legend(panels []placedPanel) (l legend) {
	const visible = 1 // points
	unnamed, seen := map[string]bool{}, map[schedule.BarKind]bool{}
	for i := range panels {
		for _, b := range panels[i].Bars {
			r := panels[i].bar(b)
			seen[b.Kind] = seen[b.Kind] || r.Size().Y >= visible
			if _, fits := fitText(r, b.Label); b.Kind == schedule.RunBar && !fits {
				unnamed[b.Label] = true
			}
		}
	}
	var names []string
	names, g.colours = g.tasks()
	g.numbers = map[string]int{}
	for _, name := range names {
		if unnamed[name] {
			g.numbers[name] = len(g.numbers) + 1
			l = append(l, swatch(strconv.Itoa(g.numbers[name])+"  "+name, taskColour(g.colours[name])))
		}
	}
	if seen[schedule.CreateBar] {
		l = append(l, swatch("create instance", cyan))
	}
	if seen[schedule.DestroyBar] {
		l = append(l, swatch("destroy instance", red))
	}
	if g.Outline != "" {
		l = append(l, diagramBox{fill: color.White, outline: solid(color.Black, 2)}.sample(g.Outline))
	}
	return append(l, idleEntry("idle"))
}

func (p *placedPanel) draw(c draw.Canvas) {
	p.drawHeadings(c)
	p.drawGrid(c)
	for _, b := range p.Bars {
		p.drawBar(c, b)
	}
	for _, b := range p.Bars {
		if b.Kind == schedule.RunBar && slices.Contains(p.Highlight, b.Label) {
			c.SetLineStyle(solid(color.Black, 2))
			c.Stroke(p.bar(b).Path())
		}
	}
	for _, m := range p.Marks {
		c.StrokeLine2(dashed(color.Black, 1), p.data.Min.X, p.y(m.At), p.data.Max.X, p.y(m.At))
	}
	for _, b := range p.Bars {
		if b.Kind == schedule.RunBar {
			p.drawName(c, b)
		}
	}
	p.drawMarkLabels(c)
	if p.first {
		p.drawTimeAxis(c)
	}
}

func (p *placedPanel) drawHeadings(c draw.Canvas) {
	if len(p.titles) > 0 {
		at := vg.Point{X: middle(p.data).X, Y: p.top - height(bold(textSize), len(p.titles))/2}
		write(c, bold(textSize), draw.XCenter, at, p.titles...)
	}
	for gpu := range p.gpus() {
		n := int(p.GPU.ComputeSlices)
		for s := range n {
			at := vg.Point{X: p.x(gpu, float64(s)+0.5), Y: p.data.Max.Y + ganttHeading/2}
			write(c, sans(textSize), draw.XCenter, at, sliceName(s))
		}
		if p.gpus() > 1 {
			at := vg.Point{X: p.x(gpu, float64(n)/2), Y: p.data.Max.Y + ganttHeading*1.5}
			write(c, sans(textSize), draw.XCenter, at, "GPU "+strconv.Itoa(gpu))
		}
	}
}

// drawGrid draws the hatching of idle slices, the lines of slices and of the axis, and frames.
func (p *placedPanel) drawGrid(c draw.Canvas) {
	for gpu := range p.gpus() {
		left, right := p.x(gpu, 0), p.x(gpu, float64(p.GPU.ComputeSlices))
		hatch(c, rect(left, p.data.Max.Y, right, p.y(p.end())))
		for _, t := range p.chart.ticks {
			y := p.y(mig.Seconds(t.Value))
			c.StrokeLine2(solid(gridGrey, 0.5), left, y, right, y)
		}
		for s := range p.GPU.ComputeSlices {
			x := p.x(gpu, float64(s))
			c.StrokeLine2(solid(gridGrey, 0.5), x, p.data.Max.Y, x, p.data.Min.Y)
		}
		c.SetLineStyle(solid(ink, 0.6))
		c.Stroke(rect(left, p.data.Max.Y, right, p.data.Min.Y).Path())
	}
}

func (p *placedPanel) drawBar(c draw.Canvas, b schedule.Bar) {
	fill := taskColour(p.chart.colours[b.Label])
	switch b.Kind {
	case schedule.CreateBar:
		fill = cyan
	case schedule.DestroyBar:
		fill = red
	}
	box(c, p.bar(b), fill, solid(ink, 0.4))
}

// drawName writes the name of a task, or its number, into its bar. It writes nothing where neither fits.
func (p *placedPanel) drawName(c draw.Canvas, b schedule.Bar) {
	r := p.bar(b)
	t, ok := fitText(r, b.Label)
	if !ok {
		t, ok = fitText(r, strconv.Itoa(p.chart.numbers[b.Label]))
		ok = ok && !t.upright // upright digits would be misread
	}
	switch {
	case !ok:
	case t.upright:
		writeUp(c, sans(textSize), middle(r), t.lines...)
	default:
		label(c, r, t.lines...)
	}
}

func (p *placedPanel) drawMarkLabels(c draw.Canvas) {
	sty := sans(textSize)
	high := height(sty, 1) + 1
	if p.labelsBelow() {
		at := vg.Point{X: p.data.Max.X - 2, Y: p.y(p.Marks[0].At) - high/2 - 1}
		write(c, sty, draw.XRight, at, p.Marks[0].Label)
		return
	}
	at := make([]vg.Length, len(p.Marks))
	for i, m := range p.Marks {
		at[i] = p.y(m.At)
	}
	for i, y := range spread(at, high, p.data.Max.Y) {
		write(c, sty, draw.XLeft, vg.Point{X: p.data.Max.X + 3, Y: y}, p.Marks[i].Label)
	}
}

func (p *placedPanel) drawTimeAxis(c draw.Canvas) {
	sty := sans(textSize)
	x := p.data.Min.X
	for _, t := range p.chart.ticks {
		y := p.y(mig.Seconds(t.Value))
		c.StrokeLine2(solid(ink, 0.6), x-3, y, x, y)
		write(c, sty, draw.XRight, vg.Point{X: x - 5, Y: y}, t.Label)
	}
	writeUp(c, sty, vg.Point{X: c.Min.X + textSize*capHeight/2 + 1, Y: middle(p.data).Y},
		cmp.Or(p.chart.Time, "Time [s]"))
}

// A boxText is the text in a task's rectangle.
type boxText struct {
	lines   []string
	upright bool
}

// fitText fits the text into the rectangle on one line, on several, or upright; false if it cannot.
func fitText(r vg.Rectangle, text string) (boxText, bool) {
	const capitals = textSize * capHeight
	w, h := r.Size().X-2, r.Size().Y-1.5
	sty := sans(textSize)
	line := sty.Width(text)
	if line <= w && capitals <= h {
		return boxText{lines: []string{text}}, true
	}
	if lines := wrap(sty, text, w); len(lines) > 1 && widest(sty, lines) <= w && height(sty, len(lines)) <= h {
		return boxText{lines: lines}, true
	}
	return boxText{[]string{text}, true}, line <= h && capitals <= w
}
