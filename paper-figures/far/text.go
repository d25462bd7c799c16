package far

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
)

// text judges the numbers that are in no table. Those that sum up a table follow the table's default reading.
func text(d *figures.Data) {
	values := d.Under("")
	inText(d.Hardware, values)
	aboutModels(values)
	byTable4, byTable6 := table4.procedures[0].measure, table6.procedures[0].measure
	values[claim.Of("synthetic error, n = 10")] = average(measureCells(d, byTable4, 0, wide, 10)).Affine(100, -100)
	values[claim.Of("synthetic rho, n >= 15")] = highestOf(measureCells(d, byTable4, 0, wide, allSizes[1:]...))
	aboutTable5(d, values)
	moves := measureCells(d, byTable6, 1, workloads, threeSizes...)
	values[claim.Of("moves of a refinement on average")] = highestOf(moves)
	swaps := measureCells(d, byTable6, 2, workloads, threeSizes...)
	values[claim.Of("swaps of a refinement on average")] = highestOf(swaps)
	values[claim.Of("gain of the refinement, n = 20")] = lowestOf(measureCells(d, byTable6, 0, workloads, 20))
	aboutTable7(d, values)
	aboutTable9(d, values)
}

// aboutModels measures what follows from the GPU models and the measured kernels.
func aboutModels(values figures.Values) {
	for board, gpu := range map[string]string{"A30": "A30", "A100/H100": "A100"} {
		g := mig.MustLookup(gpu)
		// Only an instance with others below it can be split.
		inner := figures.Count(g.Tree(), func(n mig.Node) bool { return len(n.Children) > 0 })
		values[claim.Of("partitions of "+board)] = figures.Exactly(len(g.Partitions()))
		values[claim.Of("reconfigurations in a schedule, "+board)] = figures.Exactly(inner)
	}
	for _, name := range []string{"BFS", "StreamCluster"} {
		one, seven := kernel(name).On(1), kernel(name).On(7)
		m := figures.Exactly(one / seven)
		m.Detail = fmt.Sprintf("%s takes %.4g s on one slice and %.4g s on 7.", name, one, seven)
		values[claim.Of("speedup of "+name+" on 7 slices")] = m
	}
	gaussian := kernel("Gaussian")
	fastest := slices.MinFunc(a100.Sizes(), func(a, b mig.Slices) int {
		return cmp.Compare(gaussian.On(a), gaussian.On(b))
	})
	values[claim.Of("slices beyond which Gaussian stops scaling")] = figures.Exactly(fastest)
	values[claim.Of("slowdown with more slices")] = slowdown()
}

func aboutTable5(d *figures.Data, values figures.Values) {
	gains := func(over int) []figures.Measurement {
		sigmas := measureCells(d, table5.procedures[0].measure, over, workloads, 15)
		return figures.Map(sigmas, func(m figures.Measurement) figures.Measurement { return m.Affine(100, -100) })
	}
	ones, seven := gains(1), gains(3) // FIXPART(1,...,1) and FIXPART(7)
	values[claim.Of("gain over FIXPART(1,...,1), POORSCALING")] = average(ones[:2])
	values[claim.Of("gain over FIXPART(7), GOODSCALING")] = average(seven[4:])
	outermost(d.Claims, values, "gain over no reconfiguration", slices.Concat(ones, seven))
}

func aboutTable7(d *figures.Data, values figures.Values) {
	for _, n := range []int{10, 20} {
		at := claim.Of(fmt.Sprintf("gain of moving and swapping between batches, n = %d", n))
		values[at] = average(measureCells(d, copies.gains, 1, workloads, n))
	}
	outermost(d.Claims, values, "gain of reversing, n = 10", measureCells(d, copies.gains, 0, workloads, 10))
	values[claim.Of("gain of moves and swaps beyond reversing, n = 10")] = lowestOf(figures.Map(workloads,
		func(w workload) figures.Measurement {
			return mean(d, copies.beyondReversing(d, w, 10))
		}))
}

// aboutTable9 measures by how many percent the multi-batch error is below twice rho less 1, the error that 6.7.2
// expects of batches one after the other.
func aboutTable9(d *figures.Data, values figures.Values) {
	expected := func(sizes ...int) []figures.Measurement {
		return figures.Map(measureCells(d, table4.procedures[0].measure, 0, wide, sizes...),
			func(m figures.Measurement) figures.Measurement { return m.Affine(200, -100) })
	}
	below := func(sizes ...int) (out []figures.Measurement) {
		ours := measureCells(d, table9.procedures[0].measure, 0, wide, sizes...)
		for i, m := range expected(sizes...) {
			out = append(out, less(m, ours[i]).Affine(100/m.Value, 0))
		}
		return out
	}
	many := expected(allSizes[1:]...)
	values[claim.Of("least expected error of many batches, n >= 15")] = lowestOf(many)
	values[claim.Of("largest expected error of many batches, n >= 15")] = highestOf(many)
	outermost(d.Claims, values, belowExpected+", n >= 15", below(allSizes[1:]...))
	values[claim.Of(belowExpected+", n = 10")] = highestOf(below(10))
}

// belowExpected begins the names of two claims of 6.7.2.
const belowExpected = "multi-batch error below the expected"

// measureCells measures a quantity in some cells of a grid.
func measureCells(
	d *figures.Data, of measure, quantity int, rows []workload, sizes ...int,
) (out []figures.Measurement) {
	for w, n := range figures.Each(rows, sizes) {
		out = append(out, of(d, w, n)[quantity])
	}
	return out
}

func byValue(a, b figures.Measurement) int { return cmp.Compare(a.Value, b.Value) }

func highestOf(ms []figures.Measurement) figures.Measurement { return slices.MaxFunc(ms, byValue) }

func lowestOf(ms []figures.Measurement) figures.Measurement { return slices.MinFunc(ms, byValue) }

// outermost sets a claim to the measurement furthest outside its range or, if all lie inside, nearest to an end.
func outermost(claims *claim.Set, values figures.Values, quantity string, ms []figures.Measurement) {
	c := claims.Find(claim.Key{Artefact: "text", Cell: claim.Of(quantity)})
	outside := func(m figures.Measurement) float64 { return max(c.Published-m.Value, m.Value-c.To) }
	m := slices.MaxFunc(ms, func(a, b figures.Measurement) int { return cmp.Compare(outside(a), outside(b)) })
	m.Detail = fmt.Sprintf("The workloads lie between %.1f and %.1f %%; the number shown is that of the workload "+
		"furthest from print.", lowestOf(ms).Value, highestOf(ms).Value)
	values[c.Cell] = m
}

// average returns the mean of independent means of as many replicates.
func average(ms []figures.Measurement) figures.Measurement {
	out := figures.Measurement{Replicates: ms[0].Replicates, Unit: ms[0].Unit}
	n := float64(len(ms))
	var below, above float64
	for _, m := range ms {
		out.Value += m.Value / n
		out.StdErr = portable.Hypot(out.StdErr, m.StdErr/n)
		out.PrintSE = portable.Hypot(out.PrintSE, m.PrintSE/n)
		below, above = portable.Hypot(below, (m.Value-m.Low)/n), portable.Hypot(above, (m.High-m.Value)/n)
	}
	out.Low, out.High = out.Value-below, out.Value+above
	return out
}

// slowdown returns the largest slowdown of a measured Rodinia kernel on a larger instance, in percent (2.4,
// first point of monotony). The detail names it and counts the kernels above 2 %.
func slowdown() figures.Measurement {
	most, beyond, all := figures.Exactly(0), 0, 0
	for _, gpu := range []string{"A100", "A30"} {
		sizes := mig.MustLookup(gpu).Sizes()
		all += len(kernels(gpu))
		beyond += figures.Count(kernels(gpu), func(t task.Task) bool {
			worst := 0.0
			for large, small := range figures.Each(sizes, sizes) {
				if small >= large {
					continue
				}
				up := (float64(t.On(large)/t.On(small)) - 1) * 100
				worst = max(worst, up)
				if up > most.Value {
					most = figures.Exactly(up)
					most.Detail = fmt.Sprintf("%s on %s takes %.1f %% longer on %d slices than on %d", t.Name, gpu, up,
						large, small)
				}
			}
			return worst > 2
		})
	}
	most.Detail += fmt.Sprintf(", and %d of %d kernels slow down by more than 2 %% somewhere.", beyond, all)
	return most
}

// factors checks the approximation factors of section 5: phase 2 without reconfiguration time against the
// proven optimum of small batches, and the competitive ratios on chains of batches.
func factors(d *figures.Data) {
	const instances = 200 // a workload
	worst := d.Under("")
	for i, c := range []struct {
		what, gpu string
		count, n  int
	}{
		{"one A30", "A30", 1, 5},
		{"two A30", "A30", 2, 5},
		{"three A30", "A30", 3, 6},
		{"A100", "A100", 1, 5},
		{"H100", "H100", 1, 5},
	} {
		most := 0.0
		for _, w := range workloads {
			data := synthetic(w, c.n, fmt.Sprintf("seed=%d", i+1)) // A100 and H100 would have the same batches
			phase2 := seriesOn(c.gpu, c.count, batch(data, "far?refine=false", mig.Free))
			optimum := seriesOn(c.gpu, c.count, bound(data, "optimum-free", mig.Free))
			r := figures.Ratios(d.Values(phase2, instances, makespan), d.Values(optimum, instances, track.MetricBound))
			most = max(most, slices.Max(r))
		}
		worst[claim.Of("makespan over optimum, "+c.what)] = figures.Exactly(most)
	}
	for _, gpu := range []string{"A30", "A100", "H100"} {
		most := 0.0
		for w, n := range figures.Each(wide, allSizes) {
			most = max(most, rho(d, seriesOn(gpu, 1, chain(d, w, n)), 1)[0])
		}
		worst[claim.Of("multi-batch makespan over optimum, "+gpu)] = figures.Exactly(most)
	}
}
