package drl

import (
	"fmt"
	"math"
	"strings"

	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// table3 cannot be run: the times that the batch was simulated with are not published,
// and the public ones of the same kernels are of other runs.
func table3(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table3", Title: "simulated and real end times of nine Rodinia kernels on A100",
		Build: func(*figures.Data) (*figures.Output, error) {
			out := &figures.Output{}
			shown := reports.Table{
				Title: "What is public of the batch of Table 3",
				Columns: []reports.Column{
					{Name: "kernel"},
					{Name: "simulated end [s]", Right: true},
					{Name: "real end [s]", Right: true},
					{Name: "difference [% of the real end]", Right: true},
					{Name: "least public time [s]", Right: true},
					{Name: "on slices", Right: true},
				},
				Notes: []string{
					"ends: as printed; the difference follows from them, within rounding the printed one",
					"public times are of other runs, with inputs that need not be those of this batch; a dash: none is public",
				},
			}
			public, err := kernelsOn("A100")
			if err != nil {
				return nil, err
			}
			all := claims.Of("table3")
			for i := 0; i < len(all); i += 3 { // simulated, real, difference
				simulated, real := all[i], all[i+1]
				kernel := strings.TrimSuffix(simulated.Name, " simulated end")
				row := []string{
					kernel, fmt.Sprintf("%.2f", simulated.Published), fmt.Sprintf("%.2f", real.Published),
					fmt.Sprintf("%.2f", (1-simulated.Published/real.Published)*100), "-", "-",
				}
				name, _, _ := strings.Cut(kernel, " (")
				for j := range public {
					if public[j].Name != name {
						continue
					}
					least, at := mig.Seconds(math.Inf(1)), mig.Slices(0)
					for _, s := range mig.MustLookup("A100").Sizes() {
						if public[j].On(s) < least {
							least, at = public[j].On(s), s
						}
					}
					row[4], row[5] = fmt.Sprintf("%.2f", least), fmt.Sprint(at)
				}
				shown.Rows = append(shown.Rows, row)
				for _, c := range all[i : i+3] {
					reason := "the task times of this batch are not published, and the agent that scheduled it is not either"
					if c.Name != simulated.Name {
						reason = needsHardware
					}
					out.Findings = append(out.Findings, figures.Missing(c, reason))
				}
			}
			out.Tables = []figures.Table{
				{File: "table3", Table: figures.ComparisonTable("Table 3. End times on A100", out.Findings)},
				{File: "table3-public", Table: shown},
			}
			return out, nil
		},
	}
}
