package far

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/task"
	figures "miglab/paper-figures"
)

// text judges the numbers of the text, which summarize tables or count things.
func text(claims *figures.Claims, h datasets.HardwareSet) figures.Artefact {
	sizes := table9Sizes
	refined := func(w workload, n int) run.Series { return batch(synthetic(w, n, ""), "far", mig.Sequential) }
	unrefined := func(w workload, n int) run.Series {
		return batch(synthetic(w, n, ""), "far?refine=false", mig.Sequential)
	}
	return figures.Artefact{
		Name: "text", Title: "numbers in the text",
		Needs: func(s figures.Scale) (out []figures.Need) {
			n := s.Replicates(executions)
			for w, size := range figures.Each(wide, sizes) {
				out = append(out, needRho(refined(w, size), n)...)
			}
			for _, w := range workloads {
				for _, a := range approaches {
					out = append(out, figures.NeedFirst(n, batch(synthetic(w, 15, ""), a.algorithm, mig.Free))...)
				}
				for _, size := range []int{10, 15, 20, 30} {
					out = append(out, figures.NeedFirst(n, refined(w, size), unrefined(w, size))...)
				}
				for _, size := range []int{10, 20} {
					out = append(out, newPairs(s, w, size, "").needs("trivial", "reverse", "moveswap")...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			values := figures.Values{}
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

			gaps := map[int][]figures.Measurement{} // rho - 1 in percent, by number of tasks
			for w, n := range figures.Each(wide, sizes) {
				gaps[n] = append(gaps[n], d.MeanOf(figures.Percent(rho(d, refined(w, n))), executions))
			}
			var from15 []figures.Measurement
			for _, n := range sizes[1:] {
				from15 = append(from15, gaps[n]...)
			}
			values["synthetic error, n = 10"] = average(gaps[10])
			values["synthetic rho, n >= 15"] = largest(from15).Affine(0.01, 1)
			values["synthetic rho, n = 30 and 35"] = largest(slices.Concat(gaps[30], gaps[35])).Affine(0.01, 1)
			values["twice the single-batch ratio less one, n >= 15, least"] = least(from15).Affine(2, 100)
			values["twice the single-batch ratio less one, n >= 15, largest"] = largest(from15).Affine(2, 100)

			gains := map[string][]figures.Measurement{} // over an approach, in percent, by workload
			for w, a := range figures.Each(workloads, approaches) {
				sigma := over(d, batch(synthetic(w, 15, ""), a.algorithm, mig.Free), refined(w, 15))
				gains[a.name] = append(gains[a.name], d.MeanOf(figures.Percent(sigma), executions))
			}
			fixed := slices.Concat(gains["FIXPART(1,...,1)"], gains["FIXPART(7)"])
			values["least gain over MISO-OPT"], values["largest gain over MISO-OPT"] = least(gains["MISO-OPT"]), largest(gains["MISO-OPT"])
			values["least gain over no reconfiguration"], values["largest gain over no reconfiguration"] = least(fixed), largest(fixed)
			// workloads are in pairs, narrow and wide, by scaling class: poor, mixed, good.
			values["gain over FIXPART(1,...,1), POORSCALING"] = average(gains["FIXPART(1,...,1)"][:2])
			values["gain over FIXPART(7), GOODSCALING"] = average(gains["FIXPART(7)"][4:])
			const overFAR = " makespan of FIXPART(7) over FAR, POORSCALING and MIXEDSCALING"
			values["least"+overFAR] = least(gains["FIXPART(7)"][:4]).Affine(0.01, 1)
			values["largest"+overFAR] = largest(gains["FIXPART(7)"][:4]).Affine(0.01, 1)

			operations(d, values, refined, unrefined)

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
			return figures.Found(fs...).Table("text", figures.ComparisonTable("Numbers in the text", fs)), nil
		},
	}
}

// counts measures what follows from the GPU models and the measured kernels.
func counts(values figures.Values) error {
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

// operations measures what the text says about the refinement and the concatenation.
func operations(d *figures.Data, values figures.Values, refined, unrefined func(workload, int) run.Series) {
	var moves, swaps, gains []figures.Measurement
	mean := func(of []float64) figures.Measurement { return d.MeanOf(of, executions) }
	for _, w := range workloads {
		for _, n := range []int{10, 20, 30} {
			moves = append(moves, mean(d.Values(refined(w, n), "moves")))
			swaps = append(swaps, mean(d.Values(refined(w, n), "swaps")))
		}
		gains = append(gains, mean(d.Above(unrefined(w, 20), refined(w, 20))))
	}
	values["moves of a refinement on average"], values["swaps of a refinement on average"] = largest(moves), largest(swaps)
	values["gain of the refinement, n = 20, least"], values["gain of the refinement, n = 20, largest"] = least(gains), largest(gains)

	for _, n := range []int{10, 20} {
		var reversing, moving, beyond []figures.Measurement
		for _, w := range workloads {
			p := newPairs(d.Scale, w, n, "")
			a, b := p.gain(d, "reverse"), p.gain(d, "moveswap")
			extra := make([]float64, len(a))
			floats.SubTo(extra, b, a)
			reversing, moving, beyond = append(reversing, mean(a)), append(moving, mean(b)), append(beyond, mean(extra))
		}
		values[fmt.Sprintf("gain of moving and swapping between batches, n = %d", n)] = average(moving)
		if n == 10 {
			values["gain of reversing, n = 10, least"], values["gain of reversing, n = 10, largest"] = least(reversing), largest(reversing)
			values["gain of moving and swapping beyond reversing, n = 10, least"] = least(beyond)
		}
	}
}

func byValue(a, b figures.Measurement) int { return cmp.Compare(a.Value, b.Value) }

func largest(ms []figures.Measurement) figures.Measurement { return slices.MaxFunc(ms, byValue) }

func least(ms []figures.Measurement) figures.Measurement { return slices.MinFunc(ms, byValue) }

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

// slowdown returns the largest slowdown of a measured Rodinia kernel on a larger instance,
// in percent (FAR 2.4, first point of monotony). The text names the kernel and says how
// many kernels exceed 2 %.
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
