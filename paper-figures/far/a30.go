package far

import (
	"miglab/harness/mig"
	"miglab/harness/run"
	figures "miglab/paper-figures"
)

func a30(claims *figures.Claims) figures.Artefact {
	readings := []struct{ name, class, parameters string }{
		{"", "MIXEDSCALING", ""},
		{"POORSCALING", "POORSCALING", ""},
		{"GOODSCALING", "GOODSCALING", ""},
		{"MIXEDSCALING, p_sup = 50 %", "MIXEDSCALING", "psup=50"},
	}
	series := func(class, parameters string) run.Series {
		return on("A30", 1, batch(synthetic(workload{class, "WIDETIMES"}, 10, parameters), "far", mig.Sequential))
	}
	return figures.Artefact{
		Name: "a30", Title: "rho on A30 (6.4.2)",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, r := range readings {
				out = append(out, needRho(series(r.class, r.parameters), s.Replicates(executions))...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var rs []figures.Reading
			for _, r := range readings {
				m := d.MeanOf(rho(d, series(r.class, r.parameters)), executions)
				rs = append(rs, figures.Lookup(r.name, figures.Values{"rho n=10": m}))
			}
			fs := d.Compare(claims.Of("a30"), rs,
				figures.Always("the paper does not say with which percentages of tasks per size it ran A30; each reading here is one guess"))
			return figures.Found(fs...).Table("a30", figures.ComparisonTable("FAR on A30, WIDETIMES", fs)), nil
		},
	}
}
