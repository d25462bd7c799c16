package reports

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"miglab/harness/mig"
)

// Tree draws the repartitioning trees of GPU models side by side (FAR Fig. 4), a row for each instance size. An
// instance is as wide as its compute slices and named by them. Lines lead to those that it can be split into.
type Tree struct {
	Title string
	GPUs  []*mig.GPU
}

const (
	treeHead  vg.Length = 16
	treeSlice vg.Length = 28
	treeBox   vg.Length = 18
	treeRow   vg.Length = 40
)

func (f Tree) page() (page, error) {
	rows := 0
	for _, g := range f.GPUs {
		rows = max(rows, len(g.Sizes()))
	}
	width := func(g *mig.GPU) vg.Length { return vg.Length(g.ComputeSlices) * treeSlice }
	return sideBySide(f.Title, f.GPUs, 0, treeHead+vg.Length(rows-1)*treeRow+treeBox, nil, width, drawTree)
}

func drawTree(c draw.Canvas, g *mig.GPU, left, top vg.Length) vg.Rectangle {
	top -= treeHead
	row := map[mig.Slices]int{}
	for i, s := range g.Sizes() {
		row[s] = len(g.Sizes()) - 1 - i
	}
	place := func(n mig.Node) vg.Rectangle {
		y := top - vg.Length(row[n.Size()])*treeRow
		return rect(left+vg.Length(n.Start)*treeSlice+1.5, y-treeBox, left+vg.Length(n.Start+n.Size())*treeSlice-1.5, y)
	}
	// A line is vertical if the child lies below its parent, so that it crosses no box.
	const inset = 8
	for _, n := range g.Tree() {
		if n.Parent < 0 {
			continue
		}
		from, to := place(g.Tree()[n.Parent]), place(n)
		x := (to.Min.X + to.Max.X) / 2
		c.StrokeLine2(solid(ink, 0.8), min(max(x, from.Min.X+inset), from.Max.X-inset), from.Min.Y, x, to.Max.Y)
	}
	bounds := place(g.Tree()[0])
	for _, n := range g.Tree() {
		r := place(n)
		box(c, r, taskColour(sizeColour(n.Size())), solid(ink, 0.6))
		label(c, r, sliceSet(n.Instance))
		bounds.Min.Y = min(bounds.Min.Y, r.Min.Y)
	}
	bounds.Min.X, bounds.Max.X = left, left+vg.Length(g.ComputeSlices)*treeSlice
	write(c, bold(textSize), draw.XCenter, vg.Point{X: (bounds.Min.X + bounds.Max.X) / 2, Y: top + treeHead/2}, g.Name)
	return bounds
}

// sliceSet names an instance by its compute slices as the FAR paper does, with
// the middle left out from four slices on: {S0, S1, S2}, {S0–S6}.
func sliceSet(in mig.Instance) string {
	first, last := int(in.Start), int(in.Start+in.Size())-1
	if in.Size() > 3 {
		return "{" + sliceName(first) + "–" + sliceName(last) + "}"
	}
	var names []string
	for i := first; i <= last; i++ {
		names = append(names, sliceName(i))
	}
	return "{" + strings.Join(names, ", ") + "}"
}
