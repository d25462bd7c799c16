package figures

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/reports"
)

// ReconfigurationTable is Table 1 of the FAR and of the DRL paper: the seconds that
// creating and destroying an instance takes, as the GPU models carry them. Its claims
// are inputs of the project.
func ReconfigurationTable(claims *Claims) Artefact {
	return Artefact{
		Name: "table1", Title: "seconds to create and to destroy an instance",
		Build: func(*Data) (*Output, error) {
			out := &Output{}
			t := reports.Table{
				Title:   "Table 1. Seconds to create and to destroy an instance, as the GPU models carry them",
				Columns: []reports.Column{{Name: "GPU"}, {Name: "size", Right: true}, {Name: "create", Right: true}, {Name: "destroy", Right: true}},
				Notes:   []string{"taken from the paper; the models' cost of every operation comes from here"},
			}
			for _, c := range claims.Of("table1") {
				out.Findings = append(out.Findings, Taken(c, "cost of the GPU model"))
			}
			for _, name := range []string{"A30", "A100", "H100"} {
				g := mig.MustLookup(name)
				for _, s := range g.Sizes() {
					p := g.Profile(s)
					t.Rows = append(t.Rows, []string{name, fmt.Sprint(s), fmt.Sprintf("%.2f", p.Create), fmt.Sprintf("%.2f", p.Destroy)})
				}
			}
			out.Tables = []Table{{File: "table1", Table: t}}
			return out, nil
		},
	}
}
