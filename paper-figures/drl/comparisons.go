package drl

import (
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/store"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// triedOurs is the number of batches for the best of 64 tries, which takes 64 times as long.
const triedOurs = 200

// ours compares our agents with FAR and the paper's agents in the setting that they were made for: batches of
// 14 tasks on an empty GPU, one operation at a time. The paper has no such numbers.
func ours(d *figures.Data) (*figures.Output, error) {
	columns := append(slices.Clone(agents), ourAgent, ourLocal, ourBest)
	drawn := columns[len(agents)-1:] // of the paper's agents the last one
	columns = append(columns, onesOnly)
	quality := d.Claims.Head("ours-p_opt", d.Scale.Replicates(replicates), d.Scale.Replicates(triedOurs))
	quality.Columns = quality.Columns.Right(far.name).Right(namesOf(columns)...)
	below := d.Claims.Head("ours")
	below.Columns, below.Notes = below.Columns.PlusMinus(namesOf(columns)...), append(below.Notes, quality.Notes...)
	chart := barsOf("Makespan below FAR's on batches of 14 tasks, generator as in the text", "below FAR [%]", drawn)
	for w, g := range figures.Each(synthetic, generators) {
		data := w.single(g.parameters)
		series := func(a approach) store.Series { return batch(data, a.one(w)) }
		high, low := []float64{figures.Mean(pOpt(d, series(far), replicates))}, []string(nil)
		for _, a := range columns {
			count := replicates
			if a == ourBest {
				count = triedOurs
			}
			m := lowerThan(d, series(a), series(far), count)
			if i := slices.Index(drawn, a); i >= 0 && g.parameters == "" {
				chart.Groups[i].Add(m.Value, m.Low, m.High)
			}
			high, low = append(high, figures.Mean(pOpt(d, series(a), count))), append(low, figures.PlusMinus(m, 2)...)
		}
		quality.Row(w, g.name, reports.Cells(2, high...))
		below.Row(w, g.name, low)
	}
	return new(figures.Output).Table(quality, below).Figure("ours", chart.Title, chart), nil
}

// optimum compares p_opt with the gap to the certified bound, a limit of the distance to the optimum.
func optimum(d *figures.Data) (*figures.Output, error) {
	const count = 200
	treedp := approach{name: "treedp", algorithm: "treedp"}
	drawn := []approach{far, direct, ourAgent, {name: "lns", algorithm: "lns?iterations=300"}, treedp}
	columns := append([]approach{noMIG, miso, bestOnly}, drawn...)
	t := d.Claims.Head("optimum", d.Scale.Replicates(count))
	t.Columns = t.Columns.Right(namesOf(columns)...)
	below := d.Claims.Head("optimum-treedp", d.Scale.Replicates(count))
	chart := barsOf("How far from the optimum at most, on batches of 14 tasks, generator as in the text",
		"above the certified bound [%]", drawn)
	chart.Y.Log, chart.Y.From, chart.Y.To = true, 1e-4, 20
	for w, g := range figures.Each(synthetic, generators) {
		data := w.single(g.parameters)
		gap := func(a approach) []float64 {
			return d.AboveBound(batch(data, a.one(w)), bound("A100", data, "certified", mig.Sequential), count)
		}
		var p, above []float64
		for _, a := range columns {
			p = append(p, figures.Mean(pOpt(d, batch(data, a.one(w)), count)))
			above = append(above, figures.Mean(gap(a)))
			if i := slices.Index(drawn, a); i >= 0 && g.parameters == "" {
				m := d.MeanOf(gap(a), "batches", 0)
				chart.Groups[i].Add(m.Value, max(m.Low, chart.Y.From), m.High) // a logarithm needs more than 0
			}
		}
		t.Row(w, g.name, "p_opt", reports.Cells(2, p...))
		t.Row(w, g.name, "gap", reports.Cells(3, above...))

		gaps := gap(treedp)
		proven := figures.Count(gaps, func(x float64) bool { return x < 1e-7 })
		lower := lowerThan(d, batch(data, treedp.algorithm), batch(data, far.algorithm), count)
		below.Row(w, g.name, figures.PlusMinus(lower, 2),
			reports.Cells(4, figures.Mean(gaps), max(0, slices.Max(gaps))), proven, len(gaps))
	}
	return new(figures.Output).Table(t, below).Figure("optimum", chart.Title, chart), nil
}

const counted = 200

// reconfigures shows whether agents reconfigure (6.5). A batch without a destroy runs on one partition.
func reconfigures(d *figures.Data) (*figures.Output, error) {
	shown := append(slices.Clone(agents), ourAgent)
	calm := d.Claims.Head("reconfigures", d.Scale.Replicates(counted))
	for _, a := range shown {
		calm.Columns = calm.Columns.Right(a.name, a.name+", none [%]")
	}
	for w, g := range figures.Each(synthetic, generators) {
		data := w.single(g.parameters)
		calm.Row(w, g.name, figures.Map(shown, func(a approach) []string {
			v := d.Values(batch(data, a.one(w)), counted, "destroys")
			none := figures.Count(v, func(destroys float64) bool { return destroys == 0 })
			return []string{reports.Fixed(figures.Mean(v), 2), reports.Fixed(100*float64(none)/float64(len(v)), 0)}
		}))
	}
	return new(figures.Output).Table(calm), nil
}

// barsOf is an empty chart by workload, with a group of bars for each approach.
func barsOf(title, label string, approaches []approach) reports.Bars {
	lines := strings.NewReplacer("SCALING", reports.MayBreak+"SCALING"+reports.MayBreak)
	return reports.Bars{
		Title: title, X: reports.Axis{Label: "Workload"}, Y: reports.Axis{Label: label}, Dots: true,
		Categories: figures.Map(namesOf(synthetic), lines.Replace),
		Groups: figures.Map(approaches, func(a approach) reports.BarGroup {
			return reports.BarGroup{Name: a.name}
		}),
	}
}

// lowerThan measures by how many percent makespans of a series are below another's, in the mean over n batches.
func lowerThan(d *figures.Data, a, than store.Series, n int) figures.Measurement {
	below := figures.Map(d.Above(a, than, n), func(v float64) float64 { return -v })
	return d.MeanOf(below, "batches", 0)
}
