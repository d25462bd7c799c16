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
				for _, w := range workloads {
					for _, n := range ns {
						a, b := both(w, n, r.parameters)
						out = append(out, figures.Need{Series: a, N: s.Replicates(executions)}, figures.Need{Series: b, N: s.Replicates(executions)})
					}
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var rs []figures.Reading
			for _, r := range readings {
				values := map[string]figures.Measurement{}
				for _, w := range workloads {
					if r.transposed && w.times != "WIDETIMES" {
						continue
					}
					for _, n := range ns {
						refined, unrefined := both(w, n, r.parameters)
						ratio, err := ratios(d, unrefined, makespan, refined, makespan)
						if err != nil {
							return nil, err
						}
						set := func(quantity string, v []float64, err error) error {
							if err == nil {
								values[claimName(w, n, quantity)], err = figures.MeanOf(v, executions)
							}
							return err
						}
						if !r.transposed {
							if err := set("p_ref", percent(ratio), nil); err != nil {
								return nil, err
							}
						}
						for _, quantity := range []string{"moves", "swaps"} {
							v, err := d.Values(refined, quantity)
							if r.transposed {
								quantity = map[string]string{"moves": "swaps", "swaps": "moves"}[quantity]
							}
							if err := set(quantity, v, err); err != nil {
								return nil, err
							}
						}
					}
				}
				rs = append(rs, figures.Lookup(r.name, values))
			}
			return compared(d, claims, "table6", "Table 6. Refinement: p_ref (%), moves and swaps, A100",
				refinementReason,
				workloads, columns(ns, "p_ref", "moves", "swaps"), rs)
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
