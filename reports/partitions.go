package reports

import (
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"miglab/harness/mig"
)

// Partitions draws the partitions of GPU models side by side (FAR Fig. 1), a numbered row for each in the order of
// [mig.GPU.Partitions]. Instances are boxes with their sizes. Slices that compute nothing are hatched.
type Partitions struct {
	Title string
	GPUs  []*mig.GPU
}

const (
	// partitionHead has two lines of headings: the model and the slices.
	partitionHead  vg.Length = 2 * 15
	partitionRow   vg.Length = 15
	partitionSlice vg.Length = 24
	numberWidth    vg.Length = 18
	gpuGap         vg.Length = 28
)

// sizeColour is the colour of instances of a size, the same in every figure.
func sizeColour(size mig.Slices) int { return [mig.MaxSize + 1]int{1: 0, 2: 1, 3: 2, 4: 3, 7: 4}[size] }

func (f Partitions) page() (page, error) {
	rows, hatched := 0, false
	for _, g := range f.GPUs {
		rows = max(rows, len(g.Partitions()))
		for _, p := range g.Partitions() {
			hatched = hatched || len(idle(g, p)) > 0
		}
	}
	var l legend
	if hatched {
		l = append(l, idleEntry("slice left idle"))
	}
	width := func(g *mig.GPU) vg.Length { return numberWidth + vg.Length(g.ComputeSlices)*partitionSlice }
	return sideBySide(f.Title, f.GPUs, 240, partitionHead+vg.Length(rows)*partitionRow, l, width, f.drawGPU)
}

// sideBySide is the page of drawings of GPU models. model draws one at left and top, and returns its place.
func sideBySide(
	title string, gpus []*mig.GPU, least, body vg.Length, l legend,
	width func(*mig.GPU) vg.Length, model func(c draw.Canvas, g *mig.GPU, left, top vg.Length) vg.Rectangle,
) (page, error) {
	if len(gpus) == 0 {
		return page{}, refuse(title, "", "it has no GPUs")
	}
	total := -gpuGap
	for _, g := range gpus {
		total += width(g) + gpuGap
	}
	return framed(title, max(total, least), body, l, func(c draw.Canvas) (data []vg.Rectangle) {
		left := c.Min.X
		for _, g := range gpus {
			at := model(c, g, left, c.Max.Y)
			data = append(data, at)
			left = at.Max.X + gpuGap
		}
		return data
	}), nil
}

func (f Partitions) drawGPU(c draw.Canvas, g *mig.GPU, left, top vg.Length) vg.Rectangle {
	top -= partitionHead
	sty := sans(textSize)
	x := func(slice mig.Slices) vg.Length { return left + numberWidth + vg.Length(slice)*partitionSlice }
	n := mig.Slices(g.ComputeSlices)
	write(c, bold(textSize), draw.XCenter, vg.Point{X: (x(0) + x(n)) / 2, Y: top + 23}, g.Name)
	for s := range n {
		write(c, sty, draw.XCenter, vg.Point{X: (x(s) + x(s+1)) / 2, Y: top + 8}, sliceName(int(s)))
	}
	bottom := top
	for i, p := range g.Partitions() {
		y1 := top - vg.Length(i)*partitionRow
		y0 := y1 - partitionRow + 2.5
		bottom = y0
		write(c, sty, draw.XRight, vg.Point{X: x(0) - 5, Y: (y0 + y1) / 2}, strconv.Itoa(i+1))
		for _, s := range idle(g, p) {
			hatch(c, rect(x(s)+1, y0, x(s+1)-1, y1))
		}
		for _, in := range p {
			at := rect(x(in.Start)+1, y0, x(in.Start+in.Size())-1, y1)
			box(c, at, taskColour(sizeColour(in.Size())), solid(ink, 0.5))
			label(c, at, strconv.Itoa(int(in.Size())))
		}
	}
	return rect(x(0), bottom, x(n), top)
}

// idle lists the compute slices that no instance of the partition computes on.
func idle(g *mig.GPU, p mig.Partition) []mig.Slices {
	var out []mig.Slices
	for s := range g.ComputeSlices {
		computes := func(in mig.Instance) bool { return s >= in.Start && s < in.Start+in.Size() }
		if !slices.ContainsFunc(p, computes) {
			out = append(out, s)
		}
	}
	return out
}

func idleEntry(label string) legendEntry {
	return legendEntry{label, func(c draw.Canvas) {
		hatch(c, c.Rectangle)
		c.SetLineStyle(solid(gridGrey, 0.5))
		c.Stroke(c.Rectangle.Path())
	}}
}
