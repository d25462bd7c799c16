package far

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// micros returns the times of 1000 executions of the workloads behind a printed time (6.4.2); of the concatenation, the
// times of pairs of batches. The approaches other than FAR have no reconfiguration time.
func micros(d *figures.Data, c *claim.Claim) (out []float64) {
	model := mig.Free
	if c.Row == "far" {
		model = mig.Sequential
	}
	rows, sizes := wide[1:2], []string{c.Column}
	switch c.Column {
	case "n=rodinia":
		return d.Micros(batch(rodiniaData, c.Row, model), 1)
	case "n=10-35":
		rows, sizes = wide, figures.Map(allSizes, func(n int) string { return fmt.Sprint("n=", n) })
	}
	for w, size := range figures.Each(rows, sizes) {
		data := "far/" + w.scaling + "+WIDETIMES?" + size
		series := batch(figures.Dataset(data), c.Row, model)
		if c.Row == "far-concat" {
			series = stream(figures.Dataset(data+"&batches=2"), c.Row)
		}
		out = append(out, d.Micros(series, executions)...)
	}
	return out
}

// timing compares scheduling times with the paper's. Wall times differ from run to run: no verdict rests on them.
func timing(d *figures.Data) {
	t := d.Table("timing", "Scheduling times, one core",
		reports.Left("algorithm").Right("n", "published_ms", "measured_ms", "ci_low_ms", "ci_high_ms",
			"executions").Left("source"),
		"published: AMD Ryzen 5 4600H; measured: this machine, while as many cells ran at once as there are workers",
		"far-concat is two batches of n tasks, the two FAR schedules included; the paper's time is for the "+
			"concatenation alone")
	measured := map[claim.Cell]figures.Measurement{}
	for _, c := range d.Claims.Of("timing") {
		m, cells, executions := milliseconds(d, &c)
		if executions > 0 {
			measured[c.Cell] = m
		}
		published := reports.Fixed(c.Published, c.Decimals)
		switch c.Relation {
		case verdict.Between:
			published += "-" + reports.Fixed(c.To, c.Decimals)
		case verdict.AtMost:
			published = "<" + published
		}
		t.Row(c.Row, c.Column[len("n="):], published, cells, executions, c.Source)
	}
	affordable(d, measured)
	growth(d, measured)
}

// milliseconds returns the mean time, its cells in the table, and of how many executions it is. A single one has no
// interval, and a power cut may have lost timings, which are not results.
func milliseconds(d *figures.Data, c *claim.Claim) (m figures.Measurement, cells []string, executions int) {
	all := micros(d, c)
	floats.Scale(1./1000, all)
	m = figures.Exactly(math.NaN())
	if len(all) > 0 {
		m = d.MeanOf(all, verdict.Executions, 0)
	}
	cells = make([]string, 3)
	for i, v := range []float64{m.Value, m.Low, m.High} {
		if !math.IsNaN(v) {
			cells[i] = fmt.Sprintf("%.3g", v)
		}
	}
	return m, cells, len(all)
}

// timeOf returns the cell of FAR's time for a number of tasks.
func timeOf(n any) claim.Cell {
	return claim.Cell{Row: "far", Column: fmt.Sprint("n=", n), Quantity: "time"}
}

// splits lists reconfigurations of A100 by their sizes: the whole GPU, which FAR splits first, and two smaller ones.
var splits = [][]mig.Slices{{7, 4, 3}, {4, 2, 2}, {2, 1, 1}}

// affordable compares the times for hundreds of tasks with reconfigurations: the printed ones and this program's.
func affordable(d *figures.Data, measured map[claim.Cell]figures.Measurement) {
	for by, sizes := range figures.Each([]string{"the paper's times", "times of this program"}, splits) {
		seconds := a100.Profile(sizes[0]).Destroy + a100.Profile(sizes[1]).Create + a100.Profile(sizes[2]).Create
		name := fmt.Sprintf("%s, %d into %d and %d", by, sizes[0], sizes[1], sizes[2])
		for _, n := range []int{100, 500} {
			m, ok := measured[timeOf(n)]
			ms := 10 * math.Round(m.Value/10) // so that it does not differ from run to run
			if by == "the paper's times" {
				ms, ok = d.Claims.Published("timing", timeOf(n)), true
			}
			if ok || d.Planning() {
				less := claim.Of(fmt.Sprintf("reconfiguration less the time for %d tasks, s", n))
				d.Under(name)[less] = figures.Exactly(float64(seconds) - ms/1000)
			}
		}
	}
}

// growth compares how times grow with the number of tasks: the slope between two sizes on logarithmic scales. Its
// interval goes from the low end of one time to the high end of the other.
func growth(d *figures.Data, measured map[claim.Cell]figures.Measurement) {
	t := d.Table("timing-growth",
		"How FAR's times grow with the number of tasks: exponents between two sizes, MIXEDSCALING WIDETIMES",
		reports.Left("tasks").Right("n^2 log n", "printed times", "measured times", "measured low", "measured high"),
		"The paper proves that FAR takes at most O(n^2 log n), to which the search of this program need not come "+
			"near: it skips allocations that a bound excludes. Wall times differ from run to run, so that no verdict "+
			"rests on them")
	slope := func(from, to, tasks float64) string { return reports.Fixed(math.Log(to/from)/math.Log(tasks), 2) }
	for _, sizes := range [][2]float64{{100, 500}, {500, 1000}} {
		n, m := sizes[0], sizes[1]
		a, b := measured[timeOf(n)], measured[timeOf(m)]
		own := make([]string, 3)
		if a.Replicates > 1 && b.Replicates > 1 {
			own = []string{slope(a.Value, b.Value, m/n), slope(a.High, b.Low, m/n), slope(a.Low, b.High, m/n)}
		}
		printed := slope(d.Claims.Published("timing", timeOf(n)), d.Claims.Published("timing", timeOf(m)), m/n)
		t.Row(fmt.Sprintf("%v to %v", n, m), slope(n*n*math.Log(n), m*m*math.Log(m), m/n), printed, own)
	}
}
