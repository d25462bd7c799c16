package far

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
)

// text judges the numbers of the text that are in no table. Those that sum up a table are
// measured under the table's default reading.
func text(h datasets.HardwareSet) figures.Artefact {
	return figures.Artefact{
		Name: "text", Title: "numbers of the text",
		Build: func(d *figures.Data) (*figures.Output, error) {
			values := figures.Values{}
			out := figures.Read(figures.Reading{Basis: "the default reading of the table that the sentence sums up", Values: values})
			out.Missing = map[string]string{}
			if err := counts(values); err != nil {
				return nil, err
			}
			if err := onHardware(d.Claims, h, out, values); err != nil {
				return nil, err
			}
			slow, err := slowdown()
			if err != nil {
				return nil, err
			}
			values["slowdown with more slices"] = slow

			values["synthetic error, n = 10"] = average(each(d, table4Text.measure, wide, 10)[0]).Affine(100, -100)
			values["synthetic rho, n >= 15"] = largest(each(d, table4Text.measure, wide, allSizes[1:]...)[0])
			aboutTable5(d, values)
			refined := each(d, refinementTest.measure, workloads, threeSizes...)
			values["moves of a refinement on average"], values["swaps of a refinement on average"] = largest(refined[1]), largest(refined[2])
			values["gain of the refinement, n = 20"] = least(each(d, refinementTest.measure, workloads, 20)[0])
			aboutTable7(d, values)
			return out, nil
		},
	}
}

// aboutTable5 measures what the text says about sigma.
func aboutTable5(d *figures.Data, values figures.Values) {
	sigma := each(d, march.measure, workloads, 15)
	gains := func(sigmas []figures.Measurement) (out []figures.Measurement) {
		for _, m := range sigmas {
			out = append(out, m.Affine(100, -100))
		}
		return out
	}
	ones, seven := gains(sigma[1]), gains(sigma[3]) // over FIXPART(1,...,1) and FIXPART(7)
	values["gain over FIXPART(1,...,1), POORSCALING"] = average(ones[:2])
	values["gain over FIXPART(7), GOODSCALING"] = average(seven[4:])
	const noReconfiguration = "gain over no reconfiguration"
	values[noReconfiguration] = outermost(d.Claims, noReconfiguration, slices.Concat(ones, seven))
}

// aboutTable7 measures what the text says about joining batches.
func aboutTable7(d *figures.Data, values figures.Values) {
	ten, twenty := each(d, copies.gains, workloads, 10), each(d, copies.gains, workloads, 20)
	values["gain of moving and swapping between batches, n = 10"] = average(ten[1])
	values["gain of moving and swapping between batches, n = 20"] = average(twenty[1])
	const reversing = "gain of reversing, n = 10"
	values[reversing] = outermost(d.Claims, reversing, ten[0])
	var beyond []figures.Measurement
	for _, w := range workloads {
		extra := slices.Clone(copies.gain(d, w, 10, "moveswap"))
		floats.Sub(extra, copies.gain(d, w, 10, "reverse"))
		beyond = append(beyond, mean(d, extra))
	}
	values["gain of moving and swapping beyond reversing, n = 10"] = least(beyond)
}

// each measures some cells of a grid. It returns them by quantity.
func each(d *figures.Data, measure func(*figures.Data, workload, int) []figures.Measurement, rows []workload, sizes ...int) (out [][]figures.Measurement) {
	for w, n := range figures.Each(rows, sizes) {
		for i, m := range measure(d, w, n) {
			if i == len(out) {
				out = append(out, nil)
			}
			out[i] = append(out[i], m)
		}
	}
	return out
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
			values["slices beyond which Gaussian stops scaling"] = figures.Exactly(float64(fastest))
		}
	}
	return nil
}

func byValue(a, b figures.Measurement) int { return cmp.Compare(a.Value, b.Value) }

func largest(ms []figures.Measurement) figures.Measurement { return slices.MaxFunc(ms, byValue) }

func least(ms []figures.Measurement) figures.Measurement { return slices.MinFunc(ms, byValue) }

// outermost returns the measurement that lies furthest outside the range of a claim of the
// text, or nearest to one of its ends if all lie inside.
func outermost(claims *figures.Claims, name string, ms []figures.Measurement) figures.Measurement {
	all := claims.Of("text")
	c := all[slices.IndexFunc(all, func(c figures.Claim) bool { return c.Name == name })]
	outside := func(m figures.Measurement) float64 { return max(c.Published-m.Value, m.Value-c.To) }
	m := slices.MaxFunc(ms, func(a, b figures.Measurement) int { return cmp.Compare(outside(a), outside(b)) })
	m.Detail = fmt.Sprintf("The workloads lie between %.1f and %.1f %%; the number shown is the one furthest out.", least(ms).Value, largest(ms).Value)
	return m
}

// average is the mean of independent means of as many replicates.
func average(ms []figures.Measurement) figures.Measurement {
	out := figures.Measurement{Replicates: ms[0].Replicates, Unit: ms[0].Unit}
	n := float64(len(ms))
	var below, above float64
	for _, m := range ms {
		out.Value += m.Value / n
		out.StdErr = math.Hypot(out.StdErr, m.StdErr/n)
		out.PrintSE = math.Hypot(out.PrintSE, m.PrintSE/n)
		below, above = math.Hypot(below, (m.Value-m.Low)/n), math.Hypot(above, (m.High-m.Value)/n)
	}
	out.Low, out.High = out.Value-below, out.Value+above
	return out
}

// slowdown returns the largest slowdown of a measured Rodinia kernel on a larger instance, in
// percent (2.4, first point of monotony). The detail names the kernel and says how many
// kernels exceed 2 %.
func slowdown() (figures.Measurement, error) {
	most, beyond, kernels := figures.Exactly(0), 0, 0
	for _, gpu := range []string{"A100", "A30"} {
		g := mig.MustLookup(gpu)
		tasks, err := rodiniaOn(g)
		if err != nil {
			return most, err
		}
		kernels += len(tasks)
		for i := range tasks {
			t := &tasks[i]
			worst := 0.0
			for j, large := range g.Sizes() {
				for _, small := range g.Sizes()[:j] {
					up := (float64(t.On(large)/t.On(small)) - 1) * 100
					worst = math.Max(worst, up)
					if up > most.Value {
						most = figures.Exactly(up)
						most.Detail = fmt.Sprintf("%s on %s takes %.1f %% longer on %d slices than on %d", t.Name, gpu, up, large, small)
					}
				}
			}
			if worst > 2 {
				beyond++
			}
		}
	}
	most.Detail += fmt.Sprintf(", and %d of %d kernels slow down by more than 2 %% somewhere.", beyond, kernels)
	return most, nil
}
