package reports

import (
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
)

// Partitions draws the partitions of GPU models side by side (FAR Fig. 1), a numbered row for each in the order of
// [mig.GPU.Partitions]. Instances are boxes with their sizes. Slices without computation are hatched.
type Partitions struct {
	Title string
	GPUs  []*mig.GPU
}

// modelGroup returns a group of boxes on the compute slices of a GPU model.
func modelGroup(g *mig.GPU) diagramGroup {
	out := diagramGroup{name: g.Name, unit: 25}
	for s := range g.ComputeSlices {
		out.heads = append(out.heads, sliceName(int(s)))
	}
	return out
}

func (f Partitions) page() (page, error) {
	d := diagram{title: f.Title}
	for _, g := range f.GPUs {
		group := modelGroup(g)
		for i, p := range g.Partitions() {
			row := diagramRow{left: strconv.Itoa(i + 1), high: 12.5, gap: 2.5}
			for _, in := range p {
				row.boxes = append(row.boxes, instanceBox(in, in.Start+in.Size(), strconv.Itoa(int(in.Size()))))
			}
			for s := range g.ComputeSlices {
				computes := func(in mig.Instance) bool { return s >= in.Start && s < in.Start+in.Size() }
				if !slices.ContainsFunc(p, computes) {
					row.boxes = append(row.boxes, idleBox(float64(s), float64(s+1)))
				}
			}
			group.rows = append(group.rows, row)
		}
		d.groups = append(d.groups, group)
	}
	d.explainIdle("slice left idle")
	return d.page()
}

// Tree draws the repartitioning trees of GPU models side by side (FAR Fig. 4), a row for each instance size. An
// instance is as wide as its compute slices and named by them. Lines lead to the instances that it can be split into.
type Tree struct {
	Title string
	GPUs  []*mig.GPU
}

func (f Tree) page() (page, error) {
	d := diagram{title: f.Title}
	for _, g := range f.GPUs {
		group := modelGroup(g)
		group.unit = 28
		for i := range group.heads {
			group.heads[i] = "" // the boxes name the slices
		}
		sizes := g.Sizes()
		group.rows = make([]diagramRow, len(sizes))
		for i := range group.rows {
			group.rows[i] = diagramRow{high: 18, gap: 22}
		}
		group.rows[len(sizes)-1].gap = 0
		var at []boxPlace // of each node
		for _, n := range g.Tree() {
			i := len(sizes) - 1 - slices.Index(sizes, n.Size())
			boxes := &group.rows[i].boxes
			at = append(at, boxPlace{i, len(*boxes)})
			*boxes = append(*boxes, instanceBox(n.Instance, n.Start+n.Size(), sliceSet(n.Instance)))
		}
		for i, n := range g.Tree() {
			if n.Parent >= 0 {
				group.lines = append(group.lines, [2]boxPlace{at[n.Parent], at[i]})
			}
		}
		d.groups = append(d.groups, group)
	}
	return d.page()
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
