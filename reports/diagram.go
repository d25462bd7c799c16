package reports

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"miglab/harness/mig"
)

// diagram is rows of boxes on the slices or shares of GPUs, in groups side by side. [Partitions], [Tree], [Masks],
// [Divisions] and [Curve] are drawn as one.
type diagram struct {
	title  string
	groups []diagramGroup
	legend legend
}

// diagramGroup is a GPU model or several GPUs, whose rows lie below each other.
type diagramGroup struct {
	// name is the heading above the heads; may be empty.
	name string
	// heads has a heading for each unit, at least one; headings may be empty.
	heads []string
	// unit is the width of a unit.
	unit vg.Length
	rows []diagramRow
	// lines lead from the first boxes to the second, which are in lower rows.
	lines [][2]boxPlace
}

// A boxPlace is a row and a box in it.
type boxPlace struct{ row, box int }

type diagramRow struct {
	// above, left and right are labels; may be empty. left is wrapped.
	above, left, right string
	// high is the height of the boxes, and gap the space below them.
	high, gap vg.Length
	boxes     []diagramBox
}

// diagramBox is a box from one unit to another.
type diagramBox struct {
	from, to float64
	label    string
	// fill is its colour; nil hatches the box.
	fill    color.Color
	outline draw.LineStyle
}

// framesOnly fills a box that is only outlined.
var framesOnly = color.Transparent

// filledBox returns a box in the colour of the n-th task.
func filledBox(from, to float64, colour int, label string) diagramBox {
	return diagramBox{from, to, label, taskColour(colour), solid(ink, 0.5)}
}

// idleBox returns a hatched box.
func idleBox(from, to float64) diagramBox { return diagramBox{from: from, to: to} }

// instanceBox returns a box on the compute slices of an instance, in the colour of its size.
func instanceBox(in mig.Instance, to mig.Slices, label string) diagramBox {
	colours := [mig.MaxSize + 1]int{1: 0, 2: 1, 3: 2, 4: 3, 7: 4} // by size, the same in every figure
	return filledBox(float64(in.Start), float64(to), colours[in.Size()], label)
}

const (
	// headRoom is the room of a line of text above boxes.
	headRoom   vg.Length = 14
	diagramGap vg.Length = 28
	// leastDiagram is the least width, for the title.
	leastDiagram vg.Length = 240
)

// wrapLeft returns the lines of the label on the left.
func (r *diagramRow) wrapLeft() []string {
	const most = 230 // points
	if r.left == "" {
		return nil
	}
	return wrap(sans(textSize), r.left, most)
}

// height returns the height of the boxes or of the label on the left.
func (r *diagramRow) height() vg.Length {
	n := len(r.wrapLeft())
	if n <= 1 {
		return r.high
	}
	return max(r.high, height(sans(textSize), n))
}

func (g *diagramGroup) indent() (wide vg.Length) {
	for _, r := range g.rows {
		if r.left != "" {
			wide = max(wide, widest(sans(textSize), r.wrapLeft())+8)
		}
	}
	return wide
}

func (g *diagramGroup) size() (size vg.Point) {
	sty, boxes := sans(textSize), g.indent()+vg.Length(len(g.heads))*g.unit
	size.X, size.Y = boxes, g.headHeight()
	for _, r := range g.rows {
		size.X = max(size.X, boxes+sty.Width(r.right), sty.Width(r.above))
		size.Y += r.height() + r.gap
		if r.above != "" {
			size.Y += headRoom
		}
	}
	return size
}

func (g *diagramGroup) headHeight() (high vg.Length) {
	if g.name != "" {
		high += headRoom
	}
	if g.heads[0] != "" {
		high += headRoom
	}
	return high
}

func (d *diagram) page() (page, error) {
	if len(d.groups) == 0 {
		return page{}, refuse(d.title, "", "it has no GPUs")
	}
	size := vg.Point{X: -diagramGap}
	for i := range d.groups {
		own := d.groups[i].size()
		size.X, size.Y = size.X+own.X+diagramGap, max(size.Y, own.Y)
	}
	return frame(d.title, max(size.X, leastDiagram), size.Y, d.legend, func(c draw.Canvas) (out layout) {
		left := c.Min.X
		for i := range d.groups {
			g := &d.groups[i]
			out.data = append(out.data, g.draw(c, left))
			left += g.size().X + diagramGap
		}
		return out
	}), nil
}

// explainIdle explains hatched boxes in the legend, if there are some.
func (d *diagram) explainIdle(text string) {
	for _, g := range d.groups {
		for _, r := range g.rows {
			if slices.ContainsFunc(r.boxes, func(b diagramBox) bool { return b.fill == nil }) {
				d.legend = append(d.legend, idleEntry(text))
				return
			}
		}
	}
}

// draw draws the group at the top of the canvas and returns where its boxes are.
func (g *diagramGroup) draw(c draw.Canvas, left vg.Length) vg.Rectangle {
	sty := sans(textSize)
	x := func(unit float64) vg.Length { return left + g.indent() + vg.Length(unit)*g.unit }
	top := c.Max.Y - g.headHeight()
	for i, head := range g.heads {
		write(c, sty, draw.XCenter, vg.Point{X: x(float64(i) + 0.5), Y: top + headRoom/2}, head)
	}
	write(c, bold(textSize), draw.XCenter, vg.Point{
		X: x(float64(len(g.heads)) / 2), Y: c.Max.Y - headRoom/2,
	}, g.name)
	at := rect(x(0), top, x(float64(len(g.heads))), top)
	places := make([][]vg.Rectangle, len(g.rows))
	for i, r := range g.rows {
		if r.above != "" {
			write(c, sty, draw.XLeft, vg.Point{X: left, Y: top - headRoom/2}, r.above)
			top -= headRoom
		}
		centre := top - r.height()/2
		write(c, sty, draw.XLeft, vg.Point{X: left, Y: centre}, r.wrapLeft()...)
		write(c, sty, draw.XLeft, vg.Point{X: at.Max.X, Y: top - r.high/2}, r.right)
		for _, b := range r.boxes {
			place := rect(x(b.from)+1, top-r.high, x(b.to)-1, top)
			b.draw(c, place)
			places[i] = append(places[i], place)
		}
		at.Min.Y = top - r.height()
		top -= r.height() + r.gap
	}
	for _, l := range g.lines {
		// A line is vertical if the lower box lies below the upper one, so that it crosses no box.
		const inset = 8
		from, to := places[l[0].row][l[0].box], places[l[1].row][l[1].box]
		to.Min.X = middle(to).X
		start := min(max(to.Min.X, from.Min.X+inset), from.Max.X-inset)
		c.StrokeLine2(solid(ink, 0.8), start, from.Min.Y, to.Min.X, to.Max.Y)
	}
	return at
}

func (b *diagramBox) draw(c draw.Canvas, r vg.Rectangle) {
	if b.fill == nil {
		hatch(c, r)
		return
	}
	box(c, r, b.fill, b.outline)
	label(c, r, b.label)
}

// sample returns the legend entry of a box.
func (b diagramBox) sample(text string) legendEntry {
	return legendEntry{text, []plot.Thumbnailer{sign(func(c *draw.Canvas) {
		b.draw(*c, c.Rectangle)
		if b.fill == nil {
			c.SetLineStyle(solid(gridGrey, 0.5))
			c.Stroke(c.Rectangle.Path())
		}
	})}}
}
