package reports

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panels places several charts in one image, row by row, with aligned axes. With at most [MaxSeries] names, a name
// has one colour and there is one legend; otherwise each panel has its own.
type Panels struct {
	Title string
	// Columns is the number of charts in a row; 0 means 2.
	Columns int
	Charts  []Chart
}

const (
	panelGap    vg.Length = 12
	defaultData vg.Length = 140
)

func (f Panels) page() (page, error) {
	if len(f.Charts) == 0 {
		return page{}, refuse(f.Title, "", "it has no charts")
	}
	charts, shared, err := f.charts()
	if err != nil {
		return page{}, err
	}
	columns := max(1, min(cmp.Or(f.Columns, 2), len(charts)))
	rows := (len(charts) + columns - 1) / columns
	const inner = PageWidth - 2*margin
	cell := (inner - vg.Length(columns-1)*panelGap) / vg.Length(columns)
	shareHeight := shared.height(inner)
	plots := make([]*plot.Plot, len(charts))
	for k, ch := range charts {
		plots[k] = ch.plot(vg.Point{X: cell, Y: defaultData + 4*textSize})
	}
	g := newPanelGrid(len(plots), rows, columns)
	var high vg.Length
	// The room for axes depends slightly on the size of the data, and vice versa. A few rounds settle both.
	for range 4 {
		g.data.X = (inner - g.takenWidth()) / vg.Length(columns)
		for k, ch := range charts {
			i := k / columns
			g.above[i] = max(g.above[i], headingHeight(ch.title, g.size(k).X))
			if shared == nil {
				g.below[i] = max(g.below[i], ch.legend.height(g.size(k).X))
			}
		}
		taken := 2*margin + headingHeight(f.Title, inner) + shareHeight + g.takenHeight()
		high = taken + max(minData, min(defaultData, 1.25*g.data.X))*vg.Length(rows)
		g.data.Y = (high - taken) / vg.Length(rows)
		g.measure(plots)
	}
	for k, ch := range charts {
		if err := ch.fits(plots[k], g.data); err != nil {
			return page{}, err
		}
	}
	return page{PageWidth, high, func(canvas draw.Canvas) layout {
		out := layout{legend: shared.draw(canvas)}
		for k, at := range g.places(heading(canvas, f.Title)) {
			ch := charts[k]
			data := ch.draw(at, plots[k])
			out.data = append(out.data, data)
			base := at.Max.Y - g.after[k].Y + g.top[k/columns] // the same for a row's titles
			panelTitle(at, ch.title, middle(data).X, base, base+g.above[k/columns])
			if shared == nil {
				bottom := at
				bottom.Rectangle = rect(at.Min.X, at.Min.Y-ch.legend.height(at.Max.X-at.Min.X), at.Max.X, at.Min.Y)
				out.legend = append(out.legend, ch.legend.draw(bottom)...)
			}
		}
		return out
	}}, nil
}

// panelTitle writes the title of a panel between two heights, above the middle of the data if it fits there.
func panelTitle(c draw.Canvas, title string, middle, bottom, top vg.Length) {
	const rounding = 0.01
	sty := bold(titleSize)
	half := widest(sty, wrap(sty, title, c.Max.X-c.Min.X))/2 + rounding
	centre := max(c.Min.X+half, min(c.Max.X-half, middle))
	c.Rectangle = rect(centre-half, bottom, centre+half, top)
	heading(c, title)
}

// charts prepares the panels; shared is their common legend, nil if each has its own.
func (f Panels) charts() (charts []*chart, shared legend, err error) {
	apart := make([]*chart, len(f.Charts))
	for i, ch := range f.Charts {
		if apart[i], err = ch.chart(&palette{}); err != nil {
			return nil, nil, err
		}
	}
	names := &palette{}
	together := make([]*chart, len(f.Charts))
	seen := map[string]bool{}
	for i, ch := range f.Charts {
		// Each chart is valid alone, so there are too many names together.
		if together[i], err = ch.chart(names); err != nil {
			return apart, nil, nil
		}
		for _, e := range together[i].legend {
			if !seen[e.label] {
				seen[e.label] = true
				shared = append(shared, e)
			}
		}
	}
	return together, shared, nil
}

// panelGrid places charts in rows and columns with data areas of one size.
type panelGrid struct {
	// before holds what each chart's axes take left of and below the data, after right of and above it.
	before, after []vg.Point
	// left and right are the largest of a column, bottom and top of a row.
	left, right, bottom, top []vg.Length
	// above and below are the room of a row's titles and legends.
	above, below []vg.Length
	// data is the size of the data areas.
	data vg.Point
}

// newPanelGrid returns the grid of n charts with a first guess of what axes take.
func newPanelGrid(n, rows, columns int) *panelGrid {
	axes := 4 * textSize
	return &panelGrid{
		before: slices.Repeat([]vg.Point{{X: axes, Y: axes}}, n), after: make([]vg.Point, n),
		left: slices.Repeat([]vg.Length{axes}, columns), right: make([]vg.Length, columns),
		bottom: slices.Repeat([]vg.Length{axes}, rows), top: make([]vg.Length, rows),
		above: make([]vg.Length, rows), below: make([]vg.Length, rows),
	}
}

func (g *panelGrid) size(k int) vg.Point { return g.before[k].Add(g.data).Add(g.after[k]) }

// measure finds what the axes of the plots take around data of about the size.
func (g *panelGrid) measure(plots []*plot.Plot) {
	clear(g.left)
	clear(g.right)
	clear(g.bottom)
	clear(g.top)
	columns := len(g.left)
	for k, p := range plots {
		size := g.size(k)
		d := p.DataCanvas(draw.Canvas{Rectangle: vg.Rectangle{Max: size}})
		before, after := d.Min, size.Sub(d.Max)
		g.before[k], g.after[k] = before, after
		i, j := k/columns, k%columns
		g.left[j], g.right[j] = max(g.left[j], before.X), max(g.right[j], after.X)
		g.bottom[i], g.top[i] = max(g.bottom[i], before.Y), max(g.top[i], after.Y)
	}
}

// takenWidth and takenHeight are what is not data.
func (g *panelGrid) takenWidth() vg.Length {
	return sum(g.left) + sum(g.right) + vg.Length(len(g.left)-1)*panelGap
}

func (g *panelGrid) takenHeight() vg.Length {
	return sum(g.bottom) + sum(g.top) + sum(g.above) + sum(g.below) + vg.Length(len(g.top)-1)*panelGap
}

// places returns the canvas of each chart, axes included, from the top left.
func (g *panelGrid) places(c draw.Canvas) []draw.Canvas {
	out := make([]draw.Canvas, len(g.before))
	columns := len(g.left)
	y := c.Max.Y
	for i := range g.top {
		y -= g.above[i] + g.top[i]
		x := c.Min.X
		for j := 0; j < columns && i*columns+j < len(out); j++ {
			k := i*columns + j
			x += g.left[j]
			out[k] = c
			out[k].Rectangle = rect(
				x-g.before[k].X, y-g.data.Y-g.before[k].Y,
				x+g.data.X+g.after[k].X, y+g.after[k].Y,
			)
			x += g.data.X + g.right[j] + panelGap
		}
		y -= g.data.Y + g.bottom[i] + g.below[i] + panelGap
	}
	return out
}

func sum(ls []vg.Length) (s vg.Length) {
	for _, l := range ls {
		s += l
	}
	return s
}
