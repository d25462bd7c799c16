package drl

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/curve"
	"miglab/harness/mig"
	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// onScored are the series of an approach on the batches that score agents with batches of n
// tasks, under the agents' model of reconfiguration.
func onScored(workload string, n int, a approach) (out []run.Series) {
	for _, name := range curve.Datasets(workload, n) {
		out = append(out, on("A100", figures.Dataset(name), a.algorithm(rodinia), mig.Parallel))
	}
	return out
}

// unlearned are FAR and the schedulers that never reconfigure. Learning curves are compared
// with them.
var unlearned = []approach{far, onesOnly, bestOnly}

// needScored lists the unlearned approaches, and l_bound, on the batches of learning curves.
func needScored(s figures.Scale, workload string, n int) (out []figures.Need) {
	for _, a := range unlearned {
		all := onScored(workload, n, a)
		for _, series := range all {
			each := s.Replicates(curve.Batches / len(all))
			out = append(out, figures.NeedFirst(each, series, lBound(series.Dataset))...)
		}
	}
	return out
}

// A level is p_opt in percent of the unlearned approaches on the batches of learning curves.
type level struct {
	far, ones, best float64
	// publishedFAR and publishedBest are Table 4's of FAR and FIXBEST.
	publishedFAR, publishedBest float64
}

func levelOn(d *figures.Data, claims *figures.Claims, workload string, n int) level {
	var of [3]float64
	for i, a := range unlearned {
		var all []float64
		for _, series := range onScored(workload, n, a) {
			all = append(all, pOpt(d, series)...)
		}
		of[i] = figures.Mean(all)
	}
	published := func(column string) float64 { return claims.Get("table4", workload+" "+column).Published }
	return level{of[0], of[1], of[2], published(far.name), published(fixBest)}
}

// each calls use with the levels by name.
func (l level) each(use func(name string, pOpt float64)) {
	use(far.name, l.far)
	use(onesOnly.name, l.ones)
	use(bestOnly.name, l.best)
}

// String compares what is possible on these batches without learning, and without
// reconfiguring, with the paper's numbers.
func (l level) String() string {
	return fmt.Sprintf("p_opt on the same batches: FAR %.2f %% (Table 4: %.2f %%), and with one partition throughout %s %.2f %%, %s %.2f %% (FIXBEST in Table 4: %.2f %%); whether agents reconfigure is in the table reconfigures",
		l.far, l.publishedFAR, onesOnly.name, l.ones, bestOnly.name, l.best, l.publishedBest)
}

// alsoRodinia says which curves represent the agents of the kernels.
const alsoRodinia = "WIDETIMES is also what the agents of RODINIA + ALTIS learn from; they are scored on WIDETIMES while they do"

// whatLevels explains the levels, and what it means if an agent reaches them.
var whatLevels = fmt.Sprintf("FAR and FIXPART: on the batches on which the agents are scored, reconfiguring in parallel as they do; "+
	"%s and %s, the best partition for each batch, never reconfigure: p_opt as low as theirs can be had without, "+
	"and a lower one by taking tasks in another order than that of arrival, so that whether agents reconfigure is in the table reconfigures and not in p_opt", onesOnly.name, bestOnly.name)

// variants are the runs of FLOAT in which episodes begin on an idle GPU, and in which the
// environment is as released.
var variants = []struct{ suffix, what string }{{"-empty", "episodes beginning on an idle GPU"}, {"-released", "the environment as released"}}

// variantsOf lists the agents of the variants on a workload.
func variantsOf(workload string) (out []string) {
	for _, v := range variants {
		out = append(out, agentOf("FLOAT", workload)+v.suffix)
	}
	return out
}

// varied gives the final scores of the variants. It is empty if none has been trained.
func (all curves) varied(workload string) string {
	var ends []string
	for i, a := range variantsOf(workload) {
		if v := (statement{agents: []string{a}, value: final}).values(all); len(v) > 0 {
			ends = append(ends, fmt.Sprintf("%s (%s) ends at %.2f %%", a, variants[i].what, figures.Mean(v)))
		}
	}
	return strings.Join(ends, ", ")
}

// A mixedPanel is a chart of a mixed workload: name is the paper's, trainedOn what its
// agents learn from.
type mixedPanel struct{ name, trainedOn string }

// chart draws the learning curves of versions, the paper's numbers and the levels. It returns
// nil if no version has been trained.
func (p mixedPanel) chart(all curves, versions []string, l level, published func(version string, ends float64) reports.Series) *reports.Lines {
	var lines []line
	for _, v := range versions {
		lines = append(lines, line{v, agentOf(v, p.trainedOn)})
	}
	title := p.trainedOn
	if p.name != p.trainedOn {
		title += " (for " + p.name + ")"
	}
	chart := all.chart(title, lines)
	if chart == nil {
		return nil
	}
	x := chart.Series[0].X
	ends := x[len(x)-1]
	for _, s := range chart.Series {
		said := published(s.Name, ends)
		said.Name, said.Published = s.Name, true
		chart.Series = append(chart.Series, said)
	}
	l.each(func(name string, pOpt float64) {
		chart.Series = append(chart.Series, reports.Series{Name: name, X: []float64{x[0], ends}, Y: []float64{pOpt, pOpt}})
	})
	return chart
}

// mixedLearning is an artefact with a panel for each workload. The levels that statements get
// are by the workload that the agents learn from.
func mixedLearning(
	claims *figures.Claims, all curves, name, title, heading string, panels []mixedPanel, versions []string,
	statements func(levels map[string]level) []statement,
	published func(p mixedPanel, version string, ends float64) reports.Series, notes ...string,
) figures.Artefact {
	var lines []line
	for _, p := range panels {
		for _, v := range versions {
			lines = append(lines, line{p.trainedOn + ", " + v, agentOf(v, p.trainedOn)})
		}
	}
	return figures.Artefact{
		Name: name, Title: title,
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, p := range panels {
				out = append(out, needScored(s, p.trainedOn, n)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			levels := map[string]level{}
			for _, p := range panels {
				levels[p.trainedOn] = levelOn(d, claims, p.trainedOn, n)
			}
			out, err := all.learned(d, claims, name, heading, lines, statements(levels), append([]string{alsoRodinia, whatLevels}, notes...)...)
			if err != nil {
				return nil, err
			}
			t := &out.Tables[0].Table
			figure := reports.Panels{Title: heading}
			for _, p := range panels {
				levels[p.trainedOn].each(func(name string, pOpt float64) { t.Rows = append(t.Rows, levelRow(*t, p.trainedOn, name, pOpt)) })
				chart := p.chart(all, versions, levels[p.trainedOn], func(v string, ends float64) reports.Series { return published(p, v, ends) })
				if chart != nil {
					figure.Charts = append(figure.Charts, *chart)
				}
			}
			if figure.Charts != nil {
				out.Figure(name, heading, figure)
			}
			return out, nil
		},
	}
}

// levelRow is the row of a level in a table of learning curves.
func levelRow(t reports.Table, of, name string, pOpt float64) []string {
	row := make([]string, len(t.Columns))
	for i := range row {
		row[i] = reports.Missing
	}
	row[0], row[len(row)-2] = of+", "+name, fmt.Sprintf("%.2f", pOpt)
	return row
}

func figure13(claims *figures.Claims, all curves) figures.Artefact {
	panels := []mixedPanel{{rodinia.name, rodinia.trainedOn}, {mixUniform, mixUniform}, {mixExtreme, mixExtreme}}
	statements := func(levels map[string]level) (out []statement) {
		for _, w := range append(slices.Clone(mixed), goodScaling, "POORSCALING") {
			agent := agentOf("FLOAT", w)
			s := statement{claim: w + ", end", agents: []string{agent}, value: final, reason: all.ended(agent)}
			if l, ok := levels[w]; ok {
				s.reason = reasons(l.String(), all.varied(w))
			}
			out = append(out, s)
		}
		return out
	}
	// Table 4 has the ends of training.
	published := func(p mixedPanel, version string, ends float64) reports.Series {
		v := claims.Get("table4", p.trainedOn+" "+version).Published
		return reports.Series{X: []float64{0, ends}, Y: []float64{v, v}}
	}
	return mixedLearning(claims, all, "figure13", "learning the mixed workloads with FLOAT", "Fig. 13. Learning the mixed workloads with FLOAT",
		panels, []string{"FLOAT"}, statements, published, "published in the figure: Table 4, after the paper's training")
}

// readOff are the points of Fig. 15 that 6.5.2 quotes.
var readOff = []struct {
	name  string
	share float64
}{{"half-way", 0.5}, {"before the last quarter", 0.75}}

func figure15(claims *figures.Claims, all curves) figures.Artefact {
	panels := []mixedPanel{{rodinia.name, rodinia.trainedOn}, {mixUniform, mixUniform}}
	versions := []string{"ENTROPY", direct.name}
	claim := func(p mixedPanel, version, when string) string {
		return fmt.Sprintf("%s %s, %s", p.name, version, when)
	}
	statements := func(levels map[string]level) (out []statement) {
		for _, p := range panels {
			l := levels[p.trainedOn].String()
			for _, v := range versions {
				agent := agentOf(v, p.trainedOn)
				for _, r := range readOff {
					at := func(of []*course) float64 { return of[0].at(r.share) }
					why := reasons("at the same share of the training, which ends "+all.steps(agent), l)
					out = append(out, statement{claim: claim(p, v, r.name), agents: []string{agent}, value: at, reason: why})
				}
			}
			both := []string{agentOf(versions[0], p.trainedOn), agentOf(versions[1], p.trainedOn)}
			out = append(out, statement{
				claim: p.name + ", ENTROPY less DIRECT RECONFIG, end", agents: both, value: finals, reason: reasons(all.ended(both...), l),
			})
		}
		return out
	}
	published := func(p mixedPanel, version string, ends float64) (s reports.Series) {
		s.Markers = true
		for _, r := range readOff {
			s.X, s.Y = append(s.X, r.share*ends), append(s.Y, claims.Get("figure15", claim(p, version, r.name)).Published)
		}
		return s
	}
	return mixedLearning(claims, all, "figure15", "learning with ENTROPY and with DIRECT RECONFIG", "Fig. 15. Learning with ENTROPY and with DIRECT RECONFIG",
		panels, versions, statements, published, "published in the figure: what the text reads off half-way through the paper's training and before its last quarter")
}
