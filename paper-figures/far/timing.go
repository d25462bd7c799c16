package far

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// timed are the algorithms and numbers of tasks for which the paper prints a time.
var timed = []struct{ algorithm, sizes string }{
	{"far", "rodinia 15 10-35 100 500 1000"},
	{"miso", "15 1000"},
	{"fixpart", "15 1000"},
	{"fixpart?p=7", "1000"},
	{"fixpartbest", "1000"},
	{"far-concat", "30 1000"},
}

// batches returns the scalings and sizes behind a printed time, by its number of tasks: MIXEDSCALING for a number, and
// all three scalings for the range 10-35. The Rodinia kernels have neither.
func batches(n string) (scalings, sizes []string) {
	switch n {
	case "rodinia":
		return nil, nil
	case "10-35":
		return figures.Map(wide, func(w workload) string { return w.scaling }), figures.Map(allSizes, strconv.Itoa)
	}
	return []string{"MIXEDSCALING"}, []string{n}
}

// micros returns the times of 1000 executions of each workload (6.4.2); of the concatenation,
// the times of pairs of batches. The approaches other than FAR have no reconfiguration time.
func micros(d *figures.Data, algorithm, n string) (out []float64) {
	model := mig.Free
	if algorithm == "far" {
		model = mig.Sequential
	}
	scalings, sizes := batches(n)
	if scalings == nil {
		return d.Micros(batch(rodiniaData, algorithm, model), 1)
	}
	for scaling, size := range figures.Each(scalings, sizes) {
		data := "far/" + scaling + "+WIDETIMES?n=" + size
		series := batch(figures.Dataset(data), algorithm, model)
		if algorithm == "far-concat" {
			series = stream(figures.Dataset(data+"&batches=2"), algorithm)
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
	byRow := map[string]figures.Measurement{}
	for _, x := range timed {
		for n := range strings.FieldsSeq(x.sizes) {
			m, cells, executions := milliseconds(d, x.algorithm, n)
			if executions > 0 {
				byRow[x.algorithm+" "+n] = m
			}
			c := printedTime(d.Claims, x.algorithm, n)
			published := reports.Fixed(c.Published, c.Decimals)
			switch c.Relation {
			case verdict.Between:
				published += "-" + reports.Fixed(c.To, c.Decimals)
			case verdict.AtMost:
				published = "<" + published
			}
			t.Row(x.algorithm, n, published, cells, executions, c.Source)
		}
	}
	affordable(d, byRow)
	growth(d, byRow)
}

// milliseconds returns the mean time, its cells in the table, and of how many executions it is. A single one has no
// interval, and a power cut may have lost timings, which are not results.
func milliseconds(d *figures.Data, algorithm, n string) (m figures.Measurement, cells []string, executions int) {
	all := micros(d, algorithm, n)
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

// printedTime returns the claim about a time.
func printedTime(claims *claim.Set, algorithm, n string) *claim.Claim {
	at := claim.Cell{Row: algorithm, Column: "n=" + n, Quantity: "time"}
	return claims.Find(claim.Key{Artefact: "timing", Cell: at})
}

// splits lists reconfigurations of A100 by their sizes: the whole GPU, which FAR splits first, and two smaller ones.
var splits = [][]mig.Slices{{7, 4, 3}, {4, 2, 2}, {2, 1, 1}}

// affordable compares the times for hundreds of tasks with reconfigurations: the printed ones and this program's. It
// also compares the printed time for 15 tasks with the most that 6.4.2 prints for 10 to 35.
func affordable(d *figures.Data, byRow map[string]figures.Measurement) {
	for by, sizes := range figures.Each([]string{"the paper's times", "times of this program"}, splits) {
		seconds := a100.Profile(sizes[0]).Destroy + a100.Profile(sizes[1]).Create + a100.Profile(sizes[2]).Create
		name := fmt.Sprintf("%s, %d into %d and %d", by, sizes[0], sizes[1], sizes[2])
		for _, n := range []string{"100", "500"} {
			m, ok := byRow["far "+n]
			ms := 10 * math.Round(m.Value/10) // so that it does not differ from run to run
			if by == "the paper's times" {
				ms, ok = printedTime(d.Claims, "far", n).Published, true
			}
			if ok || d.Planning() {
				less := claim.Of("reconfiguration less the time for " + n + " tasks, s")
				d.Under(name)[less] = figures.Exactly(float64(seconds) - ms/1000)
			}
		}
	}
	at := claim.Cell{Row: "far", Column: "n=15", Quantity: "time"}
	d.Readings[0].Values[at] = figures.Exactly(printedTime(d.Claims, "far", "10-35").To)
}

// growth compares how times grow with the number of tasks: the slope between two sizes on logarithmic scales. Its
// interval goes from the low end of one time to the high end of the other.
func growth(d *figures.Data, byRow map[string]figures.Measurement) {
	t := d.Table("timing-growth",
		"How FAR's times grow with the number of tasks: exponents between two sizes, MIXEDSCALING WIDETIMES",
		reports.Left("tasks").Right("n^2 log n", "printed times", "measured times", "measured low", "measured high"),
		"The paper proves that FAR takes at most O(n^2 log n), to which the search of this program need not come "+
			"near: it skips allocations that a bound excludes. Wall times differ from run to run, so that no verdict "+
			"rests on them")
	printed := func(n string) float64 { return printedTime(d.Claims, "far", n).Published }
	slope := func(from, to, tasks float64) string { return reports.Fixed(math.Log(to/from)/math.Log(tasks), 2) }
	for _, sizes := range [][2]string{{"100", "500"}, {"500", "1000"}} {
		a, b := byRow["far "+sizes[0]], byRow["far "+sizes[1]]
		n, _ := strconv.ParseFloat(sizes[0], 64)
		m, _ := strconv.ParseFloat(sizes[1], 64)
		own := make([]string, 3)
		if a.Replicates > 1 && b.Replicates > 1 {
			own = []string{slope(a.Value, b.Value, m/n), slope(a.High, b.Low, m/n), slope(a.Low, b.High, m/n)}
		}
		t.Row(sizes[0]+" to "+sizes[1], slope(n*n*math.Log(n), m*m*math.Log(m), m/n),
			slope(printed(sizes[0]), printed(sizes[1]), m/n), own)
	}
}
