package far

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/store"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// contradiction shows printed numbers that exclude one another, and printed numbers that no schedule reaches. They are
// evidence of causes.
func contradiction(d *figures.Data) {
	table9Arithmetic(d)
	refinementLimits(d, "", drawnBatches)
	joiningLimits(d, "", drawnBatches)
	refinementLimits(d, "-shares", drawnOfShares)
	joiningLimits(d, "-shares", drawnOfShares)
	textArithmetic(d)
}

// halfOfDifference is a note of two tables.
const halfOfDifference = "±: half of the 95 % interval of the difference from a printed mean of 1000 other " +
	"executions or pairs"

// table9Arithmetic compares Tables 4, 7 and 9 by arithmetic on printed numbers alone.
func table9Arithmetic(d *figures.Data) {
	claims := d.Claims
	t := d.Table("contradiction-table9", "Table 9 against Tables 4 and 7, from printed numbers and formulas alone",
		reports.Left("workload").Right("n", "rho (Table 4)", "p_multi-batch (Table 9) [%]",
			"a pair by the script over its area bound (never below 1)", "gain of a pair by Tables 4 and 9 [%]",
			"p_move/swap (Table 7) [%]", "p_multi-batch by Tables 4 and 7 [%]",
			"p_multi-batch at most by the text [%]"),
		"script: the makespans of 1000 pairs over the area bound of 1001 batches. A pair takes (1 + p/100) * "+
			"1001/1000 area bounds of a batch, and its own area bound is 2 of them. A value below 1 is impossible.",
		"gain: two batches one after the other take 2 rho area bounds, so that the gain is 2 rho / (1 + p/100) - 1. "+
			"The other way round, p_multi-batch would be 2 rho / (1 + gain) - 1.",
		"text: the makespan of one chain of 1001 batches. Batches one after the other take rho area bounds each, so "+
			"that p_multi-batch is at most rho - 1, the last column.")
	for w, n := range figures.Each(wide, allSizes) {
		rho, p := table4.printed(claims, w, n, "rho"), table9.printed(claims, w, n, "p_multi-batch")
		gain, implied := "", ""
		if slices.Contains(threeSizes, n) {
			g := table7.printed(claims, w, n, "p_move/swap")
			gain, implied = reports.Fixed(g, 2), reports.Fixed((2*rho/(1+g/100)-1)*100, 1)
		}
		t.RowAbout(claim.Selection(cell(w, n, "")), "", w, n, reports.Cells(2, rho, p),
			reports.Fixed((1+p/100)*1001/1000/2, 3),
			reports.Fixed((2*rho/(1+p/100)-1)*100, 1), gain, implied, reports.Fixed((rho-1)*100, 0))
	}
}

// A limit bounds a printed mean: it has the largest possible value of the quantity, by execution.
type limit struct {
	name   string
	values []float64
}

// cells returns the mean of a limit and half of the 95 % interval of its difference from a printed mean. The printed
// mean is over other executions, so that the interval has the sampling error of both.
func (l limit) cells(d *figures.Data) []string {
	return reports.Cells(2, figures.Mean(l.values), l.half(d))
}

func (l limit) half(d *figures.Data) float64 {
	const quantile = 1.96
	m := mean(d, l.values)
	return quantile * portable.Hypot(m.StdErr, m.PrintSE)
}

// exceeded names the limits that a printed number of two decimals exceeds by more than its rounding and their
// intervals.
func exceeded(d *figures.Data, printed float64, limits ...limit) (names []string) {
	const rounding = 0.005
	for _, l := range limits {
		if printed-rounding > figures.Mean(l.values)+l.half(d) {
			names = append(names, l.name)
		}
	}
	return names
}

// refinementLimits compares p_ref with the most that any refinement can gain: no schedule ends
// before the area bound, and an execution without a move or swap does not gain.
func refinementLimits(d *figures.Data, file string, batches []drawn) {
	t := d.Table("contradiction-table6"+file, "p_ref of Table 6 and the most that any refinement can gain",
		reports.Left("workload", "batches").Right("n", "p_ref (Table 6) [%]", "moves and swaps (Table 6)").
			PlusMinus("p_ref at most [%]", "p_ref with the work spread evenly at most [%]",
				"p_ref with so many at most [%]").Left("p_ref is beyond").Right("rho (Table 4)",
			"rho unrefined by Tables 4 and 6"),
		"batches: those of refinement_test (script, p_sup = 0), or of the printed generator with p_sup = 0 (text), "+
			"and both with other p_sup; 1000 executions",
		"at most: by how many percent the makespan of FAR unrefined exceeds the area bound (any number), or its own "+
			"work spread evenly over the slices, which no move or swap can beat because no task changes its size",
		"so many: with the moves and swaps of Table 6, as a mean over all executions; a mean over the executions "+
			"with a move or swap alone has no such limit. A move or swap goes between two instances of one size and "+
			"relieves one of them, here of all its work. The slices of the other instances keep theirs. No task "+
			"changes its size, so that no schedule ends before the same work is spread evenly over the slices. The "+
			"moves and swaps go to the executions that gain the most by them",
		halfOfDifference,
		"beyond: print exceeds the limit by more than its last digit and the interval allow",
		"rho unrefined: rho of Table 4 times 1 + p_ref/100")
	for w, n := range figures.Each(workloads, threeSizes) {
		p, operations := table6.printed(d.Claims, w, n, "p_ref"), table6.operations(d.Claims, w, n)
		for _, b := range batches {
			excess, gains := refining(d, synthetic(w, n, b.parameters))
			all := limit{name: "any number", values: excess}
			even := limit{name: "spread evenly", values: figures.Map(gains, slices.Max)}
			many := limit{name: "so many", values: mostGained(gains, operations)}
			printed := []string{"", ""} // rho, and what it implies
			if w.times == "WIDETIMES" {
				r := table4.printed(d.Claims, w, n, "rho")
				printed = reports.Cells(2, r, r*(1+p/100))
			}
			t.RowAbout(claim.Selection(cell(w, n, "")), b.name, w, b.name, n, reports.Cells(2, p, operations),
				all.cells(d), even.cells(d), many.cells(d),
				strings.Join(exceeded(d, p, all, even, many), ", "), printed)
		}
	}
}

// drawn are the batches of the script or of the text, with their parameters. The text prints no p_sup for its tables.
type drawn struct{ name, parameters string }

// drawnOfShares have other shares of memory-bound tasks.
var drawnOfShares = figures.Map(shares(refinerOf), func(v variant[refiner]) drawn {
	return drawn{v.name, v.way.parameters}
})

var drawnBatches = []drawn{
	{"script", "gen=released"}, {"text", ""}, {"text, p_sup = 50 %", "psup=50"},
}

// operations returns the sum of the printed moves and swaps of a cell, plus the most that rounding may hide.
func (g grid) operations(claims *claim.Set, w workload, n int) float64 {
	return g.printed(claims, w, n, "moves") + g.printed(claims, w, n, "swaps") + 0.01
}

// joiningLimits compares Tables 7 and 8 with the largest possible gain from joining two batches.
func joiningLimits(d *figures.Data, file string, batches []drawn) {
	t := d.Table("contradiction-table7"+file,
		"Tables 7 and 8 and the most that can be gained by joining two batches",
		reports.Left("workload", "batches").Right("n", "p_rev (Table 7) [%]").
			PlusMinus("reversing gains at most [%]").Right("p_move/swap (Table 7) [%]").
			PlusMinus("moves and swaps gain at most [%]", "with the work spread evenly they gain at most [%]").
			Right("moves and swaps (Table 8)").PlusMinus("reversing and so many gain at most [%]").
			Left("print is beyond"),
		"reversing: both plans stay as they are, and no slice is ever idle. Then the makespan is the work of the "+
			"fullest slice in both batches; the mean of 1000 pairs",
		"moves and swaps, any number: the makespan is the area bound of both batches; the mean of 1000 pairs",
		"spread evenly: the slices keep the work of both plans together, because no move or swap changes the size of "+
			"a task",
		"so many: reversing and the moves and swaps of Table 8 together; 1000 pairs. A move or swap goes between "+
			"two instances of one size and relieves one of them, here of all its work. The slices of the other "+
			"instances keep theirs. No task changes its size, so that no schedule ends before the same work is "+
			"spread evenly over the slices. The moves and swaps go to the executions that gain the most by them",
		halfOfDifference,
		"beyond: p_rev (reversing) or p_move/swap (any number, spread evenly, so many) exceeds the limit by more "+
			"than its last digit and the interval allow",
		"batches: a batch and its copy as in concat_test (script, p_sup = 0), or two successive ones of the printed "+
			"generator with p_sup = 0 (text), and both with other p_sup")
	for w, n := range figures.Each(workloads, threeSizes) {
		rev, all := table7.printed(d.Claims, w, n, "p_rev"), table7.printed(d.Claims, w, n, "p_move/swap")
		operations := table8.operations(d.Claims, w, n)
		for _, b := range batches {
			kept, moved := largestGains(d, joining{b.parameters, strings.Contains(b.name, "script"), executions}, w, n)
			reversed := limit{name: "reversing", values: mostGained(kept, 0)}
			free := limit{name: "any number", values: moved}
			even := limit{name: "spread evenly", values: figures.Map(kept, slices.Max)}
			many := limit{name: "so many", values: mostGained(kept, operations)}
			beyond := append(exceeded(d, rev, reversed), exceeded(d, all, free, even, many)...)
			t.RowAbout(claim.Selection(cell(w, n, "")), b.name, w, b.name, n, reports.Fixed(rev, 2), reversed.cells(d),
				reports.Fixed(all, 2), free.cells(d), even.cells(d), reports.Fixed(operations, 2), many.cells(d),
				strings.Join(beyond, ", "))
		}
	}
}

// refining returns by how many percent FAR unrefined exceeds the area bound, and the most that 0, 1, 2 ... steps gain.
func refining(d *figures.Data, dataset string) (excess []float64, gains [][]float64) {
	unrefined := batch(dataset, "far?refine=false", mig.Sequential)
	spans, bounds := d.Values(unrefined, executions, makespan), d.Values(area(unrefined), executions, track.MetricBound)
	for i, m := range spans {
		g := workOf(d, unrefined, i).gains(m)
		g[0] = 0 // the schedule stays as it is
		gains = append(gains, g)
	}
	return figures.Percent(figures.Ratios(spans, bounds)), gains
}

// largestGains returns two limits of a joining, by pair, in percent: kept is the most that it can gain with 0, 1, 2 ...
// moves and swaps, and moved is the excess of trivial concatenation over the area bound of both batches.
func largestGains(d *figures.Data, j joining, w workload, n int) (kept [][]float64, moved []float64) {
	trivial := j.makespans(d, w, n, "trivial")
	own, next := batch(synthetic(w, n, j.generator), "far", mig.Sequential), 1
	if j.script {
		own, next = batch(own.Dataset, "far?keep=last", mig.Sequential), 0
	}
	bounds := d.Values(area(own), executions+1, track.MetricBound)
	works := make([]sliceWork, len(trivial)+next)
	for i := range works {
		works[i] = workOf(d, own, i)
	}
	for i, m := range trivial {
		moved = append(moved, (m/(bounds[i]+bounds[min(i+next, len(bounds)-1)])-1)*100)
		kept = append(kept, works[i+next].after(works[i]).gains(m))
	}
	return kept, moved
}

// textArithmetic compares numbers of the text with the tables and times that they sum up.
func textArithmetic(d *figures.Data) {
	least, largest, beyond := math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, w := range workloads {
		for _, a := range []string{"FIXPART(1,...,1)", "FIXPART(7)"} {
			gain := (table5.printed(d.Claims, w, 15, "sigma "+a) - 1) * 100
			least, largest = min(least, gain), max(largest, gain)
		}
		beyond = min(beyond, table7.printed(d.Claims, w, 10, "p_move/swap")-table7.printed(d.Claims, w, 10, "p_rev"))
	}
	under := func(n int) (out []float64) {
		for _, w := range wide {
			expected := (2*table4.printed(d.Claims, w, n, "rho") - 1) * 100
			out = append(out, (1-table9.printed(d.Claims, w, n, "p_multi-batch")/expected)*100)
		}
		return out
	}
	few, many := under(10), slices.Concat(figures.Map(allSizes[1:], under)...)
	whole := batch(rodiniaData, "fixpart?p=7", mig.Free)
	byRho := d.Claims.Published("rodinia", claim.Of("rho FAR")) * d.First(area(whole), track.MetricBound)
	bySigma := d.First(whole, makespan) / d.Claims.Published("rodinia", claim.Of("sigma FIXPART(7)"))
	t := d.Table("contradiction-text", "Numbers of the text against what they sum up",
		reports.Left("claim", "follows from").Right("value"))
	add := func(quantity, label string, v float64, decimals int) {
		t.RowAbout(claim.Selection{Quantity: quantity}, label, quantity, label, reports.Fixed(v, decimals))
	}
	add("gain over no reconfiguration", "the least by Table 5 [%]", least, 0)
	add("gain over no reconfiguration", "the largest by Table 5 [%]", largest, 0)
	add("gain of moves and swaps beyond reversing, n = 10", "the least of p_move/swap less p_rev by Table 7 [%]",
		beyond, 2)
	add(belowExpected+", n >= 15", "the least by Tables 4 and 9 [%]", slices.Min(many), 1)
	add(belowExpected+", n >= 15", "the largest by Tables 4 and 9 [%]", slices.Max(many), 1)
	add(belowExpected+", n = 10", "the largest by Tables 4 and 9 [%]", slices.Max(few), 1)
	add("sigma FIXPART(7)", "makespan of FAR by the printed rho = 1.22 [s]", byRho, 2)
	add("sigma FIXPART(7)", "makespan of FAR by the printed sigma = 1.26 and the published times on 7 slices [s]",
		bySigma, 2)
}

// sliceWork has the work that a schedule puts on the slices of a GPU.
type sliceWork struct {
	// work are the seconds of work of each compute slice.
	work []float64
	// movable are the instances from which tasks can be moved or swapped, each as the set of its slices.
	movable []mig.Mask
}

func workOf(d *figures.Data, s store.Series, instance int) sliceWork {
	p, plan := d.Schedule(s, instance)
	l := sliceWork{work: make([]float64, p.GPU.ComputeSlices)}
	for _, pl := range plan.Placements {
		var slicesOf mig.Mask
		for c := range pl.Instance.Size() {
			l.work[pl.Instance.Start+c] += float64(pl.End - pl.Start)
			slicesOf |= 1 << (pl.Instance.Start + c)
		}
		if len(pl.Instance.Profile.Starts) > 1 && !slices.Contains(l.movable, slicesOf) {
			l.movable = append(l.movable, slicesOf)
		}
	}
	return l
}

// after returns the work of a schedule and another one after it, of which only the second one can be changed.
func (s sliceWork) after(first sliceWork) sliceWork {
	return sliceWork{floats.AddTo(make([]float64, len(s.work)), first.work, s.work), s.movable}
}

// least returns, for 0, 1, 2 ... moves and swaps, seconds before which no schedule ends after so many. Each
// goes between two instances of one size and relieves one of them. The others keep at least their work.
func (s sliceWork) least() []float64 {
	full := func(relieved mig.Mask) float64 {
		most := 0.0
		for c, w := range s.work {
			if relieved>>c&1 == 0 {
				most = max(most, w)
			}
		}
		return most
	}
	relieved := []mig.Mask{0}
	out := []float64{full(0)}
	for range s.movable {
		var next []mig.Mask
		var seen [math.MaxUint8 + 1]bool
		least := math.Inf(1)
		for _, r := range relieved {
			for _, m := range s.movable {
				if both := r | m; !seen[both] {
					seen[both] = true
					next, least = append(next, both), min(least, full(both))
				}
			}
		}
		relieved, out = next, append(out, least)
	}
	return out
}

// gains returns by how many percent seconds exceed what 0, 1, 2 ... operations leave. No task changes its size,
// so the slices keep their total work, and no schedule ends before it is spread evenly.
func (s sliceWork) gains(seconds float64) []float64 {
	out := s.least()
	for k, least := range out {
		out[k] = (seconds/max(least, figures.Mean(s.work)) - 1) * 100
	}
	return out
}

// mostGained returns, by execution, the most that executions can gain with a mean number of operations. gains has,
// for each execution, the gain with 0, 1, 2 ... of them. They go where they bring most; a part of one brings its share.
//
// This is Lagrangian duality: for any price of an operation, the mean gain is at most the mean over the executions of
// the largest gain less its price, plus the price of the mean number of operations. The price here is the gain of the
// operation at which they run out. Only the mean is a limit; the values say how it varies.
func mostGained(gains [][]float64, operations float64) []float64 {
	var each []float64 // what one more operation brings
	for _, g := range gains {
		for k := 0; k < len(g)-1; {
			best, steps := math.Inf(-1), 0
			for j := k + 1; j < len(g); j++ {
				if slope := (g[j] - g[k]) / float64(j-k); slope >= best {
					best, steps = slope, j-k
				}
			}
			each = append(each, slices.Repeat([]float64{best}, steps)...)
			k += steps
		}
	}
	slices.SortFunc(each, func(a, b float64) int { return cmp.Compare(b, a) })
	price := 0.0
	if next := int(operations * float64(len(gains))); next < len(each) {
		price = each[next]
	}
	return figures.Map(gains, func(g []float64) float64 {
		most := g[0]
		for k, gain := range g {
			most = max(most, gain-float64(price*float64(k)))
		}
		return most + float64(price*operations)
	})
}
