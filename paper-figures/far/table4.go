package far

import (
	"fmt"

	"miglab/harness/mig"
	figures "miglab/paper-figures"
)

// generatorReadings are parameters of the generator that the paper leaves open for a table.
// The first reading is what the paper prints, with p_sup = 0.
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
	ns := table9Sizes
	return figures.Artefact{
		Name: "table4", Title: "average of rho in 1000 executions of FAR with WIDETIMES on A100",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, r := range generatorReadings {
				for w, n := range figures.Each(wide, ns) {
					out = append(out, needRho(batch(synthetic(w, n, r.parameters), "far", mig.Sequential), s.Replicates(executions))...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var readings []figures.Reading
			for _, r := range generatorReadings {
				values := figures.Values{}
				for w, n := range figures.Each(wide, ns) {
					v := rho(d, batch(synthetic(w, n, r.parameters), "far", mig.Sequential))
					values[claimName(w, n, "rho")] = d.MeanOf(v, executions)
				}
				readings = append(readings, figures.Lookup(r.name, values))
			}
			return compared(d, claims, "table4", "Table 4. Average of rho, FAR on A100",
				figures.Always("outside the tolerance fixed for this table"), wide, columns(ns, "rho"), readings), nil
		},
	}
}

// columns lists numbers of tasks with each quantity, as claims name them.
func columns(ns []int, quantities ...string) []string {
	var out []string
	for _, n := range ns {
		for _, q := range quantities {
			out = append(out, fmt.Sprintf("n=%d %s", n, q))
		}
	}
	return out
}

// compared judges a table's claims under each reading and shows them in two tables: in the
// paper's layout, and claim by claim.
func compared(
	d *figures.Data, claims *figures.Claims, artefact, caption string, reason func(claim string) string,
	rows []workload, columns []string, readings []figures.Reading,
) *figures.Output {
	fs := d.Compare(claims.Of(artefact), readings, reason)
	var names []string
	for _, w := range rows {
		names = append(names, w.String())
	}
	return figures.Found(fs...).
		Table(artefact, figures.Layout(caption, "workload", names, columns, fs)).
		Table(artefact+"-claims", figures.ComparisonTable(caption+", claim by claim", fs))
}
