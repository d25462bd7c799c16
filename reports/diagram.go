package reports

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// diagram is rows of boxes, in groups side by side. [Partitions] and [Curve] are drawn as one.
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
}

type diagramRow struct {
	// left and right are labels; may be empty. left is wrapped.
	left, right string
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
		size.X = max(size.X, boxes+sty.Width(r.right))
		size.Y += r.height() + r.gap
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

// draw draws the group at the top of the canvas and returns where its boxes are.
func (g *diagramGroup) draw(c draw.Canvas, left vg.Length) vg.Rectangle {
	sty := sans(textSize)
	start := left + g.indent()
	x := func(unit float64) vg.Length { return start + vg.Length(unit)*g.unit }
	top := c.Max.Y - g.headHeight()
	for i, head := range g.heads {
		write(c, sty, draw.XCenter, vg.Point{X: x(float64(i) + 0.5), Y: top + headRoom/2}, head)
	}
	write(c, bold(textSize), draw.XCenter, vg.Point{
		X: x(float64(len(g.heads)) / 2), Y: c.Max.Y - headRoom/2,
	}, g.name)
	at := rect(x(0), top, x(float64(len(g.heads))), top)
	for _, r := range g.rows {
		centre := top - r.height()/2
		write(c, sty, draw.XLeft, vg.Point{X: left, Y: centre}, r.wrapLeft()...)
		write(c, sty, draw.XLeft, vg.Point{X: at.Max.X, Y: top - r.high/2}, r.right)
		for _, b := range r.boxes {
			b.draw(c, rect(x(b.from)+1, top-r.high, x(b.to)-1, top))
		}
		at.Min.Y = top - r.height()
		top -= r.height() + r.gap
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
