package reports

import (
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"miglab/harness/mig"
)

// Masks draws which memory slices of GPUs are in use (MFI Figs. 1 to 3), with a row for each
// GPU. Instances have the names of their profiles, and free slices are hatched.
type Masks struct {
	Title string
	GPU   *mig.GPU
	Rows  []MaskRow
}

// A MaskRow is one GPU.
type MaskRow struct {
	Label string
	// Instances are the instances on the GPU where its model allows them; no two share a slice.
	Instances []mig.Instance
	// Rejected is a profile that does not fit, whose placements are drawn below the row; nil for none.
	Rejected *mig.Profile
}

const (
	// leastMask is the least width of a slice.
	leastMask  vg.Length = 20
	maskLabel  vg.Length = 13
	maskRow    vg.Length = 17
	maskRowGap vg.Length = 6
	maskHead   vg.Length = 15
)

func (f Masks) page() (page, error) {
	if f.GPU == nil || len(f.Rows) == 0 {
		return page{}, refuse(f.Title, "", "it needs a GPU model and at least one row")
	}
	sty := sans(textSize)
	slice, labels, high := leastMask, vg.Length(0), vg.Length(0)
	fit := func(p *mig.Profile) { slice = max(slice, sty.Width(p.String())/vg.Length(p.Length)+6) }
	free, rejected := false, false
	for _, r := range f.Rows {
		labels = max(labels, sty.Width(r.Label))
		high += maskLabel + maskRow + maskRowGap
		for _, in := range r.Instances {
			fit(in.Profile)
		}
		if r.Rejected != nil {
			fit(r.Rejected)
			high += maskRow
			rejected = true
		}
		free = free || len(r.free(f.GPU)) > 0
	}
	var l legend
	if free {
		l = append(l, idleEntry("free slice"))
	}
	if rejected {
		l = append(l, legendEntry{"placement of the rejected profile", func(c draw.Canvas) {
			rejectedBox(c, c.Rectangle)
		}})
	}
	width := max(240, labels, vg.Length(f.GPU.MemorySlices)*slice)
	return framed(f.Title, width, maskHead+high, l, func(c draw.Canvas) []vg.Rectangle {
		left, top := c.Min.X, c.Max.Y-maskHead
		x := func(s mig.Slices) vg.Length { return left + vg.Length(s)*slice }
		for s := range f.GPU.MemorySlices {
			write(c, sty, draw.XCenter, vg.Point{X: (x(s) + x(s+1)) / 2, Y: top + maskHead/2}, strconv.Itoa(int(s)))
		}
		bottom := top
		for _, r := range f.Rows {
			bottom = r.draw(c, f.GPU, left, x, bottom)
		}
		return []vg.Rectangle{rect(x(0), bottom, x(f.GPU.MemorySlices), top)}
	}), nil
}

func (r *MaskRow) free(g *mig.GPU) []mig.Slices {
	used := mig.Partition(r.Instances).Mask()
	var out []mig.Slices
	for s := range g.MemorySlices {
		if used>>s&1 == 0 {
			out = append(out, s)
		}
	}
	return out
}

// draw draws the row below top and returns where the next one begins.
func (r *MaskRow) draw(
	c draw.Canvas, g *mig.GPU, left vg.Length, x func(mig.Slices) vg.Length, top vg.Length,
) vg.Length {
	sty := sans(textSize)
	write(c, sty, draw.XLeft, vg.Point{X: left + 1, Y: top - maskLabel/2}, r.Label)
	y1 := top - maskLabel
	y0 := y1 - maskRow + 2
	for _, s := range r.free(g) {
		hatch(c, rect(x(s)+1, y0, x(s+1)-1, y1))
	}
	for _, in := range r.Instances {
		at := rect(x(in.Start)+1, y0, x(in.Start+in.Profile.Length)-1, y1)
		box(c, at, taskColour(sizeColour(in.Size())), solid(ink, 0.5))
		label(c, at, in.Profile.String())
	}
	if r.Rejected != nil {
		y1, y0 = y1-maskRow, y0-maskRow
		for _, s := range r.Rejected.Starts {
			at := rect(x(s)+1, y0, x(s+r.Rejected.Length)-1, y1)
			rejectedBox(c, at)
			label(c, at, r.Rejected.String())
		}
	}
	return y0 - 2 - maskRowGap
}

// rejectedBox outlines a placement that is not possible.
func rejectedBox(c draw.Canvas, r vg.Rectangle) { box(c, r, tint(red, 0.9), dashed(red, 0.9)) }
