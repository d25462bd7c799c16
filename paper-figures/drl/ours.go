package drl

import (
	"fmt"
	"slices"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// triedOurs is the number of batches for the best of 64 tries, which takes 64 times as long.
const triedOurs = 200

// batchesOf is the number of batches of a workload that an approach is run on.
func (a approach) batchesOf() int {
	if a == ourBest {
		return triedOurs
	}
	return replicates
}

// our are the project's agents, which are compared with the paper's.
var our = []approach{ourAgent, ourLocal, ourBest}

// ours compares our agents with FAR and with the paper's agents in the setting that they were
// made for: batches of 14 tasks on an empty GPU, one operation at a time. The paper has no such
// numbers.
func ours(d *figures.Data) (*figures.Output, error) {
	columns := append(slices.Clone(agents), our...)
	drawn := columns[len(agents)-1:] // of the paper's agents the last one
	columns = append(columns, onesOnly)
	notes := []string{
		fmt.Sprintf("%d batches of each workload, best of 64 on the first %d; empty GPU, Sequential; agents of the first training run", d.Scale.Replicates(replicates), d.Scale.Replicates(triedOurs)),
		"agent: one network, trained on the mixture of all workloads and both generators; the others on the workload",
		onesOnly.name + " never reconfigures",
		"the paper's agents learned with operations at the same time and from batches of 14 tasks; ours with one operation at a time, from batches of 14 and, a quarter of them, of 1 to 28",
	}
	quality := reports.Table{
		Title: "p_opt [%] on batches of 14 tasks", Columns: reports.Left("workload", "generator").Right(far.name).Right(columnsOf(columns)...), Notes: notes,
	}
	below := belowTable("Makespan below FAR's [%] on the same batches", columns, notes...)
	chart := reports.Bars{
		Title: "Makespan below FAR's on batches of 14 tasks, generator as in the text", Categories: rowsOf(synthetic),
		X: reports.Axis{Label: "Workload"}, Y: reports.Axis{Label: "below FAR [%]"},
	}
	for _, a := range drawn {
		chart.Groups = append(chart.Groups, reports.BarGroup{Name: a.name})
	}
	for w, g := range figures.Each(synthetic, generators) {
		data := w.single(g.parameters)
		series := func(a approach) run.Series { return batch(data, a.one(w)) }
		high := []string{w.name, g.name, reports.Fixed(figures.Mean(pOpt(d, series(far), replicates)), 2)}
		low := high[:2:2]
		for _, a := range columns {
			p := figures.Mean(pOpt(d, series(a), a.batchesOf()))
			m := lowerThan(d, series(a), series(far), a.batchesOf())
			if i := slices.Index(drawn, a); i >= 0 && g.parameters == "" {
				chart.Groups[i].Add(m.Value, m.Low, m.High)
			}
			high, low = append(high, reports.Fixed(p, 2)), append(low, figures.PlusMinus(m, 2)...)
		}
		quality.Rows, below.Rows = append(quality.Rows, high), append(below.Rows, low)
	}
	return new(figures.Output).
		Table("ours-p_opt", quality).
		Table("ours", below).
		Figure("ours", chart.Title, chart), nil
}
