package figures

import (
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// needsReconfiguration says how to get the times of creating and destroying instances of a GPU.
const needsReconfiguration = "NOT RUNNABLE: needs an %s under MIG: run `miglab profile reconfiguration --out DIR` " +
	"there, copy DIR/reconfiguration.csv to FOLDER/NAME.reconfiguration.csv and run " +
	"`miglab reproduce --hardware FOLDER`"

// WithOrigin adds a note on where measured numbers come from, once.
func WithOrigin(notes []string, p datasets.Provenance) []string {
	if note := fmt.Sprintf("measured on %s; %s", p.GPU, p); !slices.Contains(notes, note) {
		notes = append(notes, note)
	}
	return notes
}

// ReconfigurationTable builds Table 1 of the FAR and the DRL paper: the seconds to create and to destroy an instance.
// The claims are inputs of the GPU models. What was measured on a GPU is judged as a second reading.
func ReconfigurationTable(d *Data) {
	d.Under("")
	measured, inputs := d.Under("measured on a GPU"), map[claim.Cell]float64{}
	t := d.Table("table1", "Table 1. Seconds to create and to destroy an instance, as the GPU "+
		"models have them and as measured",
		reports.Left("GPU").Right("size [slices]", "create [s]", "destroy [s]", "create, measured [s]",
			"destroy, measured [s]"),
		"create and destroy: taken from the paper; the models' cost of every operation comes from here")
	for _, name := range []string{"A30", "A100", "H100"} {
		times := d.Hardware.Reconfigurations(name)
		g := mig.MustLookup(name)
		for _, s := range g.Sizes() {
			p := g.Profile(s)
			cells := []string{fmt.Sprintf("%.2f", p.Create), fmt.Sprintf("%.2f", p.Destroy)}
			for i, operation := range []string{"create", "destroy"} {
				cell := claim.Cell{Row: name, Column: operation, Quantity: fmt.Sprintf("size %d", s)}
				inputs[cell] = float64([]mig.Seconds{p.Create, p.Destroy}[i])
				r, ok := times[datasets.Operation{Name: operation, Size: s}]
				if !ok {
					cells = append(cells, reports.Missing)
					continue
				}
				cells = append(cells, fmt.Sprintf("%.3f", r.Mean))
				t.Notes = WithOrigin(t.Notes, r.Provenance)
				m := verdict.Sampled(float64(r.Mean), float64(r.StdDev), r.Runs, verdict.Measurements, 0)
				m.Detail = "The paper names neither board nor driver; " + r.String() + "."
				measured[cell] = m
			}
			t.Row(name, s, cells)
		}
		if len(times) == 0 {
			t.Notes = append(t.Notes, fmt.Sprintf(needsReconfiguration, name))
		}
	}
	d.TakeInputs("cost of the GPU model", inputs)
}
