package reports

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A legend explains colours and signs, in a strip below the data.
type legend []legendEntry

type legendEntry struct {
	label string
	// sample draws the sign on a canvas of its size.
	sample func(draw.Canvas)
}

const (
	sampleWidth  vg.Length = 18
	sampleHeight vg.Length = 8
	sampleGap    vg.Length = 4
	entryGap     vg.Length = 14
	legendGap    vg.Length = 6
)

// grid lays out the entries in columns of equal width, row by row, and wraps labels that are too wide.
func (l legend) grid(width vg.Length) (columns int, columnWidth, rowHeight vg.Length, labels [][]string) {
	sty := sans(textSize)
	lines := 1
	for _, e := range l {
		w := wrap(sty, e.label, width-sampleWidth-sampleGap)
		labels = append(labels, w)
		lines = max(lines, len(w))
		columnWidth = max(columnWidth, sampleWidth+sampleGap+widest(sty, w))
	}
	columns = max(1, min(len(l), int((width+entryGap)/(columnWidth+entryGap))))
	// Balance the rows: use only as many columns as this number of rows needs.
	rows := (len(l) + columns - 1) / columns
	columns = (len(l) + rows - 1) / max(1, rows)
	return columns, columnWidth, height(sty, lines) + 4, labels
}

// height is the height of the legend with the gap above it; 0 for an empty legend.
func (l legend) height(width vg.Length) vg.Length {
	if len(l) == 0 {
		return 0
	}
	columns, _, rowHeight, _ := l.grid(width)
	return legendGap + vg.Length((len(l)+columns-1)/columns)*rowHeight
}

func (l legend) draw(c draw.Canvas) []vg.Rectangle {
	if len(l) == 0 {
		return nil
	}
	width := c.Max.X - c.Min.X
	columns, columnWidth, rowHeight, labels := l.grid(width)
	total := vg.Length(columns)*(columnWidth+entryGap) - entryGap
	left := c.Min.X + (width-total)/2
	top := c.Min.Y + l.height(width) - legendGap
	for i, e := range l {
		x := left + vg.Length(i%columns)*(columnWidth+entryGap)
		y := top - vg.Length(i/columns)*rowHeight - rowHeight/2
		place := c
		place.Rectangle = rect(x, y-sampleHeight/2, x+sampleWidth, y+sampleHeight/2)
		e.sample(place)
		write(c, sans(textSize), draw.XLeft, vg.Point{X: x + sampleWidth + sampleGap, Y: y}, labels[i]...)
	}
	return []vg.Rectangle{rect(left, c.Min.Y, left+total, top)}
}
