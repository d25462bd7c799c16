package reports

import (
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A legend explains colours and signs, in a strip below the data.
type legend []legendEntry

// add adds an entry, unless there is one with its label.
func (l *legend) add(e legendEntry) {
	if !slices.ContainsFunc(*l, func(same legendEntry) bool { return same.label == e.label }) {
		*l = append(*l, e)
	}
}

// A legendEntry explains one colour or sign.
type legendEntry struct {
	label string
	// signs are drawn one over the other.
	signs []plot.Thumbnailer
}

// A sign draws the sample of a legend's entry. The canvas has the size of the sample.
type sign func(c *draw.Canvas)

// Thumbnail draws the sign.
func (s sign) Thumbnail(c *draw.Canvas) { s(c) }

const (
	sampleWidth vg.Length = 18
	entryGap    vg.Length = 14
	legendGap   vg.Length = 6
	// legendPadding is between entries, and legendMargin below them.
	legendPadding vg.Length = 4
	legendMargin  vg.Length = 2
)

// columns divides the legend into as many columns as fit, row by row. All have the returned size.
func (l legend) columns(width vg.Length) (columns []plot.Legend, size vg.Point) {
	sty := sans(textSize)
	labels := make([]string, len(l))
	for i, e := range l {
		lines := wrap(sty, e.label, width-sampleWidth-sty.Width(" "))
		labels[i] = strings.Join(lines, "\n")
		size.X = max(size.X, sampleWidth+sty.Width(" ")+widest(sty, lines))
	}
	n := max(1, min(len(l), int((width+entryGap)/(size.X+entryGap))))
	for i, e := range l {
		if i < n {
			c := plot.NewLegend()
			c.TextStyle, c.ThumbnailWidth, c.Padding = sty, sampleWidth, legendPadding
			c.Top, c.Left = true, true
			columns = append(columns, c)
		}
		columns[i%n].Add(labels[i], e.signs...)
	}
	for i := range columns {
		size.Y = max(size.Y, columns[i].Rectangle(draw.Canvas{}).Size().Y)
	}
	return columns, size
}

// height returns the height of the legend with the gap above it; 0 for an empty legend.
func (l legend) height(width vg.Length) vg.Length {
	if len(l) == 0 {
		return 0
	}
	_, size := l.columns(width)
	return legendGap + size.Y + legendMargin
}

// draw draws the legend at the lower edge of the canvas, in the middle. It returns the rectangle of the legend, or nil
// if the legend is empty.
func (l legend) draw(c draw.Canvas) []vg.Rectangle {
	columns, size := l.columns(c.Size().X)
	if len(columns) == 0 {
		return nil
	}
	total := vg.Length(len(columns))*(size.X+entryGap) - entryGap
	place := rect(c.Center().X-total/2, c.Min.Y, c.Center().X+total/2, c.Min.Y+l.height(c.Size().X)-legendGap)
	at := c
	at.Rectangle = place
	for i := range columns {
		at.Max.X = at.Min.X + size.X
		columns[i].Draw(at)
		at.Min.X = at.Max.X + entryGap
	}
	return []vg.Rectangle{place}
}
