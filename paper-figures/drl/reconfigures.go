package drl

import (
	"fmt"
	"slices"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// destroys is the counter of the instances that an agent's schedule destroys.
const destroys = "destroys"

// counted is the number of batches of each workload.
const counted = 200

// reconfigures shows whether agents reconfigure (6.5). A batch without a destroy runs on one
// partition.
func reconfigures(d *figures.Data) (*figures.Output, error) {
	shown := append(slices.Clone(agents), ourAgent)
	calm := reports.Table{
		Title:   "Instances destroyed in a batch of 14 tasks, and batches without any [%]",
		Columns: reports.Left("workload", "generator"),
		Notes: []string{
			fmt.Sprintf("%d batches of each workload; empty GPU, Sequential; agents of the first training run; agent: ours", d.Scale.Replicates(counted)),
			"a batch in which nothing is destroyed is run on one partition; destroying what is left in the end does not count",
			"the paper finds that ONE-HOT and FLOAT hardly reconfigure (6.5), with p_opt of 70 to 90 % where it matters; what one partition reaches is in the artefact floors",
		},
	}
	for _, a := range shown {
		calm.Columns = calm.Columns.Right(a.name, a.name+", none [%]")
	}
	for w, g := range figures.Each(synthetic, generators) {
		data := w.single(g.parameters)
		row := []string{w.name, g.name}
		for _, a := range shown {
			v := d.Values(batch(data, a.one(w)), counted, destroys)
			row = append(row, reports.Fixed(figures.Mean(v), 2), reports.Fixed(100*without(v), 0))
		}
		calm.Rows = append(calm.Rows, row)
	}
	return new(figures.Output).Table("reconfigures", calm), nil
}

// belowTable is an empty table of makespans below others, with a column for each approach.
func belowTable(title string, approaches []approach, notes ...string) reports.Table {
	return reports.Table{
		Title: title, Columns: reports.Left("workload", "generator").PlusMinus(columnsOf(approaches)...),
		Notes: append([]string{"the mean of 100 (1 - makespan / the other's) ± half of the 95 % confidence interval"}, notes...),
	}
}

// without is the share of batches whose count is 0.
func without(counts []float64) float64 {
	none := 0
	for _, c := range counts {
		if c == 0 {
			none++
		}
	}
	return float64(none) / float64(len(counts))
}

// lowerThan measures by how many percent the makespans of a series are below another's, in
// the mean over n batches.
func lowerThan(d *figures.Data, a, than run.Series, n int) figures.Measurement {
	v := d.Above(a, than, n)
	for i := range v {
		v[i] = -v[i]
	}
	return d.MeanOf(v, "batches", 0)
}
