package far

import (
	"fmt"

	"miglab/harness/mig"
	figures "miglab/paper-figures"
)

// generatorReadings are parameters of the generator that the paper's text leaves
// open for a table; the first is what it prints, with p_sup = 0.
var generatorReadings = []struct{ name, parameters string }{
	{"", ""},
	{"p_sup = 50 %", "psup=50"},
	{"p_sup = 50 %, released generator", "psup=50&gen=released"},
}

// claimName joins a workload, a number of tasks and a quantity as published.csv does.
func claimName(w workload, n int, quantity string) string {
	return fmt.Sprintf("%s n=%d %s", w, n, quantity)
}

func table4(claims *figures.Claims) figures.Artefact {
	ns := []int{10, 15, 20, 25, 30, 35}
	return figures.Artefact{
		Name: "table4", Title: "average of rho in 1000 executions of FAR with WIDETIMES on A100",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, r := range generatorReadings {
				for _, w := range wide {
					for _, n := range ns {
						out = append(out, needRho(batch(synthetic(w, n, r.parameters), "far", mig.Sequential), s.Replicates(executions))...)
					}
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var readings []figures.Reading
			for _, r := range generatorReadings {
				values := map[string]figures.Measurement{}
				for _, w := range wide {
					for _, n := range ns {
						v, err := rho(d, batch(synthetic(w, n, r.parameters), "far", mig.Sequential))
						if err != nil {
							return nil, err
						}
						if values[claimName(w, n, "rho")], err = figures.MeanOf(v, executions); err != nil {
							return nil, err
						}
					}
				}
				readings = append(readings, figures.Lookup(r.name, values))
			}
			fs, err := figures.Compare(claims.Of("table4"), readings, "outside the tolerance fixed for this table")
			if err != nil {
				return nil, err
			}
			rows, columns := names(wide), numbers(ns)
			layout := figures.Layout("Table 4. Average of rho, FAR on A100, WIDETIMES", "workload", rows, columns, fs,
				func(r, c string) string { return r + " n=" + c + " rho" })
			return &figures.Output{Findings: fs, Tables: []figures.Table{
				{File: "table4", Table: layout},
				{File: "table4-claims", Table: figures.ComparisonTable("Table 4, claim by claim", fs)},
			}}, nil
		},
	}
}

func names(ws []workload) []string {
	var out []string
	for _, w := range ws {
		out = append(out, w.String())
	}
	return out
}

func numbers(ns []int) []string {
	var out []string
	for _, n := range ns {
		out = append(out, fmt.Sprint(n))
	}
	return out
}
