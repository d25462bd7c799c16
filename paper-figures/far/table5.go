package far

import (
	"miglab/harness/mig"
	figures "miglab/paper-figures"
)

// approaches are the columns of Table 5.
var approaches = []struct{ name, algorithm string }{
	{"MISO-OPT", "miso"},
	{"FIXPART(1,...,1)", "fixpart"},
	{"FIXPARTBEST", "fixpartbest"},
	{"FIXPART(7)", "fixpart?p=7"},
}

// A comparison is one way to make Table 5. The approaches have no reconfiguration time in any
// of them (6.5.2: "despite the reconfiguration costs that such proposals do not need").
type comparison struct {
	// parameters are those of the generator.
	parameters string
	// miso and far are the variants of the two algorithms; model is FAR's.
	miso, far string
	model     mig.Reconfiguration
}

// ratios returns sigma by approach and execution.
func (c comparison) ratios(d *figures.Data, w workload, n int) (out [][]float64) {
	data := synthetic(w, n, c.parameters)
	for _, a := range approaches {
		out = append(out, over(d, batch(data, c.variant(a.algorithm), mig.Free), batch(data, c.far, c.model), executions))
	}
	return out
}

// variant is the algorithm of an approach.
func (c comparison) variant(algorithm string) string {
	if algorithm == "miso" {
		return c.miso
	}
	return algorithm
}

// measure is the measure of a procedure.
func (c comparison) measure(d *figures.Data, w workload, n int) (out []figures.Measurement) {
	for _, sigma := range c.ratios(d, w, n) {
		out = append(out, mean(d, sigma))
	}
	return out
}

// march is the script compare_size_test at commit 329d713 of March 2024.
var march = comparison{"psup=50&gen=released&leave=0.3", "miso?order=permute", "far?refine=false", mig.Free}

func table5() figures.Artefact {
	var quantities []string
	for _, a := range approaches {
		quantities = append(quantities, "sigma "+a.name)
	}
	return grid{"table5", "Average of sigma in 1000 executions on A100", workloads, []int{15}, quantities}.made(
		procedure{
			basis:   "the authors' script compare_size_test of March 2024: p_sup = 50 %, released generator leaving with 0.3, FAR unrefined, no reconfiguration time, MISO-OPT tries all orders of the next tasks",
			measure: march.measure,
		},
		procedure{
			name: "the script, MISO-OPT in order of arrival", basis: "the authors' later code",
			measure: comparison{march.parameters, "miso", march.far, march.model}.measure,
		},
		procedure{
			name: "text", basis: "6.5: the printed generator with p_sup = 0, FAR refined and with reconfiguration time",
			measure: comparison{"", "miso", "far", mig.Sequential}.measure,
		},
		procedure{
			name: "text, p_sup = 50 %", basis: "the same with the p_sup of the script",
			measure: comparison{"psup=50", "miso", "far", mig.Sequential}.measure,
		},
		procedure{
			name: "text, p_sup = 50 %, FAR unrefined and without reconfiguration time", basis: "the printed generator with the script's p_sup and FAR",
			measure: comparison{"psup=50", "miso", march.far, march.model}.measure,
		},
	)
}
