package drl

import (
	"fmt"

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
func scoredOn(workload string, n int) []sample {
	names := curve.Datasets(workload, n)
	return figures.Map(names, func(name string) sample { return sample{figures.Dataset(name), curve.Batches / len(names), 1} })
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

// levelsOn are the levels of [unlearned].
func levelsOn(d *figures.Data, on []sample) []float64 {
	return figures.Map(unlearned, func(a approach) float64 { return levelOn(d, a, on) })
}

type mixedPanel struct {
	// name is the paper's, and agents is the end of the names of its agents.
	name, agents string
	on           []sample
}

// drawMixed adds a chart for each workload with versions of the paper's agent, what the paper
// prints about their curves, and levels. published gets the end of the axis.
func (all curves) drawMixed(
	d *figures.Data, out *figures.Output, name, heading string, panels []mixedPanel, versions []string,
	published func(p mixedPanel, version string, ends float64) reports.Series,
) *figures.Output {
	t := d.Claims.Head(name)
	figure := reports.Panels{Title: heading}
	for _, p := range panels {
		chart := all.chart(p.name, figures.Map(versions, func(v string) line { return line{v, agentOf(v, p.agents)} }))
		x := chart.Series[0].X
		ends := x[len(x)-1]
		for _, v := range versions {
			said := published(p, v, ends)
			said.Name, said.Published = v, true
			chart.Series = append(chart.Series, said)
		}
		levels := levelsOn(d, p.on)
		for i, a := range unlearned {
			chart.Series = append(chart.Series, reports.Series{Name: a.name, X: []float64{x[0], ends}, Y: []float64{levels[i], levels[i]}})
		}
		t.Rows = append(t.Rows, append([]string{p.name}, fixed(levels...)...))
		figure.Charts = append(figure.Charts, chart)
	}
	return out.Table(name, t).Figure(name, heading, figure)
}

// figure13 lacks the panel of RODINIA + ALTIS: the curves of FLOAT were not scored on kernels.
// WIDETIMES takes its place, which the agents of RODINIA + ALTIS learn from.
func (all curves) figure13(d *figures.Data) (*figures.Output, error) {
	// The workloads that need reconfiguration (6.5).
	panels := figures.Map([]string{mixUniform, mixExtreme, wideTimes}, func(w string) mixedPanel { return mixedPanel{w, w, scoredOn(w, n)} })
	// Table 4 has the ends of training.
	published := func(p mixedPanel, version string, ends float64) reports.Series {
		v := d.Claims.Published("table4", p.name+" "+version)
		return reports.Series{X: []float64{0, ends}, Y: []float64{v, v}}
	}
	_, statements := shown("figure13")
	out := all.read(d, "figure13", statements)
	return all.drawMixed(d, out, "figure13", "Fig. 13. Learning the mixed workloads with FLOAT", panels, []string{"FLOAT"}, published), nil
}

// readOff are the times at which the text reads Fig. 15 off, and their shares of the training.
var readOff = []struct {
	name  string
	share float64
}{{"half-way", 0.5}, {"before the last quarter", 0.75}}

func (all curves) figure15(d *figures.Data) (*figures.Output, error) {
	panels := []mixedPanel{{rodinia.name, rodinia.trainedOn + "-rodinia", scoredOnKernels}, {mixUniform, mixUniform, scoredOn(mixUniform, n)}}
	versions := []string{"ENTROPY", direct.name}
	_, statements := shown("figure15")
	published := func(p mixedPanel, version string, ends float64) (s reports.Series) {
		s.Markers = true
		for _, r := range readOff {
			s.X, s.Y = append(s.X, r.share*ends), append(s.Y, d.Claims.Published("figure15", p.name+" "+version+", "+r.name))
		}
		return s
	}
	out := all.read(d, "figure15", statements)
	return all.drawMixed(d, out, "figure15", "Fig. 15. Learning with ENTROPY and with DIRECT RECONFIG", panels, versions, published), nil
}

// differing are the agents that were trained with something changed, by the end of their names.
var differing = []struct{ suffix, says string }{
	{"", ""}, {"-long", ", five times as long"}, {"-released", ", as released"}, {"-empty", ", from an idle GPU"}, {"-short", ", batches of 1 to 14"},
}

// mostSeeds is the number of runs that the table of final scores has room for.
const mostSeeds = 3

// seeds compares final scores over training runs: what the paper found about its modelling on
// the mixed workloads.
func (all curves) seeds(d *figures.Data) (*figures.Output, error) {
	t := d.Claims.Head("seeds")
	_, statements := shown("seeds")
	for _, w := range synthetic {
		levels := levelsOn(d, scoredOn(w.name, n))
		for a, differs := range figures.Each(agents, differing) {
			if name := a.curve(w) + differs.suffix; len(all[name]) > 0 {
				row := append(all.finalRow(w.name, a.name+differs.says, name), fixed(levels...)...)
				t.Rows = append(t.Rows, append(row, fixed(d.Claims.Published("table4", w.name+" "+a.name), d.Claims.Published("table4", w.name+" "+far.name))...))
			}
		}
		above := func(of []*course) float64 { return of[0].final() - levels[0] }
		for _, v := range saidOfFAR[w.name] {
			statements = append(statements, statement{fmt.Sprintf("%s: %s less FAR", w.name, v), []string{agentOf(v, w.name)}, above})
		}
	}
	return all.read(d, "seeds", statements).Table("seeds", t), nil
}

// saidOfFAR are the versions that 6.5 compares with the baselines.
var saidOfFAR = map[string][]string{
	mixUniform: {"FLOAT", "ENTROPY", direct.name}, mixExtreme: {direct.name}, wideTimes: {"FLOAT", "ENTROPY", direct.name},
}

// finalRow begins the row of an agent: its runs, their mean, and what its curve does at the end.
func (all curves) finalRow(workload, shown, agent string) []string {
	runs := all.of(agent)
	row := []string{workload, shown, reports.Fixed(runs[0].last()/1e6, 1)}
	var ends []float64
	for i := range mostSeeds {
		cell := reports.Missing
		if i < len(runs) {
			ends = append(ends, runs[i].final())
			cell = reports.Fixed(runs[i].final(), 2)
		}
		row = append(row, cell)
	}
	trend := all.trend(agent)
	row = append(row, reports.Fixed(figures.Mean(ends), 2))
	return append(append(row, reports.PlusMinus(trend.slope, trend.half, 2)...), trend.word())
}
