package drl

import (
	"fmt"

	"miglab/harness/algo"
	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// optimum sets p_opt as the paper defines it beside how far schedules really are from the
// optimum: at most the gap to the certified bound. The paper has nothing to compare it
// with.
func optimum() figures.Artefact {
	const batches = 200
	columns := []approach{
		{"NOMIG", fixed("nomig")},
		{"MISO", fixed("miso")},
		{"FIXPARTBEST", fixed("fixpartbest")},
		far,
		direct,
		ourAgent,
		{"lns", fixed("lns?iterations=300")},
		{"treedp", fixed("treedp")},
	}
	certified := func(dataset string) run.Series {
		s := batch(dataset, "certified")
		s.Track = algo.TrackBound
		return s
	}
	return figures.Artefact{
		Name: "optimum", Title: "p_opt as published beside the gap to the certified bound",
		Needs: func(s figures.Scale) []figures.Need {
			var all needs
			for _, w := range workloads[1:] {
				for _, g := range generators {
					data := w.batches(g)
					all.add(certified(data), s.Replicates(batches))
					all.add(lBound(data), s.Replicates(batches))
					for _, c := range columns {
						all.add(batch(data, c.algorithm(w)), s.Replicates(batches))
					}
				}
			}
			return all.list
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title:   "p_opt [%] / gap to the certified bound [%] on batches of 14 tasks",
				Columns: []reports.Column{{Name: "workload"}, {Name: "generator"}},
				Notes: []string{
					"p_opt: the mean of 100 (makespan / l_bound - 1), where l_bound is no proven bound (DRL 5.2); gap: the same with the certified bound, so that no schedule is more than the gap above the optimum",
					fmt.Sprintf("%d batches of each workload; empty A100, operations one at a time", d.Scale.Replicates(batches)),
				},
			}
			below := reports.Table{
				Title:   "treedp below FAR and worst gap [%] on the same batches",
				Columns: []reports.Column{{Name: "workload"}, {Name: "generator"}, {Name: "below FAR, with the 95 % interval", Right: true}, {Name: "gap, mean", Right: true}, {Name: "gap, worst", Right: true}, {Name: "proven optimal", Right: true}},
				Notes:   []string{"below FAR: the mean of 100 (1 - makespan / FAR's)", t.Notes[1]},
			}
			chart := reports.Bars{Title: "How far from the optimum at most, on batches of 14 tasks, generator as in the text", X: reports.Axis{Label: "Workload"}, Y: reports.Axis{Label: "above the certified bound [%]"}}
			drawn := columns[3:]
			for _, c := range drawn {
				chart.Groups = append(chart.Groups, reports.BarGroup{Name: c.name})
			}
			for _, c := range columns {
				t.Columns = append(t.Columns, reports.Column{Name: c.name, Right: true})
			}
			for _, w := range workloads[1:] {
				chart.Categories = append(chart.Categories, w.name)
				for _, g := range generators {
					data := w.batches(g)
					row := []string{w.name, cell(g, "paper")}
					for k, c := range columns {
						own := batch(data, c.algorithm(w))
						p, err := pOpt(d, own)
						if err != nil {
							return nil, err
						}
						gap, err := above(d, own, makespan, certified(data), boundS)
						if err != nil {
							return nil, err
						}
						row = append(row, fmt.Sprintf("%.2f / %.3f", mean(p), mean(gap)))
						if i := k - len(columns) + len(drawn); i >= 0 && g == "" {
							m, err := figures.MeanOf(gap, len(gap))
							if err != nil {
								return nil, err
							}
							b := &chart.Groups[i]
							b.Values, b.Low, b.High = append(b.Values, m.Value), append(b.Low, m.Low), append(b.High, m.High)
						}
						if k < len(columns)-1 {
							continue
						}
						text, err := belowBy(d, own, batch(data, far.algorithm(w)))
						if err != nil {
							return nil, err
						}
						worst, proven := 0.0, 0
						for _, x := range gap {
							worst = max(worst, x)
							if x < 1e-7 {
								proven++
							}
						}
						below.Rows = append(below.Rows, []string{
							w.name, cell(g, "paper"), text, fmt.Sprintf("%.4f", mean(gap)), fmt.Sprintf("%.4f", worst), fmt.Sprintf("%d of %d", proven, len(gap)),
						})
					}
					t.Rows = append(t.Rows, row)
				}
			}
			return &figures.Output{
				Tables:  []figures.Table{{File: "optimum", Table: t}, {File: "optimum-treedp", Table: below}},
				Figures: []figures.Figure{{File: "optimum", Title: chart.Title, Figure: chart}},
			}, nil
		},
	}
}
