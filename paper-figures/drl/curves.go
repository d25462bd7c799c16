package drl

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"miglab/algorithms/rl/train/curve"
	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// A course has the scores of an agent during one run of its training.
type course = curve.Run

// curves maps the name of an agent to its training runs, by ascending seed.
type curves map[string][]course

// shippedCurves returns the curves of the project's own trainings.
func shippedCurves() curves { return curve.Shipped() }

// trend fits the end of an agent's curve.
func (all curves) trend(agent string) curve.Trend { return curve.TrendOf(all.of(agent)) }

// trendSentence says what an agent's curve does at its end.
func trendSentence(agent string, t curve.Trend) string {
	rate := ""
	if t.Fades {
		rate = ", while its learning rate falls to 0"
	}
	return fmt.Sprintf("The curve of %s %s over the last quarter%s: %.2f ± %.2f points a million steps.",
		agent, t.Word(), rate, t.Slope, t.Half)
}

// slower returns the ratio of the steps that a and b take to the best score that both reach.
func slower(a, b *course) float64 {
	both := max(a.Least(), b.Least())
	return a.Reaches(both) / b.Reaches(both)
}

// of returns the runs of an agent. It panics without one, because the curves are part of the program.
func (all curves) of(agent string) []course {
	if len(all[agent]) == 0 {
		panic("drl: no learning curve of " + agent)
	}
	return all[agent]
}

// enoughSteps is the least training behind a verdict.
const enoughSteps = 2e6

// bySeed returns, for each seed that all agents have, the run of each agent.
func (all curves) bySeed(agents ...string) [][]*course {
	var out [][]*course
	for _, first := range all.of(agents[0]) {
		var runs []*course
		for _, a := range agents {
			i := slices.IndexFunc(all.of(a), func(c course) bool { return c.Seed == first.Seed })
			if i >= 0 {
				runs = append(runs, &all.of(a)[i])
			}
		}
		if len(runs) == len(agents) {
			out = append(out, runs)
		}
	}
	return out
}

// mean returns the mean, the least and the greatest score over the runs, by point.
func (all curves) mean(agent string) (mean, low, high []float64) {
	runs := all.of(agent)
	for i := range runs[0].Steps {
		scores := figures.Map(runs, func(c course) float64 { return c.Scores[i] })
		mean = append(mean, figures.Mean(scores))
		low, high = append(low, slices.Min(scores)), append(high, slices.Max(scores))
	}
	return mean, low, high
}

// chart draws the means over the runs of agents, with bands from the lowest to the highest score if all have several.
func (all curves) chart(title string, lines []learningRow) reports.Lines {
	chart := reports.Lines{
		Title: title,
		X: reports.Axis{
			Label: "Training steps [million] (the paper: 200)",
			Log:   all.of(lines[0].Agent)[0].Last() > enoughSteps,
		},
		Y: reports.Axis{Label: "p_opt [%]", Log: true},
	}
	single := slices.ContainsFunc(lines, func(l learningRow) bool { return len(all.of(l.Agent)) == 1 })
	for _, l := range lines {
		s := reports.Series{
			Name: l.String(), Markers: true,
			X: figures.Map(all.of(l.Agent)[0].Steps, func(steps float64) float64 { return steps / 1e6 }),
		}
		s.Y, s.Low, s.High = all.mean(l.Agent)
		chart.Y.Log = chart.Y.Log && slices.Min(s.Low) > 0
		if single {
			s.Low, s.High = nil, nil
		}
		chart.Series = append(chart.Series, s)
	}
	return chart
}

// leadAfter measures by how much the first agent's score exceeds the second's after a share of the shorter training.
func leadAfter(share float64) func([]*course) float64 {
	return func(runs []*course) float64 {
		first, second := scoresAfter(share, runs)
		return first - second
	}
}

// scoresAfter returns the scores of two agents after a share of the shorter training.
func scoresAfter(share float64, runs []*course) (first, second float64) {
	steps := share * min(runs[0].Last(), runs[1].Last())
	return runs[0].At(steps), runs[1].At(steps)
}

// values measures a claim for each seed that its agents share. It stops after the first seed with a run of less than
// [enoughSteps].
func (r *learningRow) values(all curves) (out []float64) {
	for _, runs := range all.bySeed(r.agents()...) {
		out = append(out, quantities[r.Shows](runs))
		if slices.ContainsFunc(runs, func(c *course) bool { return c.Last() < enoughSteps }) {
			break
		}
	}
	return out
}

// read measures claims, grouped by reading. A number that the paper prints has the sampling error of one training run,
// and a sentence has none.
func (all curves) read(d *figures.Data, artefact string, claims []learningRow) {
	paperRuns := map[claim.Cell]int{} // behind the printed number
	for _, c := range d.Claims.Of(artefact) {
		if c.Kind == claim.Printed {
			paperRuns[c.Cell] = 1
		}
	}
	for _, c := range claims {
		values := c.values(all)
		if c.Shows == lessFAR {
			floats.AddConst(-levelOn(d, far, scoredOn(c.Other, batchSize)), values)
		}
		d.Under(c.Reading)[c.Cell] = overTraining(d, values, paperRuns[c.Cell], c.longer(all), c.agents()...)
	}
}

// A learningRow is a row of learning.csv: a line of a chart, or a claim, measured from curves of the same seed.
type learningRow struct {
	Artefact string `csv:"artefact"`
	// Reading is empty for the default one.
	Reading string `csv:"reading"`
	// Cell is the place of the claim. A line of a chart has its name as the quantity.
	claim.Cell
	// Shows is line, or one of [quantities].
	Shows string `csv:"shows"`
	Agent string `csv:"agent"`
	// Other is a second agent, the panel of a line, or the workload of [lessFAR].
	Other string `csv:"other"`
}

// agents returns the agents whose curves a claim needs.
func (r *learningRow) agents() []string {
	if r.Other == "" || r.Shows == lessFAR {
		return []string{r.Agent}
	}
	return []string{r.Agent, r.Other}
}

// longer says what longer training could make of a claim. A difference of two scores can fall by all of the first one,
// and rise by all of the second.
func (r *learningRow) longer(all curves) prospect {
	share, differs := differences[r.Shows]
	switch {
	case r.Shows == lessFAR:
		return falls(math.Inf(-1))
	case r.Other == "":
		return falls(leastPOpt)
	case !differs:
		return anything
	}
	second := figures.Mean(figures.Map(all.bySeed(r.agents()...), func(runs []*course) float64 {
		_, score := scoresAfter(share, runs)
		return score
	}))
	return func(present float64) (from, to float64) { return leastPOpt - second, present + second - leastPOpt }
}

// differences maps quantities that compare the scores of two agents to the share of the training after which.
var differences = map[string]float64{"difference at the end": 1, "difference half-way": 0.5}

// lessFAR is the end of a training less FAR's p_opt on the batches that score agents.
const lessFAR = "end less FAR"

func final(runs []*course) float64 { return runs[0].Final() }

// quantities maps the name of a quantity to its measurement on a run of each agent of a claim.
var quantities = map[string]func(runs []*course) float64{
	"end":                       final,
	lessFAR:                     final,
	"half-way":                  scoreAt(0.5),
	"before the last quarter":   scoreAt(0.75),
	"difference at the end":     leadAfter(differences["difference at the end"]),
	"difference half-way":       leadAfter(differences["difference half-way"]),
	"steps to the best of both": func(runs []*course) float64 { return slower(runs[0], runs[1]) },
	"steps to its own best":     func(runs []*course) float64 { return runs[0].Converges() / runs[1].Converges() },
}

// scoreAt measures the first agent's score after a share of its training.
func scoreAt(share float64) func([]*course) float64 {
	return func(runs []*course) float64 { return runs[0].At(share * runs[0].Last()) }
}

// curvesOf returns an artefact's lines and claims. It panics on a mistake in learning.csv, a part of the program.
func curvesOf(artefact string) (lines, claims []learningRow) {
	optional := []string{"reading", "row", "column", "quantity", "other"}
	for _, r := range strictcsv.Embedded[learningRow](files, "learning.csv", optional...) {
		switch {
		case r.Artefact != artefact:
		case r.Shows == "line":
			lines = append(lines, r)
		case quantities[r.Shows] == nil:
			panic(fmt.Sprintf("drl: learning.csv shows %q of %s; use line or one of %q", r.Shows, r.Cell,
				slices.Sorted(maps.Keys(quantities))))
		default:
			claims = append(claims, r)
		}
	}
	return lines, claims
}

// learning shows agents in one chart. Their scores are in the table of all trainings.
func (all curves) learning(name, heading string) figures.Build {
	return func(d *figures.Data) {
		lines, claims := curvesOf(name)
		all.read(d, name, claims)
		d.Figure(name, heading, all.chart(heading, lines))
	}
}

// figure12 also shows FAR's p_opt on the batches of each size.
func (all curves) figure12(d *figures.Data) {
	levels := d.Table("figure12", "p_opt [%] of FAR on the batches of Fig. 12",
		reports.Right("N", "FAR"),
		"each agent is scored on batches of its own N tasks; FAR on the same ones, reconfiguring in parallel as the "+
			"agents do")
	for _, size := range []int{7, batchSize, 21, 28} {
		levels.Row(size, reports.Fixed(levelOn(d, far, scoredOn(goodScaling, size)), 2))
	}
	all.learning("figure12", "Fig. 12. Learning GOODSCALING by batch size N, M = 14")(d)
}

// unlearned are FAR and the schedulers that never reconfigure. Learning curves are compared with them.
var unlearned = []approach{far, onesOnly, bestOnly}

// A sample has the instances of a dataset on which agents are scored: every-th instances of the first count.
type sample struct {
	data         string
	count, every int
}

// scoredOn returns the batches of n tasks of a workload on which agents are scored.
func scoredOn(workload string, n int) []sample {
	names := curve.Datasets(workload, n)
	return figures.Map(names, func(name string) sample {
		return sample{figures.Dataset(name), curve.Batches / len(names), 1}
	})
}

// levelOn returns the mean p_opt of an approach on batches that score agents, with the agents' model of
// reconfiguration.
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

// levelsOn returns the levels of [unlearned].
func levelsOn(d *figures.Data, on []sample) []float64 {
	return figures.Map(unlearned, func(a approach) float64 { return levelOn(d, a, on) })
}

// besideLevels draws the curves of agents in a chart for each workload, beside printed values and the levels of
// schedulers that do not learn. Figure 13 lacks the panel of RODINIA + ALTIS, because the curves of FLOAT were not
// scored on kernels.
func (all curves) besideLevels(d *figures.Data, name, heading string, notes ...string) {
	t := d.Table(name, heading+": levels of p_opt [%]",
		reports.Left("workload").Right(namesOf(unlearned)...), notes...)
	figure := reports.Panels{Title: heading, Columns: 1}
	lines, claims := curvesOf(name)
	for len(lines) > 0 {
		panel := lines[0].Other // its lines follow one another
		next := figures.Count(lines, func(l learningRow) bool { return l.Other == panel })
		title := panel
		if strings.Contains(heading, panel) {
			title = ""
		}
		chart := all.chart(title, lines[:next])
		for _, l := range lines[:next] {
			if slices.Contains(namesOf(agents), l.Quantity) {
				addPublished(d, &chart, name, l)
			}
		}
		// The batches for the agents of measured kernels: one order of each subset of at least 14.
		kernels := figures.Dataset(rodinia.spec + "?part=1")
		on := []sample{{kernels, 100 * datasets.OrdersOfSubset, datasets.OrdersOfSubset}}
		if panel != rodinia.name { // the data sets that score agents whose names end in -classes
			on = figures.Map(curve.ClassOrdered(panel), func(name string) sample {
				return sample{figures.Dataset(name), curve.DataSets, 1}
			})
		}
		levels := levelsOn(d, on)
		for i, a := range unlearned {
			chart.Levels = append(chart.Levels, reports.Level{Name: a.name, Y: levels[i]})
		}
		t.Row(panel, reports.Cells(2, levels...))
		figure.Charts, lines = append(figure.Charts, chart), lines[next:]
	}
	all.read(d, name, claims)
	d.Figure(name, heading, figure)
}

// long shows one training of FLOAT that took five times as many steps as the others.
func (all curves) long(d *figures.Data) {
	run := all.of("rl-float-MIXSCALINGUNIFORM-released-classes")[0]
	all.besideLevels(d, "long", "FLOAT as released on MIXSCALINGUNIFORM, trained for longer",
		"one training run of 10 of the paper's 200 million steps with the settings of the public train.py: one "+
			"environment, 2048 steps, batches of 64, 10 epochs, a constant learning rate of 3e-4, and entropy 0.01, "+
			"where 6.5.1 and our other agents FLOAT have 0",
		"FLOAT: on the data sets of Table 4, tasks class by class, as FAR and FIXPART. FLOAT, random order: the same "+
			"agent on the 100 batches that score the other curves",
		fmt.Sprintf("FLOAT is between %.1f and %.1f %% at all points of its curve, and ends at %.1f %%; Table 4 "+
			"prints 85.49 %%", run.Least(), slices.Max(run.Scores), run.Final()))
}

func (all curves) figure13(d *figures.Data) {
	all.besideLevels(d, "figure13", "Fig. 13. Learning the mixed workloads with FLOAT",
		onSameBatches,
		"published in the figure: Table 4, after the paper's training",
		"RODINIA + ALTIS of the paper's figure is left out; its agents learn from WIDETIMES")
	for _, w := range synthetic { // no curve was scored on the batch of 2 tasks; Table 4 has the same agents on it
		end := agents[1].measure(d, w, &readings[byScriptAll])
		end.PrintSE = 0 // a sentence has none
		d.Under("all batches")[claim.Cell{Row: w.name, Quantity: "end"}] = end
	}
}

func (all curves) figure15(d *figures.Data) {
	all.besideLevels(d, "figure15", "Fig. 15. Learning with ENTROPY and with DIRECT RECONFIG",
		onSameBatches,
		"published in the figure: what the text reads off half-way and before the last quarter of the training",
		"RODINIA + ALTIS: learned from WIDETIMES, as in the paper; scored on full batches of 16 public kernels")
}

// onSameBatches is a note of tables that compare agents with schedulers.
const onSameBatches = "FAR and FIXPART: on the batches that score the agents, reconfiguring in parallel as they do. " +
	"FIXPART(1-1-1-1-1-1-1) and FIXPARTBEST, the best partition for each batch, never reconfigure. So a low p_opt " +
	"does not show that an agent reconfigures; the artefact reconfigures counts that"

// addPublished adds what the paper prints about a line: in Fig. 15 what the text reads off at two
// moments of the training, and otherwise the end of the training by Table 4.
func addPublished(d *figures.Data, chart *reports.Lines, figure string, l learningRow) {
	if figure != "figure15" {
		y := d.Claims.Published("table4", claim.Cell{Row: l.Other, Column: l.Quantity})
		chart.Levels = append(chart.Levels, reports.Level{Name: l.String() + " (published)", Y: y})
		return
	}
	ends := slices.Max(chart.Series[0].X)
	s := reports.Series{Name: l.String(), Published: true, Markers: true}
	for _, r := range []struct {
		name  string
		share float64
	}{{"half-way", 0.5}, {"before the last quarter", 0.75}} {
		at := claim.Cell{Row: l.Other, Column: l.Quantity, Quantity: r.name}
		s.X, s.Y = append(s.X, r.share*ends), append(s.Y, d.Claims.Published(figure, at))
	}
	chart.Series = append(chart.Series, s)
}
