package drl

import (
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/curve"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// unlearned are FAR and the schedulers that never reconfigure. Learning curves are compared
// with them.
var unlearned = []approach{far, onesOnly, bestOnly}

// A sample is instances of a dataset on which agents are scored: the first of each group of
// every, count in all.
type sample struct {
	data         string
	count, every int
}

// scoredOn are the batches of n tasks of a workload on which agents are scored.
func scoredOn(workload string, n int) (out []sample) {
	names := curve.Datasets(workload, n)
	for _, name := range names {
		out = append(out, sample{figures.Dataset(name), curve.Batches / len(names), 1})
	}
	return out
}

// scoredOnKernels are the batches for the agents of measured kernels: one order of each subset
// of at least 14.
var scoredOnKernels = []sample{{figures.Dataset(rodinia.spec + "?part=1"), 100 * datasets.OrdersOfSubset, datasets.OrdersOfSubset}}

// levelOn is the mean p_opt of an approach on the batches that score agents, under the agents'
// model of reconfiguration.
func levelOn(d *figures.Data, a approach, on []sample) float64 {
	var all []float64
	r := &reading{model: mig.Parallel}
	for _, s := range on {
		values := pOpt(d, r.series(s.data, a.algorithm), s.count)
		for i := 0; i < len(values); i += s.every {
			all = append(all, values[i])
		}
	}
	return figures.Mean(all)
}

// whatLevels explains the levels, and what it means if an agent reaches them.
var whatLevels = fmt.Sprintf("FAR and FIXPART: on the batches on which the agents are scored, reconfiguring in parallel as they do; "+
	"%s and %s, the best partition for each batch, never reconfigure: p_opt as low as theirs can be reached without, "+
	"and a lower one by taking tasks in another order than that of arrival, so that the table reconfigures says whether agents reconfigure, and p_opt does not", onesOnly.name, bestOnly.name)

func levelRow(t reports.Table, name string, pOpt float64) []string {
	row := make([]string, len(t.Columns))
	for i := range row {
		row[i] = reports.Missing
	}
	row[0], row[len(row)-2] = name, reports.Fixed(pOpt, 2)
	return row
}

type mixedPanel struct {
	// name is the paper's, and agents is the end of the names of its agents.
	name, agents string
	on           []sample
}

// mixedLearning shows versions of the paper's agent, with a chart for each workload. published
// returns what the paper prints about a version's curve, on an axis that ends with the training.
func (all curves) mixedLearning(
	d *figures.Data, heading string, panels []mixedPanel, versions []string,
	published func(p mixedPanel, version string, ends float64) reports.Series, notes ...string,
) (reports.Table, reports.Panels) {
	var lines []line
	for p, v := range figures.Each(panels, versions) {
		lines = append(lines, line{p.name + ", " + v, agentOf(v, p.agents)})
	}
	t := all.table(heading, lines, append([]string{whatLevels}, notes...)...)
	figure := reports.Panels{Title: heading}
	for _, p := range panels {
		var own []line
		for _, v := range versions {
			own = append(own, line{v, agentOf(v, p.agents)})
		}
		chart := all.chart(p.name, own)
		x := chart.Series[0].X
		ends := x[len(x)-1]
		for _, v := range versions {
			said := published(p, v, ends)
			said.Name, said.Published = v, true
			chart.Series = append(chart.Series, said)
		}
		for _, a := range unlearned {
			level := levelOn(d, a, p.on)
			t.Rows = append(t.Rows, levelRow(t, p.name+", "+a.name, level))
			chart.Series = append(chart.Series, reports.Series{Name: a.name, X: []float64{x[0], ends}, Y: []float64{level, level}})
		}
		figure.Charts = append(figure.Charts, chart)
	}
	return t, figure
}

// mixed are the workloads that need reconfiguration (6.5).
var mixed = []string{mixUniform, mixExtreme, wideTimes}

// figure13 lacks the panel of RODINIA + ALTIS: the curves of FLOAT were not scored on kernels.
// WIDETIMES takes its place, which the agents of RODINIA + ALTIS learn from.
func (all curves) figure13(d *figures.Data) (*figures.Output, error) {
	var panels []mixedPanel
	var statements []statement
	for _, w := range mixed {
		panels = append(panels, mixedPanel{w, w, scoredOn(w, n)})
	}
	for _, w := range append(slices.Clone(mixed), goodScaling, poorScaling) {
		statements = append(statements, statement{w + ", end", []string{agentOf("FLOAT", w)}, final})
	}
	// Table 4 has the ends of training.
	published := func(p mixedPanel, version string, ends float64) reports.Series {
		v := d.Claims.Published("table4", p.name+" "+version)
		return reports.Series{X: []float64{0, ends}, Y: []float64{v, v}}
	}
	t, figure := all.mixedLearning(d, "Fig. 13. Learning the mixed workloads with FLOAT", panels, []string{"FLOAT"}, published,
		"published in the figure: Table 4, after the paper's training",
		"RODINIA + ALTIS of the paper's figure is left out; its agents learn from WIDETIMES")
	return all.read(d, "figure13", statements).Table("figure13", t).Figure("figure13", t.Title, figure), nil
}

var readOff = []struct {
	name  string
	share float64
}{{"half-way", 0.5}, {"before the last quarter", 0.75}}

func (all curves) figure15(d *figures.Data) (*figures.Output, error) {
	panels := []mixedPanel{{rodinia.name, rodinia.trainedOn + "-rodinia", scoredOnKernels}, {mixUniform, mixUniform, scoredOn(mixUniform, n)}}
	versions := []string{"ENTROPY", direct.name}
	claim := func(p mixedPanel, version, when string) string {
		return fmt.Sprintf("%s %s, %s", p.name, version, when)
	}
	var statements []statement
	missing := map[string]string{}
	for _, p := range panels {
		for _, v := range versions {
			for _, r := range readOff {
				at := func(of []*course) float64 { return of[0].at(r.share * of[0].last()) }
				statements = append(statements, statement{claim(p, v, r.name), []string{agentOf(v, p.agents)}, at})
			}
		}
		if p.name == rodinia.name {
			for _, s := range statements {
				missing[s.claim] = unpublished
			}
		}
	}
	statements = append(statements, statement{mixUniform + ", ENTROPY less DIRECT RECONFIG, end", []string{agentOf(versions[0], mixUniform), agentOf(versions[1], mixUniform)}, finals})
	published := func(p mixedPanel, version string, ends float64) (s reports.Series) {
		s.Markers = true
		for _, r := range readOff {
			s.X, s.Y = append(s.X, r.share*ends), append(s.Y, d.Claims.Published("figure15", claim(p, version, r.name)))
		}
		return s
	}
	t, figure := all.mixedLearning(d, "Fig. 15. Learning with ENTROPY and with DIRECT RECONFIG", panels, versions, published,
		"published in the figure: what the text reads off half-way through the paper's training and before its last quarter",
		"RODINIA + ALTIS: learned from WIDETIMES, as in the paper, and scored on full batches of the 16 public Rodinia kernels")
	out := all.read(d, "figure15", statements)
	out.Missing = missing
	return out.Table("figure15", t).Figure("figure15", t.Title, figure), nil
}

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

func finalRow(d *figures.Data, workload, version string, ends, levels []float64) []string {
	row := []string{workload, version}
	for i := range mostSeeds {
		cell := reports.Missing
		if i < len(ends) {
			cell = reports.Fixed(ends[i], 2)
		}
		row = append(row, cell)
	}
	row = append(row, fixed(figures.Mean(ends))...)
	row = append(row, fixed(levels...)...)
	row = append(row, fixed(d.Claims.Published("table4", workload+" "+version), d.Claims.Published("table4", workload+" "+far.name))...)
	return row
}
