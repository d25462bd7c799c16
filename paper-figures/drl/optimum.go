package drl

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// optimum compares p_opt as the paper defines it with the gap to the certified bound, which
// limits the distance to the optimum. The paper has no such numbers.
func optimum(d *figures.Data) (*figures.Output, error) {
	const count = 200
	treedp := approach{name: "treedp", algorithm: "treedp"}
	drawn := []approach{far, direct, ourAgent, {name: "lns", algorithm: "lns?iterations=300"}, treedp}
	columns := append([]approach{noMIG, miso, bestOnly}, drawn...)
	setting := fmt.Sprintf("%d batches of each workload; empty A100, Sequential; agents of the first training run", d.Scale.Replicates(count))
	t := reports.Table{
		Title:   "p_opt [%] and gap to the certified bound [%] on batches of 14 tasks",
		Columns: reports.Left("workload", "generator", "quantity").Right(columnsOf(columns)...),
		Notes: []string{
			"p_opt: the mean of 100 (makespan / l_bound - 1), where l_bound is no proven bound (DRL 5.2); gap: the same with the certified bound, so that no schedule is more than the gap above the optimum",
			setting,
		},
	}
	below := belowTable("treedp below FAR and its gap [%] on the same batches", []approach{{name: "below FAR"}}, setting)
	below.Columns = below.Columns.Right("gap, mean", "gap, worst", "proven optimal", "of")
	chart := reports.Bars{
		Title: "How far from the optimum at most, on batches of 14 tasks, generator as in the text", Categories: rowsOf(synthetic),
		X: reports.Axis{Label: "Workload"}, Y: reports.Axis{Label: "above the certified bound [%]"},
	}
	for _, a := range drawn {
		chart.Groups = append(chart.Groups, reports.BarGroup{Name: a.name})
	}
	for w, g := range figures.Each(synthetic, generators) {
		data := w.single(g.parameters)
		gap := func(a approach) []float64 {
			return d.AboveBound(batch(data, a.one(w)), bound("A100", data, "certified", mig.Sequential), count)
		}
		p, above := []string{w.name, g.name, "p_opt"}, []string{w.name, g.name, "gap"}
		for _, a := range columns {
			p = append(p, reports.Fixed(figures.Mean(pOpt(d, batch(data, a.one(w)), count)), 2))
			above = append(above, reports.Fixed(figures.Mean(gap(a)), 3))
			if i := slices.Index(drawn, a); i >= 0 && g.parameters == "" {
				m := d.MeanOf(gap(a), "batches", 0)
				chart.Groups[i].Add(m.Value, m.Low, m.High)
			}
		}
		t.Rows = append(t.Rows, p, above)

		gaps, proven := gap(treedp), 0
		for _, x := range gaps {
			if x < 1e-7 {
				proven++
			}
		}
		row := append([]string{w.name, g.name}, figures.PlusMinus(lowerThan(d, batch(data, treedp.algorithm), batch(data, far.algorithm), count), 2)...)
		below.Rows = append(below.Rows, append(row,
			reports.Fixed(figures.Mean(gaps), 4), reports.Fixed(max(0, slices.Max(gaps)), 4), fmt.Sprint(proven), fmt.Sprint(len(gaps))))
	}
	return new(figures.Output).Table("optimum", t).Table("optimum-treedp", below).Figure("optimum", chart.Title, chart), nil
}
