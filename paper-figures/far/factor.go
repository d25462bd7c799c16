package far

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

// factors checks the approximation factors of section 5 on small batches: phase 2
// without reconfiguration time against the proven optimum.
func factors(claims *figures.Claims) figures.Artefact {
	settings := []struct {
		claim, gpu string
		count, n   int
		seed       int // A100 and H100 would have the same batches
	}{
		{"makespan over optimum, one A30", "A30", 1, 5, 1},
		{"makespan over optimum, two A30", "A30", 2, 5, 2},
		{"makespan over optimum, three A30", "A30", 3, 6, 3},
		{"makespan over optimum, A100", "A100", 1, 5, 4},
		{"makespan over optimum, H100", "H100", 1, 5, 5},
	}
	const instances = 200 // a workload
	series := func(gpu string, count, n, seed int, w workload) (phase2, optimum run.Series) {
		data := synthetic(w, n, fmt.Sprintf("seed=%d", seed))
		a := on(gpu, count, batch(data, "far?refine=false", mig.Free))
		b := on(gpu, count, bound(data, "optimum-free"))
		b.Model = mig.Free
		return a, b
	}
	// The competitive ratios hold for chains of batches.
	chains := map[string]string{
		"multi-batch makespan over optimum, A30": "A30", "multi-batch makespan over optimum, A100": "A100",
		"multi-batch makespan over optimum, H100": "H100",
	}
	multi := func(s figures.Scale, gpu string) (out []run.Series) {
		for w, n := range figures.Each(wide, table9Sizes) {
			out = append(out, on(gpu, 1, chainOf(s, w, n)))
		}
		return out
	}
	return figures.Artefact{
		Name: "factor", Title: "approximation factors (5.1, 5.2)",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for c, w := range figures.Each(settings, workloads) {
				phase2, optimum := series(c.gpu, c.count, c.n, c.seed, w)
				out = append(out, figures.NeedFirst(s.Replicates(instances), phase2, optimum)...)
			}
			for _, gpu := range []string{"A30", "A100", "H100"} {
				for _, c := range multi(s, gpu) {
					out = append(out, needRho(c, 1)...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			worst := figures.Values{}
			n := 0
			for _, c := range settings {
				var most float64
				for _, w := range workloads {
					a, b := series(c.gpu, c.count, c.n, c.seed, w)
					r := figures.Ratios(d.Values(a, makespan), d.Values(b, track.MetricBound))
					most = max(most, slices.Max(r))
					n += len(r)
				}
				worst[c.claim] = figures.Exactly(most)
			}
			for claim, gpu := range chains {
				var most float64
				for _, c := range multi(d.Scale, gpu) {
					most = max(most, slices.Max(rho(d, c)))
				}
				worst[claim] = figures.Exactly(most)
			}
			fs := d.Compare(claims.Of("factor"), []figures.Reading{figures.Lookup("", worst)},
				figures.Always("a counter-example to the proof, or a fault of ours"))
			t := figures.ComparisonTable("Approximation factors", fs)
			t.Notes = append(t.Notes,
				fmt.Sprintf("measured: the largest ratio over %d random batches of 5 or 6 tasks, phase 2 without reconfiguration time over the proven optimum", n),
				"multi-batch: the largest makespan over the area bound of chains as in Table 9")
			return figures.Found(fs...).Table("factor", t), nil
		},
	}
}
