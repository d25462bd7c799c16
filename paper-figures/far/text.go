package far

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/task"
	figures "miglab/paper-figures"
)

// text judges numbers of the text that sum up tables, or count things.
func text(claims *figures.Claims, h datasets.HardwareSet) figures.Artefact {
	sizes := []int{10, 15, 20, 25, 30, 35}
	refined := func(w workload, n int) run.Series { return batch(synthetic(w, n, ""), "far", mig.Sequential) }
	unrefined := func(w workload, n int) run.Series {
		return batch(synthetic(w, n, ""), "far?refine=false", mig.Sequential)
	}
	return figures.Artefact{
		Name: "text", Title: "numbers in the text",
		Needs: func(s figures.Scale) (out []figures.Need) {
			n := s.Replicates(executions)
			for _, w := range wide {
				for _, size := range sizes {
					out = append(out, needRho(refined(w, size), n)...)
				}
			}
			for _, w := range workloads {
				for _, a := range approaches {
					out = append(out, figures.Need{Series: batch(synthetic(w, 15, ""), a.algorithm, mig.Free), N: n})
				}
				for _, size := range []int{10, 15, 20, 30} {
					out = append(out, figures.Need{Series: refined(w, size), N: n}, figures.Need{Series: unrefined(w, size), N: n})
				}
				for _, size := range []int{10, 20} {
					out = append(out, newPairs(s, w, size, "").needs("trivial", "reverse", "moveswap")...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			values := map[string]figures.Measurement{}
			if err := counts(values); err != nil {
				return nil, err
			}
			if err := onHardware(claims, h, values); err != nil {
				return nil, err
			}
			slow, where, err := slowdown()
			if err != nil {
				return nil, err
			}
			values["slowdown with more slices"] = figures.Exactly(slow)

			errors := map[int][]figures.Measurement{} // rho - 1 in percent, by number of tasks
			for _, w := range wide {
				for _, n := range sizes {
					v, err := rho(d, refined(w, n))
					if err != nil {
						return nil, err
					}
					m, err := figures.MeanOf(percent(v), executions)
					if err != nil {
						return nil, err
					}
					errors[n] = append(errors[n], m)
				}
			}
			var from15 []figures.Measurement
			for _, n := range sizes[1:] {
				from15 = append(from15, errors[n]...)
			}
			values["synthetic error, n = 10"] = average(errors[10])
			values["synthetic rho, n >= 15"] = affine(largest(from15), 0.01, 1)
			values["synthetic rho, n = 30 and 35"] = affine(largest(slices.Concat(errors[30], errors[35])), 0.01, 1)
			values["twice the single-batch ratio less one, n >= 15, least"] = affine(least(from15), 2, 100)
			values["twice the single-batch ratio less one, n >= 15, largest"] = affine(largest(from15), 2, 100)

			gains := map[string][]figures.Measurement{} // over an approach, in percent, by workload
			for _, w := range workloads {
				for _, a := range approaches {
					sigma, err := ratios(d, batch(synthetic(w, 15, ""), a.algorithm, mig.Free), makespan, refined(w, 15), makespan)
					if err != nil {
						return nil, err
					}
					m, err := figures.MeanOf(percent(sigma), executions)
					if err != nil {
						return nil, err
					}
					gains[a.name] = append(gains[a.name], m)
				}
			}
			fixed := slices.Concat(gains["FIXPART(1,...,1)"], gains["FIXPART(7)"])
			values["least gain over MISO-OPT"], values["largest gain over MISO-OPT"] = least(gains["MISO-OPT"]), largest(gains["MISO-OPT"])
			values["least gain over no reconfiguration"], values["largest gain over no reconfiguration"] = least(fixed), largest(fixed)
			// workloads are in pairs, narrow and wide, by scaling class: poor, mixed, good.
			values["gain over FIXPART(1,...,1), POORSCALING"] = average(gains["FIXPART(1,...,1)"][:2])
			values["gain over FIXPART(7), GOODSCALING"] = average(gains["FIXPART(7)"][4:])
			const overFAR = " makespan of FIXPART(7) over FAR, POORSCALING and MIXEDSCALING"
			values["least"+overFAR] = affine(least(gains["FIXPART(7)"][:4]), 0.01, 1)
			values["largest"+overFAR] = affine(largest(gains["FIXPART(7)"][:4]), 0.01, 1)

			if err := operations(d, values, refined, unrefined); err != nil {
				return nil, err
			}

			reason := func(claim string) string {
				switch claim {
				case "slowdown with more slices":
					return where
				case "speedup of BFS on 7 slices", "speedup of StreamCluster on 7 slices":
					return "the public times refute that it scales beyond linearly up to 7 slices"
				case "least gain over no reconfiguration", "largest gain over no reconfiguration":
					return "measured over FIXPART(1,...,1) and FIXPART(7) of Table 5, whose printed range is 25 to 239 %"
				}
				return "sums up a table of the paper under its default reading; see there"
			}
			var fs []figures.Finding
			for _, c := range claims.Of("text") {
				m, ok := values[c.Name]
				if !ok {
					fs = append(fs, figures.Missing(c, needsHardware(claims, c.Name)))
					continue
				}
				fs = append(fs, d.Judge(c, m, "", reason(c.Name)))
			}
			return &figures.Output{Findings: fs, Tables: []figures.Table{{File: "text", Table: figures.ComparisonTable("Numbers in the text", fs)}}}, nil
		},
	}
}

// counts measures what follows from the GPU models and the measured kernels.
func counts(values map[string]figures.Measurement) error {
	for claim, gpu := range map[string]string{"A30": "A30", "A100/H100": "A100"} {
		g := mig.MustLookup(gpu)
		inner := 0 // only an instance with others below it can be split
		for _, n := range g.Tree() {
			if len(n.Children) > 0 {
				inner++
			}
		}
		values["partitions of "+claim] = figures.Exactly(float64(len(g.Partitions())))
		values["reconfigurations in a schedule, "+claim] = figures.Exactly(float64(inner))
	}
	g := mig.MustLookup("A100")
	kernels, err := rodiniaOn(g)
	if err != nil {
		return err
	}
	for i := range kernels {
		k := &kernels[i]
		switch k.Name {
		case "BFS", "StreamCluster":
			values["speedup of "+k.Name+" on 7 slices"] = figures.Exactly(float64(k.On(1) / k.On(7)))
		case "Gaussian":
			fastest := mig.Slices(1)
			for _, s := range g.Sizes() {
				if k.On(s) < k.On(fastest) {
					fastest = s
				}
			}
			values["largest speedup of Gaussian is on how many slices"] = figures.Exactly(float64(fastest))
		}
	}
	return nil
}

// operations measures what the text says of the refinement and the concatenation.
func operations(d *figures.Data, values map[string]figures.Measurement, refined, unrefined func(workload, int) run.Series) error {
	var moves, swaps, gains []figures.Measurement
	mean := func(to *[]figures.Measurement, v []float64, err error) error {
		if err != nil {
			return err
		}
		m, err := figures.MeanOf(v, executions)
		*to = append(*to, m)
		return err
	}
	for _, w := range workloads {
		for _, n := range []int{10, 20, 30} {
			v, err := d.Values(refined(w, n), "moves")
			if err := mean(&moves, v, err); err != nil {
				return err
			}
			v, err = d.Values(refined(w, n), "swaps")
			if err := mean(&swaps, v, err); err != nil {
				return err
			}
		}
		r, err := ratios(d, unrefined(w, 20), makespan, refined(w, 20), makespan)
		if err := mean(&gains, percent(r), err); err != nil {
			return err
		}
	}
	values["moves of a refinement on average"], values["swaps of a refinement on average"] = largest(moves), largest(swaps)
	values["gain of the refinement, n = 20, least"], values["gain of the refinement, n = 20, largest"] = least(gains), largest(gains)

	for _, n := range []int{10, 20} {
		var reversing, moving, beyond []figures.Measurement
		for _, w := range workloads {
			p := newPairs(d.Scale, w, n, "")
			a, err := p.gain(d, "reverse")
			if err := mean(&reversing, a, err); err != nil {
				return err
			}
			b, err := p.gain(d, "moveswap")
			if err := mean(&moving, b, err); err != nil {
				return err
			}
			extra := make([]float64, len(a))
			for i := range a {
				extra[i] = b[i] - a[i]
			}
			if err := mean(&beyond, extra, nil); err != nil {
				return err
			}
		}
		values[fmt.Sprintf("gain of moving and swapping between batches, n = %d", n)] = average(moving)
		if n == 10 {
			values["gain of reversing, n = 10, least"], values["gain of reversing, n = 10, largest"] = least(reversing), largest(reversing)
			values["gain of moving and swapping beyond reversing, n = 10, least"] = least(beyond)
		}
	}
	return nil
}

func byValue(a, b figures.Measurement) int { return cmp.Compare(a.Value, b.Value) }

func largest(ms []figures.Measurement) figures.Measurement { return slices.MaxFunc(ms, byValue) }

func least(ms []figures.Measurement) figures.Measurement { return slices.MinFunc(ms, byValue) }

// affine returns scale*m + shift, for a positive scale.
func affine(m figures.Measurement, scale, shift float64) figures.Measurement {
	return figures.Measurement{Value: scale*m.Value + shift, Low: scale*m.Low + shift, High: scale*m.High + shift, SE: scale * m.SE}
}

// average is the mean of independent means.
func average(ms []figures.Measurement) figures.Measurement {
	var out figures.Measurement
	var variance, half float64
	n := float64(len(ms))
	for _, m := range ms {
		out.Value += m.Value / n
		variance += m.SE * m.SE
		half += (m.High - m.Value) * (m.High - m.Value)
	}
	out.SE = math.Sqrt(variance) / n
	out.Low, out.High = out.Value-math.Sqrt(half)/n, out.Value+math.Sqrt(half)/n
	return out
}

// slowdown returns by how many percent a kernel takes longer on a larger instance
// at most, over the measured Rodinia kernels (FAR 2.4, first point of monotony),
// and in words which kernel that is and how many exceed 2 %.
func slowdown() (float64, string, error) {
	var most float64
	var where string
	beyond, kernels := 0, 0
	for _, gpu := range []string{"A100", "A30"} {
		spec, err := datasets.Parse(rodiniaData)
		if err != nil {
			return 0, "", err
		}
		g := mig.MustLookup(gpu)
		in, err := datasets.InstanceOf[task.Batches](spec, g, 0)
		if err != nil {
			return 0, "", err
		}
		kernels += len(in.Tasks)
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
	return most, fmt.Sprintf("the public times refute it: %s, and %d of %d kernels slow down by more than 2 %% somewhere", where, beyond, kernels), nil
}
