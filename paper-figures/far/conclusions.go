package far

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// conclusions.csv has the tests. Most of them need the numbers of the tables alone. The rest is measured here.

// less returns the difference of two independent means.
func less(a, b figures.Measurement) figures.Measurement {
	return average([]figures.Measurement{a, b.Affine(-1, 0)}).Affine(2, 0)
}

// largestOf returns the largest of some means. Its interval ends at the largest of their ends, so that it does not
// depend on which of nearly equal means is the largest by chance.
func largestOf(ms []figures.Measurement) figures.Measurement {
	out := highestOf(ms)
	for _, m := range ms {
		out.Low, out.High = max(out.Low, m.Low), max(out.High, m.High)
	}
	return out
}

// bracket returns a number that lies between its value by a schedule that was found and its value by a certified bound,
// whichever is greater. Its value is the latter. The interval holds the intervals of both, however many the executions:
// a limit beyond both ends is met, one before both is missed, and one between them is open.
func bracket(found, proven figures.Measurement) figures.Measurement {
	m := proven
	m.Low, m.High = min(found.Low, proven.Low), max(found.High, proven.High)
	m.Fixed = math.Abs(proven.Value-found.Value) / 1.96
	m.StdErr = portable.Hypot(m.StdErr, m.Fixed)
	return m
}

// bounded is how many executions are compared with the certified bound, which takes a while for 15 tasks, and with
// treedp, which finds schedules of up to searched tasks.
const bounded, searched = 25, 15

// distance sets what conclusions.csv tests of FAR's distance from the optimum on batches with a range of times, and
// returns rho and the makespan over the certified bound and over the makespan of treedp, by scaling.
func (s setting) distance(d *figures.Data, times string, values figures.Values) (rows [3][]string) {
	var rhos, proven [][]figures.Measurement // by number of tasks
	var found, rises []figures.Measurement
	for i, n := range allSizes {
		column := fmt.Sprintf("n = %d", n)
		rhos, proven = append(rhos, nil), append(proven, nil)
		for j, w := range wide {
			series := s.series(workload{w.scaling, times}, n)
			byArea, ends := rho(d, series, executions), d.Values(series, bounded, makespan)
			certified := bound(series.Dataset, "certified", s.model)
			byProof := figures.Ratios(ends, d.Values(certified, bounded, track.MetricBound))
			rhos[i], proven[i] = append(rhos[i], mean(d, byArea)), append(proven[i], mean(d, byProof))
			rows[j] = append(rows[j], figures.PlusMinus(rhos[i][j], 3)...)
			rows[j] = append(rows[j], figures.PlusMinus(proven[i][j], 3)...)
			if i > 0 {
				rises = append(rises, less(rhos[i][j], rhos[i-1][j]))
			}
			if n > searched {
				continue
			}
			byFound := figures.Ratios(ends, d.Values(batch(series.Dataset, "treedp", s.model), bounded, makespan))
			rows[j] = append(rows[j], figures.PlusMinus(mean(d, byFound), 3)...)
			row := workload{w.scaling, times}.String()
			if i == 0 || times == "NARROWTIMES" {
				values[claim.Cell{Row: row, Column: column, Quantity: "rho"}] = rhos[i][j]
			}
			if i > 0 {
				found = append(found, mean(d, byFound))
				continue
			}
			values[claim.Cell{Row: row, Column: column, Quantity: "error less twice the true one"}] = bracket(
				mean(d, lessTwice(byArea, byFound)), mean(d, lessTwice(byArea, byProof)))
		}
		values[claim.Cell{Row: times, Column: column, Quantity: "spread of rho"}] = less(
			highestOf(rhos[i]), lowestOf(rhos[i]))
	}
	for cell, m := range map[claim.Cell]figures.Measurement{
		{Column: "n >= 15", Quantity: "over the optimum"}: bracket(
			largestOf(found), largestOf(slices.Concat(proven[1:]...))),
		{Column: "n >= 30", Quantity: "rho"}: largestOf(slices.Concat(rhos[4:]...)),
		{Quantity: "largest rise of rho"}:    largestOf(rises),
	} {
		cell.Row = times
		values[cell] = m
	}
	return rows
}

// lessTwice returns, by instance, by how many percent one ratio exceeds 1 less twice as much of another one, which may
// be of fewer instances.
func lessTwice(ratios, others []float64) []float64 {
	over := figures.Percent(ratios[:len(others)])
	portable.AddScaled(over, -2, figures.Percent(others))
	return over
}

// distances compares FAR with two bounds and with the schedules of treedp, for NARROWTIMES as well, of which the paper
// has no table.
func distances(d *figures.Data) {
	t := d.Table("error",
		"Means of rho (1000 executions) and of the makespan over the certified bound and over that of treedp (25 "+
			"executions), A100",
		reports.Left("workload").PlusMinus("rho, n=10", "proven, n=10", "found, n=10", "rho, n=15",
			"proven, n=15", "found, n=15", "rho, n=20", "proven, n=20", "rho, n=25", "proven, n=25", "rho, n=30",
			"proven, n=30", "rho, n=35", "proven, n=35"),
		"rho: the makespan over the area bound, which few tasks cannot reach. proven: the makespan over the "+
			"certified bound, before which no schedule that the referee accepts ends; the ratio to the optimum is no "+
			"larger. found: the makespan over that of a schedule that treedp found; the ratio to the optimum is no "+
			"smaller. Between the two a limit on the ratio to the optimum is open",
		"± is half of the 95 % interval",
		"Table 4 has WIDETIMES alone; of NARROWTIMES the text says that its results are similar")
	for s, values := range figures.Under(d, settings) {
		for _, times := range []string{"WIDETIMES", "NARROWTIMES"} {
			for j, cells := range s.distance(d, times, values) {
				if s.name == "" {
					t.Row(workload{wide[j].scaling, times}, cells)
				}
			}
		}
	}
}

var rodiniaSlower = claim.At("Rodinia", "with reconfiguration time")

// reconfiguration compares FAR with itself where reconfigurations take no time.
func reconfiguration(d *figures.Data) {
	t := d.Table("reconfiguration",
		"By how many percent FAR's makespan with reconfiguration time exceeds the one without, A100",
		reports.Left("workload").PlusMinus("n = 10", "n = 20", "n = 30"),
		"FAR plans each batch again where reconfigurations take no time")
	for _, s := range settings {
		if s.model == mig.Free {
			continue
		}
		slower := func(data string, n int) []float64 {
			return d.Above(batch(data, s.far, s.model), batch(data, s.far, mig.Free), n)
		}
		values := d.Under(s.name)
		values[rodiniaSlower] = figures.Exactly(slower(rodiniaData, 1)[0])
		for _, w := range workloads {
			row := []any{w}
			for _, n := range threeSizes {
				m := mean(d, slower(synthetic(w, n, s.parameters), executions))
				values[cell(w, n, "with reconfiguration time")] = m
				row = append(row, figures.PlusMinus(m, 2))
			}
			if s.name == "" {
				t.Row(row...)
			}
		}
	}
	rodinia := d.Readings[0].Values[rodiniaSlower].Value
	t.Notes = append(t.Notes, fmt.Sprintf("The 16 Rodinia kernels, which take seconds, are %s %% longer with it",
		reports.Fixed(rodinia, 1)))
}

// otherGPUs makes Table 5 on A30 and H100. The seed differs from Table 5's, because H100 would otherwise have the
// batches of A100.
func otherGPUs(d *figures.Data) {
	t := d.Table("gpus", "sigma on A30 and H100, the mean of 1000 executions",
		reports.Left("GPU", "workload").PlusMinus("MISO-OPT", "FIXPART(1,...,1)", "FIXPARTBEST",
			"FIXPART on the whole GPU"),
		"The paper names no shares of tasks for each size of A30: POORSCALING has its two smallest sizes, "+
			"GOODSCALING its two largest, and MIXEDSCALING all of them")
	for c, values := range figures.Under(d, comparisons) {
		count := further
		if c.name == "" {
			count = executions
		}
		for gpu, w := range figures.Each([]string{"A30", "H100"}, workloads) {
			as := slices.Clone(approaches)
			if gpu == "A30" {
				as[3] = approach{"FIXPART(4)", "fixpart?p=4"}
			}
			row := []any{gpu, w}
			for i, m := range c.sigmas(d, gpu, synthetic(w, 15, c.parameters, "seed=2"), as, count) {
				at := cell(w, 15, "sigma "+as[i].name)
				at.Row = gpu + " " + at.Row
				values[at] = m
				row = append(row, figures.PlusMinus(m, 2))
			}
			if c.name == "" {
				t.Row(row...)
			}
		}
	}
}

// wider returns by how much sigma of MISO-OPT is higher with WIDETIMES.
func (c comparison) wider(d *figures.Data) figures.Values {
	values := figures.Values{}
	for _, w := range wide {
		narrow := c.sigma(d, workload{w.scaling, "NARROWTIMES"}, 15)[0]
		values[claim.At(w.scaling, "sigma MISO-OPT, WIDETIMES less NARROWTIMES")] = less(c.sigma(d, w, 15)[0], narrow)
	}
	return values
}

// moreMoves returns by how much the moves of a refinement outnumber its swaps.
func (r refiner) moreMoves(d *figures.Data) figures.Values {
	values := figures.Values{}
	for w, n := range figures.Each(workloads, threeSizes[1:]) {
		_, moves, swaps := r.values(d, w, n)
		values[cell(w, n, "moves less swaps")] = mean(d, figures.Differences(moves, swaps))
	}
	return values
}

// beyondReversing returns, by pair, what moves and swaps add to the gain of reversing, in percent.
func (j joining) beyondReversing(d *figures.Data, w workload, n int) []float64 {
	return figures.Differences(j.gain(d, w, n, "moveswap"), j.gain(d, w, n, "reverse"))
}

// measures compares the gains of joining with one another.
func (j joining) measures(d *figures.Data) figures.Values {
	values := figures.Values{}
	for _, w := range workloads {
		gains := figures.Map(threeSizes, func(n int) figures.Measurement {
			return mean(d, j.gain(d, w, n, "moveswap"))
		})
		values[claim.At(w.String(), "p_move/swap of n=10 less that of n=20")] = less(gains[0], gains[1])
		values[claim.At(w.String(), "p_move/swap of n=20 less that of n=30")] = less(gains[1], gains[2])
		extra := j.beyondReversing(d, w, 10)
		values[cell(w, 10, "gain beyond reversing")] = mean(d, extra)
		more := figures.Differences(extra, j.gain(d, w, 10, "reverse"))
		values[cell(w, 10, "gain beyond reversing less p_rev")] = mean(d, more)
	}
	return values
}

// losses returns by how many percent batches that are joined exceed their area bound, which follows from Table 9, how
// much more that is for 10 tasks than for 35, and by how much the table's numbers are higher for NARROWTIMES, which it
// leaves out.
func losses(of measure, scale, shift float64) func(*figures.Data) figures.Values {
	return func(d *figures.Data) figures.Values {
		values := figures.Values{}
		for w, n := range figures.Each(wide, allSizes) {
			broad := of(d, w, n)[0]
			values[cell(w, n, "loss")] = broad.Affine(scale, shift)
			narrow := of(d, workload{w.scaling, "NARROWTIMES"}, n)[0]
			values[cell(w, n, narrowLess)] = less(narrow, broad)
			if n == 35 { // the last one
				fewest, most := values[cell(w, 10, "loss")], values[cell(w, n, "loss")]
				values[cell(w, 10, "loss less that of n=35")] = less(fewest, most)
			}
		}
		return values
	}
}
