package drl

import (
	"cmp"
	"fmt"
	"math"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// ours compares our agent with FAR and with the paper's agents in the setting that it was
// made for: batches of 14 tasks on an empty GPU, one operation at a time. The paper has no
// such numbers.
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
	// Our agents are the last columns. Of the paper's agents the bars show only the last.
	const ownColumns = 3
	firstDrawn := len(columns) - ownColumns - 1
	return figures.Artefact{
		Name: "ours", Title: "our agent beside FAR and the paper's agents",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for w, g := range figures.Each(workloads[1:], generators) {
				data := w.batches(g)
				out = append(out, figures.NeedFirst(s.Replicates(replicates),
					batch(data, far.algorithm(w)), lBound(data), batch(data, onesOnly.algorithm(w)))...)
				for _, c := range columns {
					out = append(out, figures.NeedFirst(s.Replicates(c.batches), batch(data, c.algorithm(w)))...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			quality := reports.Table{
				Title:   "p_opt [%] on batches of 14 tasks",
				Columns: reports.Left("workload", "generator").Right("FAR"),
				Notes: []string{
					fmt.Sprintf("%d batches of each workload, best of 64 on the first %d; empty GPU, operations one at a time", d.Scale.Replicates(replicates), d.Scale.Replicates(tried)),
					"agent: one network, trained on the mixture of all workloads and both generators; the others on the workload",
					trainedOtherwise + "; ours learned with operations one at a time, from batches of 14 tasks and, a quarter of them, of 1 to 28",
				},
			}
			below := reports.Table{
				Title:   "Makespan below FAR's [%] on the same batches, with the 95 % interval",
				Columns: reports.Left("workload", "generator"),
				Notes:   append([]string{"the mean of 100 (1 - makespan / FAR's)"}, quality.Notes...),
			}
			paired := reports.Table{
				Title:   "Makespan of ours below that of the best of the paper's agents and of a fixed partition [%] on the same batches, with the 95 % interval",
				Columns: reports.Left("workload", "generator", "best of the paper's agents"),
				Notes:   append([]string{"the mean of 100 (1 - makespan / the other's); the best of the paper's agents is the one with the least mean p_opt of the table"}, quality.Notes...),
			}
			for _, c := range columns[len(columns)-ownColumns:] {
				for _, than := range []string{"it", onesOnly.name} {
					paired.Columns = paired.Columns.Right(c.name + " below " + than)
				}
			}
			chart := reports.Bars{
				Title: "Makespan below FAR's on batches of 14 tasks, generator as in the text", Categories: rowsOf(workloads[1:]),
				X: reports.Axis{Label: "Workload"}, Y: reports.Axis{Label: "below FAR [%]"},
			}
			for _, c := range columns[firstDrawn:] {
				chart.Groups = append(chart.Groups, reports.BarGroup{Name: c.name})
			}
			for _, c := range columns {
				quality.Columns = quality.Columns.Right(c.name)
				below.Columns = below.Columns.Right(c.name)
			}
			for w, g := range figures.Each(workloads[1:], generators) {
				data := w.batches(g)
				series := func(a approach) run.Series { return batch(data, a.algorithm(w)) }
				best, least := approach{}, math.Inf(1)
				high := []string{w.name, cmp.Or(g, "paper"), fmt.Sprintf("%.2f", figures.Mean(pOpt(d, series(far))))}
				low := high[:2:2]
				for k, c := range columns {
					p := figures.Mean(pOpt(d, series(c.approach)))
					m := lower(d, series(c.approach), series(far))
					if k < len(columns)-ownColumns && p < least {
						best, least = c.approach, p
					}
					if k >= firstDrawn && g == "" {
						chart.Groups[k-firstDrawn].Add(m.Value, m.Low, m.High)
					}
					high = append(high, fmt.Sprintf("%.2f", p))
					low = append(low, m.PlusMinus(2))
				}
				pairs := append(low[:2:2], best.name)
				for c, than := range figures.Each(columns[len(columns)-ownColumns:], []approach{best, onesOnly}) {
					pairs = append(pairs, belowBy(d, series(c.approach), series(than)))
				}
				quality.Rows, below.Rows, paired.Rows = append(quality.Rows, high), append(below.Rows, low), append(paired.Rows, pairs)
			}
			return figures.Found().
				Table("ours-p_opt", quality).
				Table("ours", below).
				Table("ours-paired", paired).
				Figure("ours", chart.Title, chart), nil
		},
	}
}
