package far

import (
	"fmt"
	"math"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
)

// text judges numbers of the text that sum up tables, or count things.
func text(claims *figures.Claims) figures.Artefact {
	largeN := []int{15, 20, 25, 30, 35}
	rhoSeries := func(w workload, n int) string { return synthetic(w, n, "") }
	return figures.Artefact{
		Name: "text", Title: "numbers in the text",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, w := range wide {
				for _, n := range largeN {
					out = append(out, needRho(batch(rhoSeries(w, n), "far", mig.Sequential), s.Replicates(executions))...)
				}
			}
			for _, w := range workloads {
				for _, a := range approaches {
					out = append(out, figures.Need{Series: batch(rhoSeries(w, 15), a.algorithm, mig.Free), N: s.Replicates(executions)})
				}
				if far := batch(rhoSeries(w, 15), "far", mig.Sequential); w.times == "NARROWTIMES" {
					out = append(out, figures.Need{Series: far, N: s.Replicates(executions)})
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			values := map[string]figures.Measurement{}
			for claim, gpu := range map[string]string{"A30": "A30", "A100/H100": "A100"} {
				g := mig.MustLookup(gpu)
				inner := 0
				for _, n := range g.Tree() {
					if len(n.Children) > 0 {
						inner++
					}
				}
				values["partitions of "+claim] = figures.Exactly(float64(len(g.Partitions())))
				values["reconfigurations in a schedule, "+claim] = figures.Exactly(float64(inner))
			}
			slow, where, err := slowdown()
			if err != nil {
				return nil, err
			}
			values["slowdown with more slices"] = figures.Exactly(slow)

			means := map[int][]float64{}
			for _, w := range wide {
				for _, n := range largeN {
					v, err := rho(d, batch(rhoSeries(w, n), "far", mig.Sequential))
					if err != nil {
						return nil, err
					}
					m, err := figures.MeanOf(v, executions)
					if err != nil {
						return nil, err
					}
					means[n] = append(means[n], m.Value)
				}
			}
			most := func(ns ...int) figures.Measurement {
				worst := 0.0
				for _, n := range ns {
					worst = max(worst, slices.Max(means[n]))
				}
				return figures.Exactly(worst)
			}
			values["synthetic rho, n >= 15"] = most(largeN...)
			values["synthetic rho, n = 30 and 35"] = most(30, 35)

			gain := map[string][]float64{} // by approach and workload, in percent
			for _, w := range workloads {
				far := batch(rhoSeries(w, 15), "far", mig.Sequential)
				for _, a := range approaches {
					sigma, err := ratios(d, batch(far.Dataset, a.algorithm, mig.Free), makespan, far, makespan)
					if err != nil {
						return nil, err
					}
					m, err := figures.MeanOf(percent(sigma), executions)
					if err != nil {
						return nil, err
					}
					gain[a.name] = append(gain[a.name], m.Value)
				}
			}
			fixed := slices.Concat(gain["FIXPART(1,...,1)"], gain["FIXPART(7)"])
			values["least gain over MISO-OPT"] = figures.Exactly(slices.Min(gain["MISO-OPT"]))
			values["largest gain over MISO-OPT"] = figures.Exactly(slices.Max(gain["MISO-OPT"]))
			values["least gain over no reconfiguration"] = figures.Exactly(slices.Min(fixed))
			values["largest gain over no reconfiguration"] = figures.Exactly(slices.Max(fixed))
			// workloads are in pairs, narrow and wide, by scaling class.
			average := func(v []float64) figures.Measurement { return figures.Exactly((v[0] + v[1]) / 2) }
			values["gain over FIXPART(1,...,1), POORSCALING"] = average(gain["FIXPART(1,...,1)"][:2])
			values["gain over FIXPART(7), GOODSCALING"] = average(gain["FIXPART(7)"][4:])

			reasons := map[string]string{
				"slowdown with more slices":            where,
				"least gain over MISO-OPT":             "as Table 5, whose p_sup the paper leaves open",
				"largest gain over MISO-OPT":           "as Table 5, whose p_sup the paper leaves open",
				"least gain over no reconfiguration":   "measured over FIXPART(1,...,1) and FIXPART(7) of Table 5; the paper's own Table 5 has 25 % as the least",
				"largest gain over no reconfiguration": "measured over FIXPART(1,...,1) and FIXPART(7) of Table 5; the paper's own Table 5 has 239 % as the largest",
			}
			var fs []figures.Finding
			for _, c := range claims.Of("text") {
				m, ok := values[c.Name]
				if !ok {
					fs = append(fs, figures.Missing(c, needsHardware))
					continue
				}
				fs = append(fs, figures.Judge(c, m, "", reasons[c.Name]))
			}
			return &figures.Output{Findings: fs, Tables: []figures.Table{{File: "text", Table: figures.ComparisonTable("Numbers in the text", fs)}}}, nil
		},
	}
}

// slowdown returns by how many percent a kernel takes longer on a larger instance
// at most, over the measured Rodinia kernels (FAR 2.4, first point of monotony),
// and in words which kernel that is and how many exceed 2 %.
func slowdown() (float64, string, error) {
	var most float64
	var where string
	beyond := 0
	for _, gpu := range []string{"A100", "A30"} {
		spec, err := datasets.Parse(rodiniaData)
		if err != nil {
			return 0, "", err
		}
		g := mig.MustLookup(gpu)
		in, err := spec.Instance(g, 0)
		if err != nil {
			return 0, "", err
		}
		for i := range in.Tasks {
			t := &in.Tasks[i]
			worst := 0.0
			for j, large := range g.Sizes() {
				for _, small := range g.Sizes()[:j] {
					up := (float64(t.On(large)/t.On(small)) - 1) * 100
					worst = math.Max(worst, up)
					if up > most {
						most = up
						where = fmt.Sprintf("%s on %s takes %.1f %% longer on %d slices than on %d", t.Name, gpu, up, large, small)
					}
				}
			}
			if worst > 2 {
				beyond++
			}
		}
	}
	return most, fmt.Sprintf("the public times refute it: %s, and %d of 32 kernels slow down by more than 2 %% somewhere", where, beyond), nil
}
