package drl

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// optimum compares p_opt as the paper defines it with the gap to the certified bound, which
// limits the distance to the optimum. The paper has no such numbers.
func optimum() figures.Artefact {
	const batches = 200
	treedp := approach{"treedp", fixed("treedp")}
	columns := []approach{
		{"NOMIG", fixed("nomig")},
		{"MISO", fixed("miso")},
		{"FIXPARTBEST", fixed("fixpartbest")},
		far,
		direct,
		ourAgent,
		{"lns", fixed("lns?iterations=300")},
		treedp,
	}
	certified := func(dataset string) run.Series {
		s := batch(dataset, "certified")
		s.Track = algo.TrackBound
		return s
	}
	return figures.Artefact{
		Name: "optimum", Title: "p_opt as published beside the gap to the certified bound",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for w, g := range figures.Each(workloads[1:], generators) {
				data := w.batches(g)
				out = append(out, figures.NeedFirst(s.Replicates(batches), certified(data), lBound(data))...)
				for _, c := range columns {
					out = append(out, figures.NeedFirst(s.Replicates(batches), batch(data, c.algorithm(w)))...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title:   "p_opt [%] / gap to the certified bound [%] on batches of 14 tasks",
				Columns: reports.Left("workload", "generator").Right(columnsOf(columns)...),
				Notes: []string{
					"p_opt: the mean of 100 (makespan / l_bound - 1), where l_bound is no proven bound (DRL 5.2); gap: the same with the certified bound, so that no schedule is more than the gap above the optimum",
					fmt.Sprintf("%d batches of each workload; empty A100, operations one at a time", d.Scale.Replicates(batches)),
				},
			}
			below := reports.Table{
				Title: "treedp below FAR and worst gap [%] on the same batches",
				Columns: reports.Left("workload", "generator").
					Right("below FAR, with the 95 % interval", "gap, mean", "gap, worst", "proven optimal"),
				Notes: []string{"below FAR: the mean of 100 (1 - makespan / FAR's)", t.Notes[1]},
			}
			chart := reports.Bars{
				Title: "How far from the optimum at most, on batches of 14 tasks, generator as in the text", Categories: rowsOf(workloads[1:]),
				X: reports.Axis{Label: "Workload"}, Y: reports.Axis{Label: "above the certified bound [%]"},
			}
			drawn := columns[3:]
			for _, c := range drawn {
				chart.Groups = append(chart.Groups, reports.BarGroup{Name: c.name})
			}
			for w, g := range figures.Each(workloads[1:], generators) {
				data := w.batches(g)
				row := []string{w.name, cmp.Or(g, "paper")}
				for k, c := range columns {
					own := batch(data, c.algorithm(w))
					gap := d.AboveBound(own, certified(data))
					row = append(row, fmt.Sprintf("%.2f / %.3f", figures.Mean(pOpt(d, own)), figures.Mean(gap)))
					if i := k - len(columns) + len(drawn); i >= 0 && g == "" {
						m := d.MeanOf(gap, len(gap))
						chart.Groups[i].Add(m.Value, m.Low, m.High)
					}
				}
				t.Rows = append(t.Rows, row)

				own := batch(data, treedp.algorithm(w))
				gap := d.AboveBound(own, certified(data))
				proven := 0
				for _, x := range gap {
					if x < 1e-7 {
						proven++
					}
				}
				below.Rows = append(below.Rows, []string{
					w.name, cmp.Or(g, "paper"), belowBy(d, own, batch(data, far.algorithm(w))),
					fmt.Sprintf("%.4f", figures.Mean(gap)), fmt.Sprintf("%.4f", max(0, slices.Max(gap))), fmt.Sprintf("%d of %d", proven, len(gap)),
				})
			}
			return figures.Found().Table("optimum", t).Table("optimum-treedp", below).Figure("optimum", chart.Title, chart), nil
		},
	}
}
