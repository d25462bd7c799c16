package reports

import (
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"

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
	// Rejected is a profile that does not fit, whose placements are drawn below the row; may be nil.
	Rejected *mig.Profile
}

func (f Masks) page() (page, error) {
	if f.GPU == nil || len(f.Rows) == 0 {
		return page{}, refuse(f.Title, "", "it needs a GPU model and at least one row")
	}
	group := diagramGroup{unit: 20}
	for s := range f.GPU.MemorySlices {
		group.heads = append(group.heads, strconv.Itoa(int(s)))
	}
	// place places a profile, whose name must fit.
	place := func(b diagramBox, p *mig.Profile, start mig.Slices) diagramBox {
		b.from, b.to, b.label = float64(start), float64(start+p.Length), p.String()
		group.unit = max(group.unit, sans(textSize).Width(b.label)/vg.Length(p.Length)+6)
		return b
	}
	rejected := diagramBox{fill: tint(red, 0.9), outline: dashed(red, 0.9)}
	d := diagram{title: f.Title}
	for _, r := range f.Rows {
		row := diagramRow{above: r.Label, high: 15, gap: 6}
		for _, in := range r.Instances {
			row.boxes = append(row.boxes, place(instanceBox(in, 0, ""), in.Profile, in.Start))
		}
		used := mig.Partition(r.Instances).Mask()
		for s := range f.GPU.MemorySlices {
			if used>>s&1 == 0 {
				row.boxes = append(row.boxes, idleBox(float64(s), float64(s+1)))
			}
		}
		if r.Rejected == nil {
			group.rows = append(group.rows, row)
			continue
		}
		row.gap = 2
		below := diagramRow{high: 15, gap: 6}
		for _, s := range r.Rejected.Starts {
			below.boxes = append(below.boxes, place(rejected, r.Rejected, s))
		}
		group.rows = append(group.rows, row, below)
	}
	d.groups = []diagramGroup{group}
	d.explainIdle("free slice")
	if slices.ContainsFunc(f.Rows, func(r MaskRow) bool { return r.Rejected != nil }) {
		d.legend = append(d.legend, rejected.sample("placement of the rejected profile"))
	}
	return d.page()
}
