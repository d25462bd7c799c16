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

type legendEntry struct {
	label string
	// signs are drawn one over the other.
	signs []plot.Thumbnailer
}

// A sign draws the sample of an entry of a legend on a canvas of its size.
type sign func(c *draw.Canvas)

// Thumbnail draws the sign.
func (s sign) Thumbnail(c *draw.Canvas) { s(c) }

const (
	sampleWidth vg.Length = 18
	entryGap    vg.Length = 14
	legendGap   vg.Length = 6
)

// columns divides the legend into as many columns as fit, row by row, and returns them with their sizes.
func (l legend) columns(width vg.Length) (columns []plot.Legend, sizes []vg.Point) {
	sty := sans(textSize)
	for n := min(len(l), int(width/(sampleWidth+entryGap))); n > 0; n-- {
		rows := (len(l) + n - 1) / n
		if (len(l)+rows-1)/rows != n {
			continue // fewer columns have as few rows
		}
		columns, sizes = make([]plot.Legend, n), make([]vg.Point, n)
		for j := range columns {
			columns[j] = plot.NewLegend()
			columns[j].TextStyle, columns[j].ThumbnailWidth, columns[j].Padding = sty, sampleWidth, 4
			columns[j].Top, columns[j].Left = true, true
		}
		for i, e := range l {
			lines := wrap(sty, e.label, width-sampleWidth-sty.Width(" "))
			columns[i%n].Add(strings.Join(lines, "\n"), e.signs...)
		}
		total := -entryGap
		for j := range columns {
			sizes[j] = columns[j].Rectangle(draw.Canvas{}).Size()
			total += sizes[j].X + entryGap
		}
		if total <= width {
			break
		}
	}
	return columns, sizes
}

// height returns the height of the legend with the gap above it; 0 for an empty legend.
func (l legend) height(width vg.Length) (high vg.Length) {
	_, sizes := l.columns(width)
	for _, s := range sizes {
		high = max(high, legendGap+s.Y+2)
	}
	return high
}

// draw draws the legend in the middle of the canvas at its lower edge, and returns its place.
func (l legend) draw(c draw.Canvas) []vg.Rectangle {
	columns, sizes := l.columns(c.Max.X - c.Min.X)
	if len(columns) == 0 {
		return nil
	}
	total := -entryGap
	for _, s := range sizes {
		total += s.X + entryGap
	}
	place := rect(c.Center().X-total/2, c.Min.Y, c.Center().X+total/2, c.Min.Y+l.height(c.Max.X-c.Min.X)-legendGap)
	at := c
	at.Rectangle = place
	for j := range columns {
		at.Max.X = at.Min.X + sizes[j].X
		columns[j].Draw(at)
		at.Min.X = at.Max.X + entryGap
	}
	return []vg.Rectangle{place}
}
