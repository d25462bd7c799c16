package drl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// agentOf is the name under which a version of the paper's agent was trained.
func agentOf(version, workload string) string {
	at := slices.IndexFunc(agents, func(a approach) bool { return a.name == version })
	return agents[at].algorithm + "-" + workload
}

type line struct{ name, agent string }

// mean returns the mean, the least and the greatest score over the runs, by point.
func (all curves) mean(agent string) (mean, low, high []float64) {
	runs := all.of(agent)
	for i := range runs[0].steps {
		scores := figures.Map(runs, func(c course) float64 { return c.scores[i] })
		mean, low, high = append(mean, figures.Mean(scores)), append(low, slices.Min(scores)), append(high, slices.Max(scores))
	}
	return mean, low, high
}

// chart draws the mean over the runs of agents, each with a band from the lowest to the highest
// score.
func (all curves) chart(title string, lines []line) reports.Lines {
	chart := reports.Lines{
		Title: title,
		X:     reports.Axis{Label: "Training steps [million] (the paper: 200)"},
		Y:     reports.Axis{Label: "p_opt [%]", Log: true},
	}
	for _, l := range lines {
		runs := all.of(l.agent)
		s := reports.Series{Name: l.name, X: figures.Map(runs[0].steps, func(steps float64) float64 { return steps / 1e6 })}
		s.Y, s.Low, s.High = all.mean(l.agent)
		if len(runs) == 1 {
			s.Low, s.High = nil, nil
		}
		for i := range runs {
			chart.Y.Log = chart.Y.Log && runs[i].least() > 0
		}
		chart.Series = append(chart.Series, s)
	}
	return chart
}

// A statement says how a claim is measured from learning curves of the same seed.
type statement struct {
	claim  string
	agents []string
	value  func(of []*course) float64
}

// final is the end of the first agent's training.
func final(of []*course) float64 { return of[0].final() }

// after returns by how much the first agent's score exceeds the second's at equal steps: after
// a share of the shorter of both trainings.
func after(share float64) func([]*course) float64 {
	return func(of []*course) float64 {
		steps := share * min(of[0].last(), of[1].last())
		return of[0].at(steps) - of[1].at(steps)
	}
}

// finals compares the ends of training, see [after].
var finals = after(1)

// values measures a statement in each training run that all its agents have, and only in the
// first one if one of the agents has learned for less than [enoughSteps].
func (s statement) values(all curves) (out []float64) {
	for _, of := range all.together(s.agents...) {
		out = append(out, s.value(of))
		if slices.ContainsFunc(of, func(c *course) bool { return c.last() < enoughSteps }) {
			break
		}
	}
	return out
}

// read measures statements as the default reading of an artefact. A number that the paper prints
// is of one training run; a sentence of the paper has no number that could have a sampling error.
func (all curves) read(d *figures.Data, artefact string, statements []statement) *figures.Output {
	runs := map[string]int{}
	for _, c := range d.Claims.Of(artefact) {
		if c.Kind == figures.Printed {
			runs[c.Name] = 1
		}
	}
	values := figures.Values{}
	for _, s := range statements {
		values[s.claim] = overTraining(d, s.values(all), runs[s.claim], s.agents...)
	}
	return figures.Read(figures.Reading{Values: values})
}

// A learningRow is a line of learning.csv: a line of a chart, or how a claim is measured from the
// curves of one or two agents.
type learningRow struct {
	Artefact string `csv:"artefact"`
	Name     string `csv:"name"`
	// Shows is line, or one of [quantities].
	Shows string `csv:"shows"`
	Agent string `csv:"agent"`
	Other string `csv:"other"`
}

// quantities are what a claim measures on the curves of its agents.
var quantities = map[string]func(of []*course) float64{
	"end":                       final,
	"half-way":                  scoreAt(0.5),
	"before the last quarter":   scoreAt(0.75),
	"difference at the end":     finals,
	"difference half-way":       after(0.5),
	"steps to the best of both": func(of []*course) float64 { return slower(of[0], of[1]) },
	"steps to its own best":     func(of []*course) float64 { return of[0].converges() / of[1].converges() },
}

// scoreAt returns the first agent's score after a share of its training.
func scoreAt(share float64) func([]*course) float64 {
	return func(of []*course) float64 { return of[0].at(share * of[0].last()) }
}

// shown returns the lines and the statements of an artefact. It panics on a mistake in
// learning.csv, which is a part of the program.
func shown(artefact string) (lines []line, statements []statement) {
	table, err := figures.ReadCSV[learningRow]("drl", files, "learning.csv")
	if err != nil {
		panic(err)
	}
	for _, r := range table.Rows {
		value, of := quantities[r.Shows], []string{r.Agent}
		if r.Other != "" {
			of = append(of, r.Other)
		}
		switch {
		case r.Artefact != artefact:
		case r.Shows == "line":
			lines = append(lines, line{r.Name, r.Agent})
		case value == nil:
			panic(fmt.Sprintf("drl: learning.csv shows %q of %s; use line or one of %q", r.Shows, r.Name, slices.Sorted(maps.Keys(quantities))))
		default:
			statements = append(statements, statement{r.Name, of, value})
		}
	}
	return lines, statements
}

// learning shows agents in one chart. Their scores are in the table of all trainings.
func (all curves) learning(name, heading string) func(*figures.Data) (*figures.Output, error) {
	return func(d *figures.Data) (*figures.Output, error) {
		lines, statements := shown(name)
		return all.read(d, name, statements).Figure(name, heading, all.chart(heading, lines)), nil
	}
}

// figure12 also shows FAR's p_opt on the batches of each size.
func (all curves) figure12(d *figures.Data) (*figures.Output, error) {
	levels := d.Claims.Head("figure12")
	for _, size := range []int{7, n, 21, 28} {
		levels.Rows = append(levels.Rows, append([]string{fmt.Sprint(size)}, fixed(levelOn(d, far, scoredOn(goodScaling, size)))...))
	}
	out, err := all.learning("figure12", "Fig. 12. Learning GOODSCALING by batch size N, M = 14")(d)
	return out.Table("figure12", levels), err
}

// training lists every run of the project, and shows how our own agents learn.
func (all curves) training(d *figures.Data) (*figures.Output, error) {
	t := d.Claims.Head("training")
	var own []line
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Rows = append(t.Rows, all.trainingRow(name))
		if workload, ours := strings.CutPrefix(name, "agent-"); ours {
			own = append(own, line{workload, name})
		}
	}
	chart := all.chart("Learning of our own agents, by what they learn from", own)
	chart.X.Label = "Training steps [million]"
	return new(figures.Output).Table("training", t).Figure("training", chart.Title, chart), nil
}

func (all curves) trainingRow(agent string) []string {
	runs := all.of(agent)
	over := func(of func(*course) float64) string {
		return reports.Fixed(figures.Mean(figures.Map(runs, func(c course) float64 { return of(&c) })), 2)
	}
	shown := agent
	if strings.HasPrefix(agent, "rl-deadline-") {
		shown += ", late [%]"
	}
	return []string{
		shown, fmt.Sprint(len(runs)), over(func(c *course) float64 { return c.last() / 1e6 }),
		over(func(c *course) float64 { return c.scores[0] }), over(func(c *course) float64 { return c.at(0.5 * c.last()) }),
		over((*course).final), over((*course).least), over(func(c *course) float64 { return c.converges() / 1e6 }),
	}
}
