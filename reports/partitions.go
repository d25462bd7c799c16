package reports

import (
	"slices"
	"strconv"

	"miglab/harness/mig"
)

// Partitions draws the partitions of GPU models side by side (FAR Fig. 1), a numbered row for each in the order of
// [mig.GPU.Partitions]. Instances are boxes with their sizes. Slices without computation are hatched.
type Partitions struct {
	Title string
	GPUs  []*mig.GPU
}

func (f Partitions) page() (page, error) {
	d, idle := diagram{title: f.Title}, false
	for _, g := range f.GPUs {
		group := diagramGroup{name: g.Name, unit: 25}
		for s := range g.ComputeSlices {
			group.heads = append(group.heads, sliceName(int(s)))
		}
		for i, p := range g.Partitions() {
			row := diagramRow{left: strconv.Itoa(i + 1), high: 12.5, gap: 2.5}
			for _, in := range p {
				row.boxes = append(row.boxes, instanceBox(in))
			}
			for s := range g.ComputeSlices {
				computes := func(in mig.Instance) bool { return s >= in.Start && s < in.Start+in.Size() }
				if !slices.ContainsFunc(p, computes) {
					row.boxes, idle = append(row.boxes, diagramBox{from: float64(s), to: float64(s + 1)}), true
				}
			}
			group.rows = append(group.rows, row)
		}
		d.groups = append(d.groups, group)
	}
	if idle {
		d.legend = legend{idleEntry("slice left idle")}
	}
	return d.page()
}

// instanceBox returns a box on the compute slices of an instance, named by its size and in the colour of the size.
func instanceBox(in mig.Instance) diagramBox {
	colours := [mig.MaxSize + 1]int{1: 0, 2: 1, 3: 2, 4: 3, 7: 4}
	return diagramBox{
		from: float64(in.Start), to: float64(in.Start + in.Size()), label: strconv.Itoa(int(in.Size())),
		fill: taskColour(colours[in.Size()]), outline: solid(ink, 0.5),
	}
}
