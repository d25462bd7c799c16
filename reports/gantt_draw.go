package reports

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"miglab/harness/schedule"
)

func (f Gantt) page() (page, error) {
	if err := f.validate(); err != nil {
		return page{}, err
	}
	width, high := f.size()
	inner := vg.Point{X: width - 2*margin, Y: high - 2*margin - headingHeight(f.Title, width-2*margin)}
	if inner.Y < minGantt {
		return page{}, refuse(f.Title, "", "its height leaves too little for the schedules; give it 250 or more")
	}
	names := f.tasks()
	g := newGanttLayout(f, vg.Rectangle{Max: inner})
	for i := range f.Panels {
		if p := &f.Panels[i]; widest(bold(textSize), g.titles[i]) > g.width(p) {
			return page{}, refuse(f.Title, fmt.Sprintf("panel %q", p.Title), "its title is wider than its slices; shorten it, or make the figure wider")
		}
	}
	l := g.legend(names)
	return page{width, high + l.height(inner.X), func(c draw.Canvas) layout {
		out := layout{legend: l.draw(c)}
		rest := heading(c, f.Title)
		rest.Min.Y += l.height(inner.X)
		g := newGanttLayout(f, rest.Rectangle)
		for i := range f.Panels {
			g.drawPanel(rest, i, names)
			out.data = append(out.data, g.data(i))
		}
		g.drawTimeAxis(rest)
		return out
	}}, nil
}

// size settles the image's size without the legend.
func (f Gantt) size() (width, high vg.Length) {
	g := &ganttLayout{Gantt: f, beside: make([]vg.Length, len(f.Panels))}
	fixed, columns := g.columns()
	width = orDefault(f.Width, min(PageWidth, fixed+vg.Length(columns)*goodSlice+2*margin))
	high = orDefault(f.Height, ganttHeight)
	g = newGanttLayout(f, vg.Rectangle{Max: vg.Point{X: width - 2*margin, Y: high}})
	return width + max(0, minSlice-g.slice)*vg.Length(columns), high
}

// tasks lists the names of all tasks in the order of their numbers and colours.
func (f Gantt) tasks() []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
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
	return out
}

// legend explains the numbers of the tasks whose names do not fit everywhere, and the colours
// of operations.
func (g *ganttLayout) legend(names []string) legend {
	var l legend
	numbered := map[string]bool{}
	var created, destroyed bool
	for i, p := range g.Panels {
		for _, b := range p.Bars {
			switch b.Kind {
			case schedule.CreateBar:
				created = true
			case schedule.DestroyBar:
				destroyed = true
			case schedule.RunBar:
				if _, fits := fitText(g.bar(i, b), b.Label); !fits {
					numbered[b.Label] = true
				}
			}
		}
	}
	for n, name := range names {
		if numbered[name] {
			l = append(l, swatch(strconv.Itoa(n+1)+"  "+name, taskColour(n)))
		}
	}
	if created {
		l = append(l, swatch("create instance", cyan))
	}
	if destroyed {
		l = append(l, swatch("destroy instance", red))
	}
	return append(l, idleEntry("idle"))
}

func swatch(label string, fill color.Color) legendEntry {
	return legendEntry{label, func(c draw.Canvas) { box(c, c.Rectangle, fill, solid(ink, 0.5)) }}
}

func (g *ganttLayout) drawPanel(c draw.Canvas, panel int, names []string) {
	p := &g.Panels[panel]
	g.drawHeadings(c, panel)
	for gpu := range p.gpus() {
		hatch(c, rect(g.x(panel, gpu, 0), g.zero, g.x(panel, gpu, float64(p.GPU.ComputeSlices)), g.y(p.end())))
	}
	g.drawGrid(c, panel)
	for _, b := range p.Bars {
		g.drawBar(c, panel, b, names)
	}
	for _, b := range p.Bars {
		if p.highlighted(b) {
			c.SetLineStyle(solid(color.Black, 2))
			c.Stroke(g.bar(panel, b).Path())
		}
	}
	g.drawMarks(c, panel)
	for _, a := range p.Arrows {
		g.drawArrow(c, panel, a)
	}
}

func (g *ganttLayout) drawHeadings(c draw.Canvas, panel int) {
	p := &g.Panels[panel]
	data := g.data(panel)
	away := vg.Length(math.Copysign(1, float64(g.zero-g.far)))
	if lines := g.titles[panel]; len(lines) > 0 {
		y := c.Max.Y - height(bold(textSize), len(lines))/2
		write(c, bold(textSize), draw.XCenter, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: y}, lines...)
	}
	for gpu := range p.gpus() {
		n := int(p.GPU.ComputeSlices)
		for s := range n {
			write(c, sans(textSize), draw.XCenter, vg.Point{X: g.x(panel, gpu, float64(s)+0.5), Y: g.zero + away*ganttRow/2}, sliceName(s))
		}
		if p.gpus() > 1 {
			write(c, sans(textSize), draw.XCenter, vg.Point{X: g.x(panel, gpu, float64(n)/2), Y: g.zero + away*ganttRow*1.5}, "GPU "+strconv.Itoa(gpu))
		}
	}
}

func (g *ganttLayout) drawGrid(c draw.Canvas, panel int) {
	p := &g.Panels[panel]
	for gpu := range p.gpus() {
		left, right := g.x(panel, gpu, 0), g.x(panel, gpu, float64(p.GPU.ComputeSlices))
		for _, t := range g.ticks {
			y := g.zero + (g.far-g.zero)*vg.Length(t.Value/float64(g.span))
			c.StrokeLine2(solid(gridGrey, 0.5), left, y, right, y)
		}
		for s := range p.GPU.ComputeSlices {
			x := g.x(panel, gpu, float64(s))
			c.StrokeLine2(solid(gridGrey, 0.5), x, g.zero, x, g.far)
		}
		c.SetLineStyle(solid(ink, 0.6))
		c.Stroke(rect(left, g.zero, right, g.far).Path())
	}
}

func (g *ganttLayout) drawBar(c draw.Canvas, panel int, b schedule.Bar, names []string) {
	r := g.bar(panel, b)
	edge := solid(ink, 0.4)
	switch b.Kind {
	case schedule.CreateBar:
		box(c, r, cyan, edge)
	case schedule.DestroyBar:
		box(c, r, red, edge)
	case schedule.RunBar:
		n := slices.Index(names, b.Label)
		box(c, r, taskColour(n), edge)
		t, ok := fitText(r, b.Label)
		if !ok {
			// Upright digits would be misread.
			if t, ok = fitText(r, strconv.Itoa(n+1)); !ok || t.vertical {
				return
			}
		}
		at := middle(r)
		at.Y += t.rise
		if t.vertical {
			writeUp(c, t.sty, at, t.lines[0])
		} else {
			write(c, t.sty, draw.XCenter, at, t.lines...)
		}
	}
}

func (g *ganttLayout) drawMarks(c draw.Canvas, panel int) {
	p := &g.Panels[panel]
	data := g.data(panel)
	places, inside := g.markPlaces(panel)
	if g.beside[panel] > 0 {
		places, inside = g.besidePlaces(panel), false
	}
	for i, m := range p.Marks {
		c.StrokeLine2(dashed(color.Black, 1), data.Min.X, g.y(m.At), data.Max.X, g.y(m.At))
		at := places[i]
		if inside {
			c.SetColor(color.White)
			c.Fill(at.Path())
		}
		label(c, at, m.Label)
	}
}

// drawArrow draws an arrow with a white edge, so that it shows on any colour.
func (g *ganttLayout) drawArrow(c draw.Canvas, panel int, a Arrow) {
	from := vg.Point{X: g.x(panel, a.From.GPU, a.From.Slice), Y: g.y(a.From.At)}
	to := vg.Point{X: g.x(panel, a.To.GPU, a.To.Slice), Y: g.y(a.To.At)}
	length := vg.Length(math.Hypot(float64(to.X-from.X), float64(to.Y-from.Y)))
	if length == 0 {
		return
	}
	along := vg.Point{X: (to.X - from.X) / length, Y: (to.Y - from.Y) / length}
	across := vg.Point{X: -along.Y, Y: along.X}
	const head, half = 8, 3.5
	neck := to.Sub(along.Scale(head))
	tip := []vg.Point{to, neck.Add(across.Scale(half)), neck.Sub(across.Scale(half)), to}
	for _, sty := range []draw.LineStyle{solid(color.White, 4), solid(color.Black, 1.5)} {
		c.StrokeLines(sty, []vg.Point{from, neck})
		if sty.Color == color.White {
			sty.Width = 2.5
			c.StrokeLines(sty, tip)
		}
	}
	c.FillPolygon(color.Black, tip)
}

// drawTimeAxis draws the time axis of all panels, left of the first.
func (g *ganttLayout) drawTimeAxis(c draw.Canvas) {
	sty := sans(textSize)
	x := g.left[0]
	for _, t := range g.ticks {
		y := g.zero + (g.far-g.zero)*vg.Length(t.Value/float64(g.span))
		c.StrokeLine2(solid(ink, 0.6), x-3, y, x, y)
		write(c, sty, draw.XRight, vg.Point{X: x - 5, Y: y}, t.Label)
	}
	writeUp(c, sty, vg.Point{X: c.Min.X + textSize*capHeight/2 + 1, Y: (g.zero + g.far) / 2}, "Time [s]")
}
