package far

import (
	"strings"

	"miglab/harness/mig"
	"miglab/harness/run"
	figures "miglab/paper-figures"
)

func table6(claims *figures.Claims) figures.Artefact {
	ns := []int{10, 20, 30}
	readings := []struct {
		name, parameters string
		transposed       bool
	}{
		{"", "", false},
		{"moves and swaps of WIDETIMES transposed", "", true},
		{"p_sup = 50 %", "psup=50", false},
		{"p_sup = 50 %, moves and swaps of WIDETIMES transposed", "psup=50", true},
	}
	both := func(w workload, n int, parameters string) (refined, unrefined run.Series) {
		data := synthetic(w, n, parameters)
		return batch(data, "far", mig.Sequential), batch(data, "far?refine=false", mig.Sequential)
	}
	return figures.Artefact{
		Name: "table6", Title: "contribution of the refinement in 1000 executions on A100",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, r := range readings {
				for w, n := range figures.Each(workloads, ns) {
					refined, unrefined := both(w, n, r.parameters)
					out = append(out, figures.NeedFirst(s.Replicates(executions), refined, unrefined)...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var rs []figures.Reading
			for _, r := range readings {
				values := figures.Values{}
				moves, swaps := "moves", "swaps"
				if r.transposed {
					moves, swaps = swaps, moves
				}
				for w, n := range figures.Each(workloads, ns) {
					refined, unrefined := both(w, n, r.parameters)
					if r.transposed && w.times != "WIDETIMES" {
						continue
					}
					if !r.transposed {
						values[claimName(w, n, "p_ref")] = d.MeanOf(d.Above(unrefined, refined), executions)
					}
					values[claimName(w, n, moves)] = d.MeanOf(d.Values(refined, "moves"), executions)
					values[claimName(w, n, swaps)] = d.MeanOf(d.Values(refined, "swaps"), executions)
				}
				rs = append(rs, figures.Lookup(r.name, values))
			}
			return compared(d, claims, "table6", "Table 6. Refinement: p_ref (%), moves and swaps, A100",
				refinementReason,
				workloads, columns(ns, "p_ref", "moves", "swaps"), rs), nil
		},
	}
}

// refinementReason says why a number of Table 6 deviates.
func refinementReason(claim string) string {
	switch {
	case strings.HasSuffix(claim, "p_ref"):
		return "refined and unrefined makespans are less far apart here than in print; the paper does not say with which p_sup and generator the table was made"
	case strings.Contains(claim, "WIDETIMES"):
		return "the printed columns of moves and swaps come out as if transposed in the rows of WIDETIMES"
	}
	return "the number of operations depends on ties and on when the search ends, which the paper leaves open"
}
