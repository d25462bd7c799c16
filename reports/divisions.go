package reports

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"miglab/harness/sim/corun"
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
	// Setup must be valid, and its shares wide enough for their labels. A compute instance is one job's unless it has
	// shares.
	Setup corun.Setup
}

const divisionWidth vg.Length = 285

// divisionSlack is by how much the sum of shares may differ from 1, because of rounding.
const divisionSlack = 1e-9

func (f Divisions) page() (page, error) {
	if len(f.Rows) == 0 {
		return page{}, refuse(f.Title, "", "it has no rows")
	}
	group, memories := diagramGroup{heads: []string{""}, unit: divisionWidth}, 0
	for _, r := range f.Rows {
		compute, memory := r.boxes()
		memories = max(memories, len(r.Setup.GIs))
		group.rows = append(group.rows,
			diagramRow{above: r.Label, left: "compute [%]", high: 22, gap: 2, boxes: compute},
			diagramRow{left: "memory [%]", high: 13, gap: 11, boxes: memory})
	}
	d := diagram{title: f.Title, groups: []diagramGroup{group}}
	for i := range memories {
		d.legend = append(d.legend, swatch(fmt.Sprintf("memory %d and the jobs that use it", i+1), taskColour(i)))
	}
	framed := func(r diagramRow) bool {
		return slices.ContainsFunc(r.boxes, func(b diagramBox) bool { return b.fill == framesOnly })
	}
	if slices.ContainsFunc(group.rows, framed) {
		d.legend = append(d.legend, divisionFrame(0, 1).sample("compute instance of MIG"))
	}
	d.explainIdle("used by nobody")
	return d.page()
}

// divisionFrame returns the outline of a compute instance.
func divisionFrame(from, to float64) diagramBox {
	return diagramBox{from: from, to: to, fill: framesOnly, outline: solid(ink, 1.8)}
}

// boxes returns the parts of the multiprocessors and of the memory, frames last.
func (d *Division) boxes() (compute, memory []diagramBox) {
	var frames []diagramBox
	at, used := 0.0, 0.0 // of the multiprocessors and of the memory
	for i, gi := range d.Setup.GIs {
		memory = append(memory, filledBox(used, used+gi.Memory, i, percent(gi.Memory)))
		used += gi.Memory
		for _, ci := range gi.CIs {
			shares := ci.Shares
			if len(shares) == 0 {
				shares = []float64{1}
			}
			taken := 0.0
			for _, share := range shares {
				from, wide := at+float64(taken*ci.Compute), float64(share*ci.Compute)
				compute = append(compute, filledBox(from, from+wide, i, percent(wide)))
				taken += share
			}
			if taken < 1-divisionSlack {
				compute = append(compute, idleBox(at+float64(taken*ci.Compute), at+ci.Compute))
			}
			if ci.MIG {
				frames = append(frames, divisionFrame(at, at+ci.Compute))
			}
			at += ci.Compute
		}
	}
	if at < 1-divisionSlack {
		compute = append(compute, idleBox(at, 1))
	}
	if used < 1-divisionSlack {
		memory = append(memory, idleBox(used, 1))
	}
	return append(compute, frames...), memory
}

func percent(share float64) string { return fmt.Sprintf("%.4g", 100*share) }
