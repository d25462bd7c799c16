package drl

import (
	"fmt"
	"math"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// ours compares our agent with FAR and with the paper's agents where it is meant to
// be: batches of 14 tasks on an empty GPU, operations one at a time. The paper has
// nothing to compare it with.
func ours() figures.Artefact {
	// Best-of-64 takes 64 times as long, so it is run on fewer batches.
	const tried = 200
	columns := []struct {
		approach
		batches int
	}{
		{approaches[4], replicates},
		{approaches[5], replicates},
		{approaches[6], replicates},
		{direct, replicates},
		{ourAgent, replicates},
		{ourLocal, replicates},
		{ourBest, tried},
	}
	// Ours are the last columns. The bars leave out the paper's agents but the last.
	const ownColumns = 3
	firstDrawn := len(columns) - ownColumns - 1
	return figures.Artefact{
		Name: "ours", Title: "our agent beside FAR and the paper's agents",
		Needs: func(s figures.Scale) []figures.Need {
			var all needs
			for _, w := range workloads[1:] {
				for _, g := range generators {
					data := w.batches(g)
					all.add(batch(data, far.algorithm(w)), s.Replicates(replicates))
					all.add(lBound(data), s.Replicates(replicates))
					all.add(batch(data, onesOnly.algorithm(w)), s.Replicates(replicates))
					for _, c := range columns {
						all.add(batch(data, c.algorithm(w)), s.Replicates(c.batches))
					}
				}
			}
			return all.list
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			quality := reports.Table{
				Title:   "p_opt [%] on batches of 14 tasks",
				Columns: []reports.Column{{Name: "workload"}, {Name: "generator"}, {Name: "FAR", Right: true}},
				Notes: []string{
					fmt.Sprintf("%d batches of each workload, best of 64 on the first %d; empty GPU, operations one at a time", d.Scale.Replicates(replicates), d.Scale.Replicates(tried)),
					"agent: one network, trained on the mixture of all workloads and both generators; the others on the workload",
					trainedOtherwise + "; ours learned with operations one at a time, from batches of 14 tasks and, a quarter of them, of 1 to 28",
				},
			}
			below := reports.Table{
				Title:   "Makespan below FAR's [%] on the same batches, with the 95 % interval",
				Columns: []reports.Column{{Name: "workload"}, {Name: "generator"}},
				Notes:   append([]string{"the mean of 100 (1 - makespan / FAR's)"}, quality.Notes...),
			}
			paired := reports.Table{
				Title:   "Makespan of ours below that of the best of the paper's agents and of a fixed partition [%] on the same batches, with the 95 % interval",
				Columns: []reports.Column{{Name: "workload"}, {Name: "generator"}, {Name: "best of the paper's agents"}},
				Notes:   append([]string{"the mean of 100 (1 - makespan / the other's); the best of the paper's agents is the one with the least mean p_opt of the table"}, quality.Notes...),
			}
			for _, c := range columns[len(columns)-ownColumns:] {
				for _, than := range []string{"it", onesOnly.name} {
					paired.Columns = append(paired.Columns, reports.Column{Name: c.name + " below " + than, Right: true})
				}
			}
			chart := reports.Bars{Title: "Makespan below FAR's on batches of 14 tasks, generator as in the text", X: reports.Axis{Label: "Workload"}, Y: reports.Axis{Label: "below FAR [%]"}}
			for _, c := range columns[firstDrawn:] {
				chart.Groups = append(chart.Groups, reports.BarGroup{Name: c.name})
			}
			for _, c := range columns {
				quality.Columns = append(quality.Columns, reports.Column{Name: c.name, Right: true})
				below.Columns = append(below.Columns, reports.Column{Name: c.name, Right: true})
			}
			for _, w := range workloads[1:] {
				chart.Categories = append(chart.Categories, w.name)
				for _, g := range generators {
					data := w.batches(g)
					p, err := pOpt(d, batch(data, far.algorithm(w)))
					if err != nil {
						return nil, err
					}
					best, least := approach{}, math.Inf(1)
					high := []string{w.name, cell(g, "paper"), fmt.Sprintf("%.2f", mean(p))}
					low := high[:2:2]
					for k, c := range columns {
						if p, err = pOpt(d, batch(data, c.algorithm(w))); err != nil {
							return nil, err
						}
						m, err := lower(d, batch(data, c.algorithm(w)), batch(data, far.algorithm(w)))
						if err != nil {
							return nil, err
						}
						if k < len(columns)-ownColumns && mean(p) < least {
							best, least = c.approach, mean(p)
						}
						if k >= firstDrawn && g == "" {
							b := &chart.Groups[k-firstDrawn]
							b.Values, b.Low, b.High = append(b.Values, m.Value), append(b.Low, m.Low), append(b.High, m.High)
						}
						high = append(high, fmt.Sprintf("%.2f", mean(p)))
						low = append(low, fmt.Sprintf("%.2f ± %.2f", m.Value, m.High-m.Value))
					}
					pairs := append(low[:2:2], best.name)
					for _, c := range columns[len(columns)-ownColumns:] {
						for _, than := range []approach{best, onesOnly} {
							text, err := belowBy(d, batch(data, c.algorithm(w)), batch(data, than.algorithm(w)))
							if err != nil {
								return nil, err
							}
							pairs = append(pairs, text)
						}
					}
					quality.Rows, below.Rows, paired.Rows = append(quality.Rows, high), append(below.Rows, low), append(paired.Rows, pairs)
				}
			}
			return &figures.Output{
				Tables:  []figures.Table{{File: "ours-p_opt", Table: quality}, {File: "ours", Table: below}, {File: "ours-paired", Table: paired}},
				Figures: []figures.Figure{{File: "ours", Title: chart.Title, Figure: chart}},
			}, nil
		},
	}
}
