package drl

import (
	"fmt"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// mostSeeds is the number of training runs that the table has columns for.
const mostSeeds = 3

// seeds compares final scores over training runs: what the paper found about its modelling on
// the mixed workloads.
func (all curves) seeds(d *figures.Data) (*figures.Output, error) {
	versions := []string{"FLOAT", "ENTROPY", direct.name}
	t := reports.Table{
		Title:   "Final p_opt [%] by training run, and what the paper prints",
		Columns: reports.Left("workload", "agent"),
		Notes: []string{
			"measured on 100 batches of N tasks that are always the same, 50 of each reading of the generator, all reconfiguring in parallel as in the paper's environment",
			whatLevels,
			"published: Table 4, after 200 million steps",
		},
	}
	for i := range mostSeeds {
		t.Columns = t.Columns.Right(fmt.Sprintf("run %d", i+1))
	}
	t.Columns = t.Columns.Right("mean").Right(columnsOf(unlearned)...).Right("published", "published FAR")
	statements := []statement{
		{mixExtreme + ": FLOAT less ENTROPY", []string{agentOf("FLOAT", mixExtreme), agentOf("ENTROPY", mixExtreme)}, finals},
	}
	for _, w := range mixed {
		levels := make([]float64, len(unlearned))
		for i, a := range unlearned {
			levels[i] = levelOn(d, a, scoredOn(w, n))
		}
		for _, v := range versions {
			s := statement{agents: []string{agentOf(v, w)}, value: final}
			t.Rows = append(t.Rows, finalRow(d, w, v, s.values(all), levels))
			if w == mixExtreme && v != direct.name {
				continue // 6.5.1 says nothing about these
			}
			above := func(of []*course) float64 { return of[0].final() - levels[0] }
			statements = append(statements, statement{fmt.Sprintf("%s: %s less FAR", w, v), s.agents, above})
		}
	}
	return all.read(d, "seeds", statements).Table("seeds", t), nil
}

// finalRow lists the final scores of an agent beside the levels and what the paper prints.
func finalRow(d *figures.Data, workload, version string, ends, levels []float64) []string {
	row := []string{workload, version}
	for i := range mostSeeds {
		cell := reports.Missing
		if i < len(ends) {
			cell = reports.Fixed(ends[i], 2)
		}
		row = append(row, cell)
	}
	row = append(row, reports.Fixed(figures.Mean(ends), 2))
	for _, l := range levels {
		row = append(row, reports.Fixed(l, 2))
	}
	for _, column := range []string{version, far.name} {
		row = append(row, reports.Fixed(d.Claims.Published("table4", workload+" "+column), 2))
	}
	return row
}
