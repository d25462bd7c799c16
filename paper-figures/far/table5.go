package far

import (
	"miglab/harness/mig"
	"miglab/harness/run"
	figures "miglab/paper-figures"
)

// approaches are the columns of Table 5.
var approaches = []struct{ name, algorithm string }{
	{"MISO-OPT", "miso"},
	{"FIXPART(1,...,1)", "fixpart"},
	{"FIXPARTBEST", "fixpartbest"},
	{"FIXPART(7)", "fixpart?p=7"},
}

// table5Readings differ in the generator and in the variant of FAR that is the divisor.
// The approaches have no reconfiguration time in any of them (FAR 6.5.2: "despite
// the reconfiguration costs that such proposals do not need").
var table5Readings = []struct {
	name, parameters, far string
	model                 mig.Reconfiguration
}{
	{"", "", "far", mig.Sequential},
	{"p_sup = 50 %", "psup=50", "far", mig.Sequential},
	{"p_sup = 50 %, FAR unrefined and without reconfiguration time", "psup=50", "far?refine=false", mig.Free},
	{"p_sup = 50 %, released generator leaving with 0.3, FAR unrefined and without reconfiguration time", "psup=50&gen=released&leave=0.3", "far?refine=false", mig.Free},
}

func table5(claims *figures.Claims) figures.Artefact {
	const n = 15
	series := func(w workload, parameters string) (others []run.Series) {
		for _, a := range approaches {
			others = append(others, batch(synthetic(w, n, parameters), a.algorithm, mig.Free))
		}
		return others
	}
	return figures.Artefact{
		Name: "table5", Title: "average of sigma in 1000 executions with n = 15 on A100",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for r, w := range figures.Each(table5Readings, workloads) {
				out = append(out, figures.NeedFirst(s.Replicates(executions), batch(synthetic(w, n, r.parameters), r.far, r.model))...)
				out = append(out, figures.NeedFirst(s.Replicates(executions), series(w, r.parameters)...)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var readings []figures.Reading
			for _, r := range table5Readings {
				values := figures.Values{}
				for _, w := range workloads {
					far := batch(synthetic(w, n, r.parameters), r.far, r.model)
					for i, o := range series(w, r.parameters) {
						values[claimName(w, n, "sigma "+approaches[i].name)] = d.MeanOf(over(d, o, far), executions)
					}
				}
				readings = append(readings, figures.Lookup(r.name, values))
			}
			var quantities []string
			for _, a := range approaches {
				quantities = append(quantities, "sigma "+a.name)
			}
			return compared(d, claims, "table5", "Table 5. Average of sigma on A100",
				figures.Always("the paper does not say with which p_sup and generator the table was made, and no reading tried gives all of it"),
				workloads, columns([]int{n}, quantities...), readings), nil
		},
	}
}
