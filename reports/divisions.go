package reports

import (
	"fmt"

	"miglab/harness/sim/corun"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Divisions draws how MIG and MPS divide GPUs among jobs (hierarchical paper Fig. 2), a row for each GPU: its
// multiprocessors by job above its memory. A memory and its jobs share a colour. Unused parts are hatched.
type Divisions struct {
	Title string
	Rows  []Division
}

// A Division is one GPU.
type Division struct {
	Label string
	// Setup must be valid. A compute instance is one job's unless it has shares.
	Setup corun.Setup
}

const (
	divisionWidth   vg.Length = 285
	divisionLabel   vg.Length = 14
	divisionCompute vg.Length = 24
	divisionMemory  vg.Length = 15
	divisionGap     vg.Length = 11
)

// divisionSlack is by how much the sum of shares may differ from 1, because of rounding.
const divisionSlack = 1e-9

func (f Divisions) page() (page, error) {
	if len(f.Rows) == 0 {
		return page{}, refuse(f.Title, "", "it has no rows")
	}
	sty := sans(textSize)
	names := []string{"compute [%]", "memory [%]"}
	left := widest(sty, names) + 8
	width := left + divisionWidth
	instances, idle, memories := false, false, 0
	for _, r := range f.Rows {
		width = max(width, bold(textSize).Width(r.Label))
		boxes, err := r.boxes(f.Title)
		if err != nil {
			return page{}, err
		}
		for _, b := range boxes {
			instances = instances || b.frame
			idle = idle || b.idle
			memories = max(memories, b.domain+1)
		}
	}
	l := divisionLegend(memories, instances, idle)
	const row = divisionLabel + divisionCompute + divisionMemory + divisionGap
	return framed(f.Title, width, vg.Length(len(f.Rows))*row, l, func(c draw.Canvas) []vg.Rectangle {
		from, top := c.Min.X+left, c.Max.Y
		for _, r := range f.Rows {
			write(c, bold(textSize), draw.XLeft, vg.Point{X: c.Min.X, Y: top - divisionLabel/2}, r.Label)
			compute := top - divisionLabel
			y := []vg.Length{compute, compute - divisionCompute, compute - divisionCompute - divisionMemory}
			for i, name := range names {
				write(c, sty, draw.XRight, vg.Point{X: from - 8, Y: (y[i] + y[i+1]) / 2}, name)
			}
			boxes, _ := r.boxes(f.Title) // page has checked the error
			for _, b := range boxes {
				b.draw(c, from, y[b.strip]-1, y[b.strip+1]+1)
			}
			top -= row
		}
		return []vg.Rectangle{rect(from, top+divisionGap, from+divisionWidth, c.Max.Y)}
	}), nil
}

// divisionLegend explains the colours of the memories, and the frames and hatches if there are any.
func divisionLegend(memories int, instances, idle bool) (l legend) {
	for i := range memories {
		l = append(l, swatch(fmt.Sprintf("memory %d and the jobs that use it", i+1), taskColour(i)))
	}
	if instances {
		l = append(l, legendEntry{"compute instance of MIG", func(c draw.Canvas) {
			c.SetLineStyle(divisionFrame)
			c.Stroke(c.Rectangle.Path())
		}})
	}
	if idle {
		l = append(l, idleEntry("used by nobody"))
	}
	return l
}

// divisionFrame is the outline of a compute instance.
var divisionFrame = solid(ink, 1.8)

type divisionBox struct {
	// strip is 0 for the multiprocessors and 1 for the memory.
	strip int
	// from and to are shares of the width.
	from, to float64
	// domain gives the colour.
	domain int
	label  string
	// idle boxes are hatched; frame is an outline without filling.
	idle, frame bool
}

func (b *divisionBox) draw(c draw.Canvas, left, top, bottom vg.Length) {
	r := rect(left+vg.Length(b.from)*divisionWidth, bottom, left+vg.Length(b.to)*divisionWidth, top)
	switch {
	case b.frame:
		c.SetLineStyle(divisionFrame)
		c.Stroke(r.Path())
		return
	case b.idle:
		hatch(c, r)
		return
	}
	box(c, r, taskColour(b.domain), solid(ink, 0.5))
	label(c, r, b.label)
}

// boxes returns what is drawn, frames last.
func (d *Division) boxes(figure string) (out []divisionBox, err error) {
	part := fmt.Sprintf("row %q", d.Label)
	if err := d.Setup.Validate(); err != nil {
		return nil, refuse(figure, part, "%w", err)
	}
	var frames []divisionBox
	compute, memory := 0.0, 0.0
	for i, gi := range d.Setup.GIs {
		out = append(out,
			divisionBox{strip: 1, from: memory, to: memory + gi.Memory, domain: i, label: percentOf(gi.Memory)})
		memory += gi.Memory
		for _, ci := range gi.CIs {
			shares := ci.Shares
			if len(shares) == 0 {
				shares = []float64{1}
			}
			used := 0.0
			for _, share := range shares {
				at, part := compute+float64(used*ci.Compute), float64(share*ci.Compute)
				out = append(out, divisionBox{from: at, to: at + part, domain: i, label: percentOf(part)})
				used += share
			}
			if used < 1-divisionSlack {
				out = append(out,
					divisionBox{from: compute + float64(used*ci.Compute), to: compute + ci.Compute, idle: true})
			}
			if ci.MIG {
				frames = append(frames, divisionBox{from: compute, to: compute + ci.Compute, frame: true})
			}
			compute += ci.Compute
		}
	}
	for strip, sum := range []float64{compute, memory} {
		if sum < 1-divisionSlack {
			out = append(out, divisionBox{strip: strip, from: sum, to: 1, idle: true})
		}
	}
	sty := sans(textSize)
	for _, b := range out {
		if room := vg.Length(b.to-b.from) * divisionWidth; !b.idle && !(sty.Width(b.label) < room-2) {
			return nil, refuse(figure, part, "%s %% is too little to be labelled", b.label)
		}
	}
	return append(out, frames...), nil
}

func percentOf(share float64) string { return fmt.Sprintf("%.4g", 100*share) }
