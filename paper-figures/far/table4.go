package far

import (
	"miglab/harness/mig"
	figures "miglab/paper-figures"
)

// allSizes are the numbers of tasks of Tables 4 and 9.
var allSizes = []int{10, 15, 20, 25, 30, 35}

// batchRho measures rho of FAR on batches of a generator's parameters.
func batchRho(gpu, parameters string) func(d *figures.Data, w workload, n int) []figures.Measurement {
	return func(d *figures.Data, w workload, n int) []figures.Measurement {
		return []figures.Measurement{mean(d, rho(d, on(gpu, 1, batch(synthetic(w, n, parameters), "far", mig.Sequential)), executions))}
	}
}

// table4Text is the default reading of Table 4.
var table4Text = procedure{basis: "the printed generator with p_sup = 0: 6.3 names no p_sup for its workloads", measure: batchRho("A100", "")}

func table4() figures.Artefact {
	return grid{"table4", "Average of rho in 1000 executions of FAR with WIDETIMES on A100", wide, allSizes, []string{"rho"}}.made(
		table4Text,
		procedure{name: "p_sup = 50 %", basis: "the printed generator with the p_sup of Fig. 11 and of the script of Table 5", measure: batchRho("A100", "psup=50")},
		procedure{name: "p_sup = 50 %, released generator", basis: "the authors' public generator", measure: batchRho("A100", "psup=50&gen=released")},
	)
}

// a30 is the one number about A30. Its workload is not printed.
func a30() figures.Artefact {
	return figures.Artefact{
		Name: "a30", Title: "rho of FAR on A30, WIDETIMES (6.4.2)",
		Build: func(d *figures.Data) (*figures.Output, error) {
			var rs []figures.Reading
			for _, x := range []struct{ name, class, parameters, basis string }{
				{"", "MIXEDSCALING", "", "as Table 4, with the same share of tasks for every size of A30; the text names neither workload nor shares"},
				{"POORSCALING", "POORSCALING", "", "tasks that scale well up to 1 or 2 slices"},
				{"GOODSCALING", "GOODSCALING", "", "tasks that scale well up to the two largest sizes"},
				{"MIXEDSCALING, p_sup = 50 %", "MIXEDSCALING", "psup=50", "the p_sup of the script of Table 5"},
			} {
				m := batchRho("A30", x.parameters)(d, workload{x.class, "WIDETIMES"}, 10)[0]
				rs = append(rs, figures.Reading{Name: x.name, Basis: x.basis, Values: figures.Values{"rho n=10": m}})
			}
			return figures.Read(rs...), nil
		},
	}
}
