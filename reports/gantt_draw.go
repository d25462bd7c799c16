package reports

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
)

func (f Gantt) page() (page, error) {
	if err := f.validate(); err != nil {
		return page{}, err
	}
	rows := f.rows()
	width, high := f.size(rows)
	inner := vg.Point{X: width - 2*margin, Y: high - 2*margin - headingHeight(f.Title, width-2*margin)}
	if inner.Y < vg.Length(len(rows))*minGantt {
		return page{}, refuse(f.Title, "", "its height leaves too little for the schedules; give it %d or more",
			250*len(rows))
	}
	layouts := f.layouts(rows, vg.Rectangle{Max: inner})
	for _, g := range layouts {
		for i := range g.Panels {
			if p := &g.Panels[i]; widest(bold(textSize), g.titles[i]) > g.width(p) {
				return page{}, refuse(f.Title, fmt.Sprintf("panel %q", p.Title),
					"its title is wider than its slices; shorten it")
			}
		}
	}
	numbers, l := f.legend(layouts)
	return page{width, high + l.height(inner.X), func(c draw.Canvas) layout {
		out := layout{legend: l.draw(c)}
		rest := heading(c, f.Title)
		rest.Min.Y += l.height(inner.X)
		for _, g := range f.layouts(rows, rest.Rectangle) {
			row := rest
			row.Rectangle = g.place
			g.numbers = numbers
			for i := range g.Panels {
				g.drawPanel(row, i)
				out.data = append(out.data, g.data(i))
			}
			g.drawTimeAxis(row)
		}
		return out
	}}, nil
}

// rows divides the panels into as few rows as fit, as equal as possible.
func (f Gantt) rows() [][]GanttPanel {
	for n := 1; ; n++ {
		per := (len(f.Panels) + n - 1) / n
		rows := slices.Collect(slices.Chunk(f.Panels, per))
		r := vg.Rectangle{Max: vg.Point{X: PageWidth - 2*margin, Y: cmp.Or(f.Height, ganttHeight)}}
		tooNarrow := func(g *ganttLayout) bool { return g.slice < minSlice }
		if per == 1 || !slices.ContainsFunc(f.layouts(rows, r), tooNarrow) {
			return rows
		}
	}
}

// layouts places rows one below the other, with slices of one width.
func (f Gantt) layouts(rows [][]GanttPanel, r vg.Rectangle) []*ganttLayout {
	_, colours := f.tasks()
	var last mig.Seconds
	for i := range f.Panels {
		last = max(last, f.Panels[i].last())
	}
	high := (r.Max.Y - r.Min.Y - vg.Length(len(rows)-1)*panelGap) / vg.Length(len(rows))
	out := make([]*ganttLayout, len(rows))
	widest := vg.Length(math.Inf(1))
	for range 2 { // the second time with the slices of the row with the narrowest ones
		top := r.Max.Y
		for i, row := range rows {
			part := f
			part.Panels = row
			out[i] = newGanttLayout(part, colours, last, widest, rect(r.Min.X, top-high, r.Max.X, top))
			top -= high + panelGap
		}
		for _, g := range out {
			widest = min(widest, g.slice)
		}
	}
	return out
}

func (f Gantt) size(rows [][]GanttPanel) (width, high vg.Length) {
	for _, row := range rows {
		g := &ganttLayout{Gantt: Gantt{Panels: row}, beside: make([]vg.Length, len(row))}
		fixed, columns := g.columns()
		width = max(width, fixed+vg.Length(columns)*goodSlice+2*margin)
	}
	width = min(PageWidth, width)
	high = cmp.Or(f.Height, vg.Length(len(rows))*ganttHeight)
	more := vg.Length(0)
	for _, g := range f.layouts(rows, vg.Rectangle{Max: vg.Point{X: width - 2*margin, Y: high}}) {
		_, columns := g.columns()
		more = max(more, max(0, minSlice-g.slice)*vg.Length(columns))
	}
	return width + more, high
}

// tasks lists all tasks, f.Tasks first and the others as they appear, and gives each the colour of its kind.
func (f Gantt) tasks() (names []string, colours map[string]int) {
	kinds, colours := map[string]int{}, map[string]int{}
	add := func(name string) {
		_, seen := colours[name]
		if seen {
			return
		}
		kind := name
		if f.Kind != nil {
			kind = f.Kind(name)
		}
		if _, seen := kinds[kind]; !seen {
			kinds[kind] = len(kinds)
		}
		names, colours[name] = append(names, name), kinds[kind]
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

// legend numbers the tasks whose names do not fit everywhere from 1, and explains numbers and signs.
func (f Gantt) legend(layouts []*ganttLayout) (numbers map[string]int, l legend) {
	const visible = 1 // points
	numbers = map[string]int{}
	unnamed, seen := map[string]bool{}, map[schedule.BarKind]bool{}
	for _, g := range layouts {
		for i, p := range g.Panels {
			for _, b := range p.Bars {
				r := g.bar(i, b)
				seen[b.Kind] = seen[b.Kind] || r.Size().Y >= visible
				if _, fits := fitText(r, b.Label); b.Kind == schedule.RunBar && !fits {
					unnamed[b.Label] = true
				}
			}
		}
	}
	names, colours := f.tasks()
	for _, name := range names {
		if unnamed[name] {
			numbers[name] = len(numbers) + 1
			l = append(l, swatch(strconv.Itoa(numbers[name])+"  "+name, taskColour(colours[name])))
		}
	}
	if seen[schedule.CreateBar] {
		l = append(l, swatch("create instance", cyan))
	}
	if seen[schedule.DestroyBar] {
		l = append(l, swatch("destroy instance", red))
	}
	if f.Outline != "" {
		l = append(l, diagramBox{fill: color.White, outline: solid(color.Black, 2)}.sample(f.Outline))
	}
	return numbers, append(l, idleEntry("idle"))
}

func (g *ganttLayout) drawPanel(c draw.Canvas, panel int) {
	p := &g.Panels[panel]
	g.drawHeadings(c, panel)
	for gpu := range p.gpus() {
		hatch(c, rect(g.x(panel, gpu, 0), g.zero, g.x(panel, gpu, float64(p.GPU.ComputeSlices)), g.y(p.end())))
	}
	g.drawGrid(c, panel)
	for _, b := range p.Bars {
		g.drawBar(c, panel, b)
	}
	for _, b := range p.Bars {
		if b.Kind == schedule.RunBar && slices.Contains(p.Highlight, b.Label) {
			c.SetLineStyle(solid(color.Black, 2))
			c.Stroke(g.bar(panel, b).Path())
		}
	}
	data := g.data(panel)
	for _, m := range p.Marks {
		c.StrokeLine2(dashed(color.Black, 1), data.Min.X, g.y(m.At), data.Max.X, g.y(m.At))
	}
	for _, b := range p.Bars {
		if b.Kind == schedule.RunBar {
			g.drawName(c, panel, b)
		}
	}
	g.drawNumbersBeside(c, panel)
	g.drawMarkLabels(c, panel)
}

func (g *ganttLayout) drawHeadings(c draw.Canvas, panel int) {
	p := &g.Panels[panel]
	data := g.data(panel)
	lines := g.titles[panel]
	if len(lines) > 0 {
		y := c.Max.Y - height(bold(textSize), len(lines))/2
		write(c, bold(textSize), draw.XCenter, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: y}, lines...)
	}
	for gpu := range p.gpus() {
		n := int(p.GPU.ComputeSlices)
		for s := range n {
			at := vg.Point{X: g.x(panel, gpu, float64(s)+0.5), Y: g.zero + ganttRow/2}
			write(c, sans(textSize), draw.XCenter, at, sliceName(s))
		}
		if p.gpus() > 1 {
			at := vg.Point{X: g.x(panel, gpu, float64(n)/2), Y: g.zero + ganttRow*1.5}
			write(c, sans(textSize), draw.XCenter, at, "GPU "+strconv.Itoa(gpu))
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

func (g *ganttLayout) drawBar(c draw.Canvas, panel int, b schedule.Bar) {
	fill := taskColour(g.colours[b.Label])
	switch b.Kind {
	case schedule.CreateBar:
		fill = cyan
	case schedule.DestroyBar:
		fill = red
	}
	box(c, g.bar(panel, b), fill, solid(ink, 0.4))
}

// drawName writes the name of a task, or its number, into its bar. The line of a mark ends before it.
func (g *ganttLayout) drawName(c draw.Canvas, panel int, b schedule.Bar) {
	r := g.bar(panel, b)
	t, ok := g.name(r, b)
	if !ok {
		return
	}
	at := middle(r)
	if !t.vertical {
		half := vg.Point{X: widest(sans(textSize), t.lines)/2 + 1.5, Y: height(sans(textSize), len(t.lines)) / 2}
		for _, m := range g.Panels[panel].Marks {
			if y := g.y(m.At); y > at.Y-half.Y && y < at.Y+half.Y {
				c.SetColor(taskColour(g.colours[b.Label]))
				c.Fill(rect(at.X-half.X, y-1.5, at.X+half.X, y+1.5).Path())
			}
		}
		label(c, rect(r.Min.X, r.Min.Y+t.rise, r.Max.X, r.Max.Y+t.rise), t.lines...)
		return
	}
	at.Y += t.rise
	writeUp(c, sans(textSize), at, t.lines[0])
}

// name returns the text in a task's rectangle: its name, or its number. It reports false if neither fits.
func (g *ganttLayout) name(r vg.Rectangle, b schedule.Bar) (boxText, bool) {
	t, ok := fitText(r, b.Label)
	if !ok {
		t, ok = fitText(r, strconv.Itoa(g.numbers[b.Label]))
		ok = ok && !t.vertical // upright digits would be misread
	}
	return t, ok
}

// drawNumbersBeside writes the numbers of tasks that are too short for them after their bars, or else before them,
// where the slices are idle. Short tasks in a row on the same slices have their numbers together.
func (g *ganttLayout) drawNumbersBeside(c draw.Canvas, panel int) {
	data, taken := g.data(panel), g.obstacles(panel)
	if places, inside := g.markPlaces(panel); inside && g.beside[panel] == 0 {
		for _, at := range places {
			taken = append(taken, rect(at.Min.X-4, at.Min.Y, at.Max.X+4, at.Max.Y)) // apart from the label
		}
	}
	sty := sans(textSize)
	for _, run := range g.shortRuns(panel) {
		numbers := nearest.Names(run, func(b schedule.Bar) string { return strconv.Itoa(g.numbers[b.Label]) })
		first, last := g.bar(panel, run[0]), g.bar(panel, run[len(run)-1])
		lines := wrap(sty, strings.Join(numbers, " "), first.Size().X-1)
		w, h := widest(sty, lines), height(sty, len(lines))
		x := middle(first).X
		for _, y := range []vg.Length{last.Min.Y - 1 - h, first.Max.Y + 1} { // after, then before
			at := rect(x-w/2-0.5, y, x+w/2+0.5, y+h)
			if !contains(data, at) || !isFree(at, taken) {
				continue
			}
			c.SetColor(color.White)
			c.Fill(at.Path())
			label(c, at, lines...)
			taken = append(taken, at)
			break
		}
	}
}

// shortRuns returns the tasks without a name or number in their bars, in the order of time. Those that
// follow each other without a gap on the same slices are one run.
func (g *ganttLayout) shortRuns(panel int) [][]schedule.Bar {
	var out [][]schedule.Bar
	for _, b := range slices.SortedFunc(slices.Values(g.Panels[panel].Bars), func(a, b schedule.Bar) int {
		return cmp.Or(
			a.GPU-b.GPU, cmp.Compare(a.Slice, b.Slice), cmp.Compare(a.Width, b.Width), cmp.Compare(a.Start, b.Start),
		)
	}) {
		if b.Kind != schedule.RunBar {
			continue
		}
		_, named := g.name(g.bar(panel, b), b)
		if named {
			continue
		}
		if n := len(out) - 1; n >= 0 {
			before := out[n][len(out[n])-1]
			if before.GPU == b.GPU && before.Slice == b.Slice && before.Width == b.Width && b.Start-before.End < 1e-9 {
				out[n] = append(out[n], b)
				continue
			}
		}
		out = append(out, []schedule.Bar{b})
	}
	return out
}

func (g *ganttLayout) drawMarkLabels(c draw.Canvas, panel int) {
	places, inside := g.markPlaces(panel)
	if g.beside[panel] > 0 {
		places, inside = g.besidePlaces(panel), false
	}
	for i, m := range g.Panels[panel].Marks {
		at := places[i]
		if inside {
			c.SetColor(color.White)
			c.Fill(at.Path())
		}
		label(c, at, m.Label)
	}
}

func (g *ganttLayout) drawTimeAxis(c draw.Canvas) {
	sty := sans(textSize)
	x := g.left[0]
	for _, t := range g.ticks {
		y := g.zero + (g.far-g.zero)*vg.Length(t.Value/float64(g.span))
		c.StrokeLine2(solid(ink, 0.6), x-3, y, x, y)
		write(c, sty, draw.XRight, vg.Point{X: x - 5, Y: y}, t.Label)
	}
	writeUp(c, sty, vg.Point{X: c.Min.X + textSize*capHeight/2 + 1, Y: (g.zero + g.far) / 2},
		cmp.Or(g.Time, "Time [s]"))
}
