package figures

import (
	"fmt"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/reports"
)

// onHardware is the reading of an input that was also measured.
const onHardware = "measured"

// ReconfigurationTable is Table 1 of the FAR paper and of the DRL paper: the seconds that
// creating and destroying an instance takes. The GPU models use these numbers, so the claims
// are inputs. Each has a second reading, what was measured on a GPU, which is judged.
func ReconfigurationTable(claims *Claims, h datasets.HardwareSet) Artefact {
	return Artefact{
		Name: "table1", Title: "seconds to create and to destroy an instance",
		Build: func(d *Data) (*Output, error) {
			out := &Output{}
			t := reports.Table{
				Title:   "Table 1. Seconds to create and to destroy an instance, as the GPU models carry them and as measured",
				Columns: reports.Left("GPU").Right("size", "create", "destroy", "create, measured", "destroy, measured"),
				Notes:   []string{"create and destroy: taken from the paper; the models' cost of every operation comes from here"},
			}
			times := map[string]map[Operation]datasets.ReconfigurationTime{}
			for _, name := range []string{"A30", "A100", "H100"} {
				times[name] = Reconfigurations(h, name)
				g := mig.MustLookup(name)
				for _, s := range g.Sizes() {
					p := g.Profile(s)
					row := []string{name, fmt.Sprint(s), fmt.Sprintf("%.2f", p.Create), fmt.Sprintf("%.2f", p.Destroy)}
					for _, operation := range []string{"create", "destroy"} {
						if r, ok := times[name][Operation{operation, s}]; ok {
							row = append(row, fmt.Sprintf("%.3f", r.Mean))
							t.Notes = WithOrigin(t.Notes, r.Provenance)
						} else {
							row = append(row, reports.Missing)
						}
					}
					t.Rows = append(t.Rows, row)
				}
				if len(times[name]) == 0 {
					t.Notes = append(t.Notes, "NOT RUNNABLE: "+NeedsReconfiguration(name))
				}
			}
			for _, c := range claims.Of("table1") {
				f := strings.Fields(c.Name) // A30 create size 1
				own := Missing(c, NeedsReconfiguration(f[0]))
				if r, ok := times[f[0]][Operation{f[1], mig.Slices(f[3][0] - '0')}]; ok {
					own = d.Judge(c, Sampled(float64(r.Mean), float64(r.StdDev), r.Runs), "", "the paper names neither board nor driver; "+r.String())
				}
				own.Reading = onHardware
				out.Findings = append(out.Findings, Taken(c, "cost of the GPU model"), own)
			}
			out.Table("table1", t)
			return out, nil
		},
	}
}
