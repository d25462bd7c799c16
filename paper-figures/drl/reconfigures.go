package drl

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"

	"gonum.org/v1/gonum/floats"
)

// destroys is the counter of the instances that an agent's schedule destroys.
const destroys = "destroys"

// counted is the number of batches of each workload.
const counted = 200

// mostly is the least share of batches without a destroy for an agent that counts as not
// reconfiguring.
const mostly = 0.9

// reconfigures shows whether agents reconfigure (6.5). A batch without a destroy runs on one
// partition. For comparison it also shows schedulers that never reconfigure.
func reconfigures() figures.Artefact {
	// The first three have no direct reconfiguration.
	const undirected = 3
	agents := append(slices.Clone(approaches[4:]), ourAgent)
	all := append(slices.Clone(agents), onesOnly, bestOnly)
	return figures.Artefact{
		Name: "reconfigures", Title: "whether agents reconfigure (6.5)",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for w, g := range figures.Each(workloads[1:], generators) {
				for _, a := range append(all, far) {
					out = append(out, figures.NeedFirst(s.Replicates(counted), batch(w.batches(g), a.algorithm(w)))...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			calm := reports.Table{
				Title:   "Instances destroyed in a batch of 14 tasks, and in brackets the batches without any [%]",
				Columns: reports.Left("workload", "generator").Right(columnsOf(agents)...),
				Notes: []string{
					fmt.Sprintf("%d batches of each workload; empty GPU, operations one at a time; agents as shipped, of the first seed; agent: ours", d.Scale.Replicates(counted)),
					"a batch in which nothing is destroyed is run on one partition; destroying what is left in the end does not count",
				},
			}
			below := reports.Table{
				Title:   "Makespan below FAR's [%] on the same batches, with the 95 % interval",
				Columns: reports.Left("workload", "generator").Right(columnsOf(all)...),
				Notes:   append([]string{"the mean of 100 (1 - makespan / FAR's)", onesOnly.name + " keeps the GPU in instances of one slice, " + bestOnly.name + " in the best partition for each batch, both with tasks in order of arrival"}, calm.Notes[0]),
			}
			still, cases := 0, 0
			for w, g := range figures.Each(workloads[1:], generators) {
				row := []string{w.name, cmp.Or(g, "paper")}
				lower := row[:2:2]
				for i, a := range agents {
					v := d.Values(batch(w.batches(g), a.algorithm(w)), destroys)
					row = append(row, fmt.Sprintf("%.2f (%.0f)", figures.Mean(v), 100*without(v)))
					if i < undirected {
						cases++
						if without(v) >= mostly {
							still++
						}
					}
				}
				for _, a := range all {
					lower = append(lower, belowBy(d, batch(w.batches(g), a.algorithm(w)), batch(w.batches(g), far.algorithm(w))))
				}
				calm.Rows, below.Rows = append(calm.Rows, row), append(below.Rows, lower)
			}
			calm.Notes = append(calm.Notes, fmt.Sprintf(
				"ONE-HOT, FLOAT and ENTROPY run %.0f %% of the batches or more on one partition in %d of %d cases; the paper finds that they do not reconfigure (6.5), "+
					"and p_opt of 70 to 90 %% where it matters; what can be had on one partition of these batches is in the table beside this one",
				100*mostly, still, cases))
			return figures.Found().Table("reconfigures", calm).Table("reconfigures-far", below), nil
		},
	}
}

// batches are whole batches of 14 tasks of a workload.
func (w workload) batches(generator string) string {
	spec := w.spec
	if generator != "" {
		spec += "?gen=" + generator
	}
	return figures.Dataset(spec)
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

// lower measures by how many percent the makespans of a series are below another's, in
// the mean over the batches that both have.
func lower(d *figures.Data, a, than run.Series) figures.Measurement {
	v := d.Above(a, than)
	floats.Scale(-1, v)
	return d.MeanOf(v, len(v))
}

// belowBy is [lower] with its interval, as text.
func belowBy(d *figures.Data, a, than run.Series) string {
	return lower(d, a, than).PlusMinus(2)
}
