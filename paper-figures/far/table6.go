package far

import (
	"miglab/harness/mig"
	figures "miglab/paper-figures"
)

// threeSizes are the numbers of tasks of Tables 6 to 8.
var threeSizes = []int{10, 20, 30}

// refinement measures p_ref, moves and swaps of a variant of FAR.
func refinement(parameters, refined string) func(d *figures.Data, w workload, n int) []figures.Measurement {
	return func(d *figures.Data, w workload, n int) []figures.Measurement {
		data := synthetic(w, n, parameters)
		after, before := batch(data, refined, mig.Sequential), batch(data, "far?refine=false", mig.Sequential)
		return []figures.Measurement{
			mean(d, d.Above(before, after, executions)),
			mean(d, d.Values(after, executions, "moves")),
			mean(d, d.Values(after, executions, "swaps")),
		}
	}
}

// refinementTest is the script refinement_test.
var refinementTest = procedure{
	basis:   "the authors' script refinement_test: released generator with p_sup = 0, moves and swaps until none improves, none taken back",
	measure: refinement("gen=released", "far?keep=last"),
}

func table6() figures.Artefact {
	return grid{"table6", "Refinement in 1000 executions: p_ref (%), moves and swaps, A100", workloads, threeSizes, []string{"p_ref", "moves", "swaps"}}.made(
		refinementTest,
		interchanged(refinementTest, "of WIDETIMES", func(w workload) bool { return w.times == "WIDETIMES" }),
		procedure{name: "text", basis: "6.6: the printed generator with p_sup = 0, FAR keeps the best schedule on the way", measure: refinement("", "far")},
		procedure{name: "text, p_sup = 50 %", basis: "the same with the p_sup of the script of Table 5", measure: refinement("psup=50", "far")},
	)
}
