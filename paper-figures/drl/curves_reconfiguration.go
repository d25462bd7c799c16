package drl

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// scoreSeed and scored are of the batches of learning curves, with each generator.
const (
	scoreSeed = 1_000_003
	scored    = 50
)

// scoredFAR is FAR on the batches that agents with batches of n tasks are scored on, and
// under their model of reconfiguration.
func scoredFAR(workload string, n int) (out []run.Series) {
	for _, generator := range []string{"paper", "released-train"} {
		data := dataset(fmt.Sprintf("drl/%s?gen=%s&n=%d&seed=%d", workload, generator, n, scoreSeed))
		out = append(out, on("A100", data, "far", mig.Parallel))
	}
	return out
}

// needScored adds FAR and l_bound on the batches of learning curves.
func needScored(to *needs, s figures.Scale, workload string, n int) {
	for _, series := range scoredFAR(workload, n) {
		to.add(series, s.Replicates(scored))
		to.add(lBound(series.Dataset), s.Replicates(scored))
	}
}

// farScore is FAR's mean p_opt on the batches of learning curves.
func farScore(d *figures.Data, workload string, n int) (float64, error) {
	var all []float64
	for _, series := range scoredFAR(workload, n) {
		v, err := pOpt(d, series)
		if err != nil {
			return 0, err
		}
		all = append(all, v...)
	}
	return mean(all), nil
}

// alsoRodinia says which curves stand for the kernels'.
const alsoRodinia = "WIDETIMES is also what the agents of RODINIA + ALTIS learn from; they are scored on WIDETIMES while they do"

// learnsToReconfigure is why agents without direct reconfiguration are not bad here.
const learnsToReconfigure = "the agents learn to reconfigure here without direct reconfigurations; FLOAT did so too in single runs with episodes that begin on an empty GPU and in the environment as released; what of the paper's set-up keeps them from it is open"

// A mixedPanel is a chart of a mixed workload: name is the paper's, trainedOn what its
// agents learn from.
type mixedPanel struct{ name, trainedOn string }

// chart draws how versions learn, what the paper prints of them and, as a level, FAR on
// the same batches; nil if no version has been trained.
func (p mixedPanel) chart(d *figures.Data, all curves, versions []string, published func(version string, ends float64) reports.Series) (*reports.Lines, error) {
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
		return nil, nil
	}
	level, err := farScore(d, p.trainedOn, n)
	if err != nil {
		return nil, err
	}
	x := chart.Series[0].X
	ends := x[len(x)-1]
	for _, s := range chart.Series {
		said := published(s.Name, ends)
		said.Name, said.Published = s.Name, true
		chart.Series = append(chart.Series, said)
	}
	chart.Series = append(chart.Series, reports.Series{Name: far.name, X: []float64{x[0], ends}, Y: []float64{level, level}})
	return chart, nil
}

// mixedLearning is an artefact with a panel a workload.
func mixedLearning(
	claims *figures.Claims, all curves, name, title, heading string, panels []mixedPanel, versions []string, statements []statement,
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
		Needs: func(s figures.Scale) []figures.Need {
			var to needs
			for _, p := range panels {
				needScored(&to, s, p.trainedOn, n)
			}
			return to.list
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			fs, err := all.judgeAll(d, claims, name, 1, statements)
			if err != nil {
				return nil, err
			}
			t := all.table(heading, lines)
			t.Notes = append(t.Notes, alsoRodinia, "FAR: on the batches on which the agents are scored, reconfiguring in parallel as they do")
			t.Notes = append(t.Notes, notes...)
			figure := reports.Panels{Title: heading}
			for _, p := range panels {
				level, err := farScore(d, p.trainedOn, n)
				if err != nil {
					return nil, err
				}
				t.Rows = append(t.Rows, farRow(t, p.trainedOn, level))
				chart, err := p.chart(d, all, versions, func(v string, ends float64) reports.Series { return published(p, v, ends) })
				if err != nil {
					return nil, err
				}
				if chart != nil {
					figure.Charts = append(figure.Charts, *chart)
				}
			}
			out := &figures.Output{Findings: fs, Tables: []figures.Table{
				{File: name, Table: t},
				{File: name + "-claims", Table: figures.ComparisonTable(heading+": claims", fs)},
			}}
			if figure.Charts != nil {
				out.Figures = []figures.Figure{{File: name, Title: heading, Figure: figure}}
			}
			return out, nil
		},
	}
}

// farRow is a row of a table of learning curves for FAR, which does not learn.
func farRow(t reports.Table, of string, score float64) []string {
	row := make([]string, len(t.Columns))
	for i := range row {
		row[i] = reports.Missing
	}
	row[0], row[len(row)-2] = of+", FAR", fmt.Sprintf("%.2f", score)
	return row
}

func figure13(claims *figures.Claims, all curves) figures.Artefact {
	panels := []mixedPanel{{rodinia.name, rodinia.trainedOn}, {mixUniform, mixUniform}, {mixExtreme, mixExtreme}}
	var statements []statement
	for _, w := range mixed {
		statements = append(statements, statement{w + ", end", []string{agentOf("FLOAT", w)}, final, learnsToReconfigure})
	}
	for _, w := range []string{goodScaling, "POORSCALING"} {
		statements = append(statements, statement{w + ", end", []string{agentOf("FLOAT", w)}, final, short + "more may be needed"})
	}
	// Table 4 has the ends of training.
	published := func(p mixedPanel, version string, ends float64) reports.Series {
		v := claims.Get("table4", p.trainedOn+" "+version).Published
		return reports.Series{X: []float64{0, ends}, Y: []float64{v, v}}
	}
	return mixedLearning(claims, all, "figure13", "learning the mixed workloads with FLOAT", "Fig. 13. Learning the mixed workloads with FLOAT",
		panels, []string{"FLOAT"}, statements, published, "published in the figure: Table 4, after the paper's training")
}

// readOff are the readings of 6.5.2 off Fig. 15.
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
	var statements []statement
	for _, p := range panels {
		for _, v := range versions {
			why := learnsToReconfigure
			if v == direct.name {
				why = "lower than the paper's agent at the same share of its training"
			}
			for _, r := range readOff {
				at := func(of []*curve) float64 { return of[0].at(r.share) }
				statements = append(statements, statement{claim(p, v, r.name), []string{agentOf(v, p.trainedOn)}, at, why})
			}
		}
		both := []string{agentOf(versions[0], p.trainedOn), agentOf(versions[1], p.trainedOn)}
		statements = append(statements, statement{p.name + ", ENTROPY less DIRECT RECONFIG, end", both, finals, learnsToReconfigure})
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
