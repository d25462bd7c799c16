package drl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"miglab/algorithms/rl/train/curve"
	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
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

// enough returns the number of an agent's runs with at least [enoughSteps].
func (all curves) enough(agent string) int {
	return figures.Count(all.of(agent), func(c course) bool { return c.Last() >= enoughSteps })
}

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
		steps := share * min(runs[0].Last(), runs[1].Last())
		return runs[0].At(steps) - runs[1].At(steps)
	}
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
func (all curves) read(d *figures.Data, artefact string, claims []learningRow) *figures.Output {
	paperRuns := map[claim.Cell]int{} // behind the printed number
	for _, c := range d.Claims.Of(artefact) {
		if c.Kind == claim.Printed {
			paperRuns[c.Cell] = 1
		}
	}
	out := figures.Read()
	for _, c := range claims {
		values := c.values(all)
		if c.Shows == lessFAR {
			floats.AddConst(-levelOn(d, far, scoredOn(c.Other, batchSize)), values)
		}
		out.Under(c.Reading)[c.Cell] = overTraining(d, values, paperRuns[c.Cell], c.agents()...)
	}
	return out
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

// lessFAR is the end of a training less FAR's p_opt on the batches that score agents.
const lessFAR = "end less FAR"

func final(runs []*course) float64 { return runs[0].Final() }

// quantities maps the name of a quantity to its measurement on a run of each agent of a claim.
var quantities = map[string]func(runs []*course) float64{
	"end":                       final,
	lessFAR:                     final,
	"half-way":                  scoreAt(0.5),
	"before the last quarter":   scoreAt(0.75),
	"difference at the end":     leadAfter(1),
	"difference half-way":       leadAfter(0.5),
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
func (all curves) learning(name, heading string) func(*figures.Data) (*figures.Output, error) {
	return func(d *figures.Data) (*figures.Output, error) {
		lines, claims := curvesOf(name)
		return all.read(d, name, claims).Figure(name, heading, all.chart(heading, lines)), nil
	}
}

// figure12 also shows FAR's p_opt on the batches of each size.
func (all curves) figure12(d *figures.Data) (*figures.Output, error) {
	levels := figures.NewTable("figure12", "p_opt [%] of FAR on the batches of Fig. 12",
		reports.Right("N", "FAR"),
		"each agent is scored on batches of its own N tasks; FAR on the same ones, reconfiguring in parallel as the "+
			"agents do")
	for _, size := range []int{7, batchSize, 21, 28} {
		levels.Row(size, reports.Fixed(levelOn(d, far, scoredOn(goodScaling, size)), 2))
	}
	out, err := all.learning("figure12", "Fig. 12. Learning GOODSCALING by batch size N, M = 14")(d)
	return out.Table(levels), err
}

// training lists all trained agents in a table, and draws the curves of our own.
func (all curves) training(d *figures.Data) (*figures.Output, error) {
	t := figures.NewTable("training", "All agents that the project trained",
		reports.Left("agent", "learner").Right("training runs", "million steps", "updates", "first score",
			"half-way", "end", "lowest", "steps to best").Left("curve"),
		"scores are means over training runs, of p_opt [%] where nothing else is said, with the likeliest actions "+
			"and from an empty GPU, on 100 batches of N tasks that are always the same: 50 as the text generates "+
			"them and 50 as the code with which the agents were trained; the paper's agents reconfigure in parallel "+
			"there, as in its environment",
		"figures: the mean over training runs, with a band from the least to the greatest",
		"updates: gradient steps of a training run; curve: what it does over the last quarter of the training, as in "+
			"seeds; too short: too few points to say",
		"steps to best: million steps until the score is within a tenth of the lowest",
		"agents are named by what they learn from: agent-ANY from all workloads, half of the batches by each reading "+
			"of the generator",
		"agent-*: the project's own, scored with sequential reconfiguration; rl-online-*: scored on batches of 56 "+
			"tasks",
		"rl-deadline-*: of the deadline report, scored by the share of late jobs; d3qn and d3qn-own: of the "+
			"hierarchical paper, by the relative throughput",
		"*-rodinia: scored on full batches of the public Rodinia kernels",
		"*-classes: the same training runs as without, scored on 98 full batches of the data sets of Table 4",
		"*-dqn*: trained in segments, each of which begins with an empty replay buffer; a curve has a point at the "+
			"end of each")
	var own, further []learningRow
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Rows = append(t.Rows, all.trainingRow(name))
		if workload, ours := strings.CutPrefix(name, "agent-"); ours {
			row := learningRow{Cell: claim.Of(workload), Agent: name}
			if all.of(name)[0].Last() < enoughSteps {
				further = append(further, row)
			} else {
				own = append(own, row)
			}
		}
	}
	chart := reports.Panels{Title: "Learning of our own agents, by what they learn from", Columns: 1}
	for _, part := range []reports.Lines{
		all.chart("Trained from the beginning, on all workloads", own),
		all.chart("Then trained further, each on one workload", further),
	} {
		part.X.Label = "Training steps [million]"
		chart.Charts = append(chart.Charts, part)
	}
	return new(figures.Output).Table(t).Figure("training", chart.Title, chart), nil
}

func (all curves) trainingRow(agent string) []string {
	runs := all.of(agent)
	mean := func(value func(*course) float64) string {
		return reports.Fixed(figures.Mean(figures.Map(runs, func(c course) float64 { return value(&c) })), 2)
	}
	shown := agent
	if strings.HasPrefix(agent, "rl-deadline-") {
		shown += ", late [%]"
	}
	by := learners()[agent]
	return []string{
		shown, by.Learner, fmt.Sprint(len(runs)), mean(func(c *course) float64 { return c.Last() / 1e6 }), by.Updates,
		mean(func(c *course) float64 { return c.Scores[0] }),
		mean(func(c *course) float64 { return c.At(0.5 * c.Last()) }),
		mean((*course).Final), mean((*course).Least), mean(func(c *course) float64 { return c.Converges() / 1e6 }),
		all.trend(agent).Word(),
	}
}

// A learner is a row of learners.csv, beside the curves: the learner of an agent and its gradient steps.
type learner struct {
	Agent   string `csv:"agent"`
	Learner string `csv:"learner"`
	Updates string `csv:"updates"`
}

// learners maps the name of an agent to its learner. A test of package train compares them with the recipes.
var learners = sync.OnceValue(func() map[string]learner {
	out := map[string]learner{}
	for _, l := range strictcsv.Embedded[learner](curve.LearnersFile, "learners.csv") {
		out[l.Agent] = l
	}
	return out
})

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

// scoredOnKernels are the batches for the agents of measured kernels: one order of each subset of at least 14.
var scoredOnKernels = []sample{{
	figures.Dataset(rodinia.spec + "?part=1"), 100 * datasets.OrdersOfSubset, datasets.OrdersOfSubset,
}}

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
func (all curves) besideLevels(d *figures.Data, name, heading string, notes ...string) (*figures.Output, error) {
	t := figures.NewTable(name, heading+": levels of p_opt [%]",
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
		on := scoredOnKernels
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
	return all.read(d, name, claims).Table(t).Figure(name, heading, figure), nil
}

// long shows one training of FLOAT that took five times as many steps as the others.
func (all curves) long(d *figures.Data) (*figures.Output, error) {
	run := all.of("rl-float-MIXSCALINGUNIFORM-released-classes")[0]
	return all.besideLevels(d, "long", "FLOAT as released on MIXSCALINGUNIFORM, trained for longer",
		"one training run with the settings of the public train.py: one environment, 2048 steps, batches of 64, 10 "+
			"epochs, a constant learning rate of 3e-4, entropy 0.01. It took 10 of the paper's 200 million steps",
		"FLOAT: on the data sets of Table 4, tasks class by class, as FAR and FIXPART. FLOAT, random order: the same "+
			"agent on the 100 batches that score the other curves",
		fmt.Sprintf("FLOAT is between %.1f and %.1f %% at all points of its curve, and ends at %.1f %%; Table 4 prints "+
			"85.49 %%", run.Least(), slices.Max(run.Scores), run.Final()))
}

func (all curves) figure13(d *figures.Data) (*figures.Output, error) {
	return all.besideLevels(d, "figure13", "Fig. 13. Learning the mixed workloads with FLOAT",
		onSameBatches,
		"published in the figure: Table 4, after the paper's training",
		"RODINIA + ALTIS of the paper's figure is left out; its agents learn from WIDETIMES")
}

func (all curves) figure15(d *figures.Data) (*figures.Output, error) {
	return all.besideLevels(d, "figure15", "Fig. 15. Learning with ENTROPY and with DIRECT RECONFIG",
		onSameBatches,
		"published in the figure: what the text reads off half-way through the paper's training and before its last "+
			"quarter",
		"RODINIA + ALTIS: learned from WIDETIMES, as in the paper, and scored on full batches of the 16 public "+
			"Rodinia kernels")
}

// onSameBatches is a note of tables that compare agents with schedulers.
const onSameBatches = "FAR and FIXPART: on the batches on which the agents are scored, reconfiguring in parallel " +
	"as they do; FIXPART(1-1-1-1-1-1-1) and FIXPARTBEST, the best partition for each batch, never reconfigure: " +
	"p_opt as low as theirs can be reached without, and a lower one by taking tasks in another order than that of " +
	"arrival, so that the table reconfigures says whether agents reconfigure, and p_opt does not"

// addPublished adds what the paper prints about a line: in Fig. 15 what the text reads off at two
// moments of the training, and otherwise the end of the training by Table 4.
func addPublished(d *figures.Data, chart *reports.Lines, figure string, l learningRow) {
	if figure != "figure15" {
		chart.Levels = append(chart.Levels,
			reports.Level{
				Name: l.String() + " (published)",
				Y:    d.Claims.Published("table4", claim.Cell{Row: l.Other, Column: l.Quantity}),
			})
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

// released ends the names of agents with the settings of the released learner.
const released = "-released"

// differing are the agents that were trained with something changed, by the end of their names.
var differing = []struct{ suffix, says string }{
	{"", ""},
	{"-long", ", five times as long"},
	{released, ", as released"},
	{"-dqn", ", by DQN"},
	{"-empty", ", from an idle GPU"},
	{"-short", ", batches of 1 to 14"},
}

// mostSeeds is the number of runs that the table of final scores shows; its mean is over all.
const mostSeeds = 3

// seeds compares final scores over training runs: what the paper found about its modelling on the mixed workloads.
func (all curves) seeds(d *figures.Data) (*figures.Output, error) {
	t := figures.NewTable("seeds", "Final p_opt [%] by training run, and what the paper prints",
		reports.Left("workload", "agent").Right("training runs", "million steps", "updates", "run 1", "run 2",
			"run 3", "mean").PlusMinus("slope").Left("curve").Right("FAR", "FIXPART(1-1-1-1-1-1-1)", "FIXPARTBEST",
			"class by class", "FAR class by class", "published", "published FAR"),
		"mean: over all training runs, of which the first three are shown",
		"measured on 100 full batches of 14 tasks that are always the same, 50 of each reading of the generator, all "+
			"reconfiguring in parallel as in the paper's environment",
		"updates: gradient steps of a training run",
		"class by class: the same agents and FAR in the default reading of Table 4, its data sets with tasks class "+
			"by class, where FAR reconfigures one instance at a time. The weights of most agents that were trained "+
			"with something changed, of those as released too, are no part of the program, so that the table has "+
			"none of them there",
		onSameBatches,
		"slope: how p_opt changes in a million steps over the last quarter of the training, by least squares with "+
			"one slope for all runs, ± half of its 95 % confidence interval; the learning rate falls to 0 at the end, "+
			"except as released, so that a curve flattens by itself, and longer trainings are the better evidence",
		"as released: the environment, the learner's settings and the generator of the public code, with a constant "+
			"learning rate",
		"published: Table 4, after 200 million steps")
	for _, w := range synthetic {
		levels := levelsOn(d, scoredOn(w.name, batchSize))
		for a, differs := range figures.Each(agents, differing) {
			if name := a.curve(w) + differs.suffix; len(all[name]) > 0 {
				classes := reports.Missing
				if differs.suffix == "" {
					classes = reports.Fixed(a.measure(d, w, &readings[byScript]).Value, 2)
				}
				t.Row(w, a.name+differs.says, all.finalCells(name), reports.Cells(2, levels...), classes,
					reports.Fixed(far.measure(d, w, &readings[byScript]).Value, 2),
					reports.Cells(2, printed4(d, w, a), printed4(d, w, far)))
			}
		}
	}
	_, claims := curvesOf("seeds")
	return all.read(d, "seeds", claims).Table(t), nil
}

// ablations compares the paper's final agent with itself without one refinement (DRL 7).
func (all curves) ablations(d *figures.Data) (*figures.Output, error) {
	t := figures.NewTable("ablations",
		"p_opt that DIRECT RECONFIG loses without one refinement of its modelling, in points",
		reports.Left("reading", "difference").Right("run 1", "run 2", "run 3").PlusMinus("mean").
			Right("return", "return, with"),
		"each agent learns for 2 million steps, the paper's for 200 million; run: p_opt of the agent without the "+
			"refinement less that of the full agent with the same seed, on the same 100 batches; above 0, the "+
			"refinement helps",
		"canonical batch: without it, the tasks are shown one by one in order of arrival, neither sorted nor grouped "+
			"into classes; merged partitions: without them, the agent sees 16 partitions in place of 13, and slices "+
			"under their real names",
		"masked actions: without them, the agent learns with every action allowed, and one that cannot be carried "+
			"out changes nothing and costs as much as waiting for the longest task of the batch (mild penalty: a "+
			"tenth of it); its p_opt is measured with masks, so that it can end at all",
		"return: the mean reward of an episode in the last fortieth of the training, without the refinement and with "+
			"it, in units of the longest task; actions are drawn, and penalties are in it")
	lines, claims := curvesOf("ablations")
	out := all.read(d, "ablations", claims)
	for _, r := range out.Readings {
		for _, c := range claims {
			if c.Reading == r.Name {
				t.Row(cmp.Or(r.Name, figures.DefaultReading), c.Cell, reports.Cells(2, c.values(all)...),
					figures.PlusMinus(r.Values[c.Cell], 2),
					reports.Cells(2, all.returns(c.Agent), all.returns(c.Other)))
			}
		}
	}
	const heading = "Learning GOODSCALING without one refinement of the modelling"
	return out.Table(t).Figure("ablations", heading, all.chart(heading, lines)), nil
}

// returns averages the return of an episode at the end of an agent's training.
func (all curves) returns(agent string) float64 {
	return figures.Mean(figures.Map(all.of(agent), func(c course) float64 { return c.Return }))
}

// finalCells returns an agent's training steps and updates, its runs, their mean, and the trend at the end.
func (all curves) finalCells(agent string) []string {
	runs := all.of(agent)
	ends := figures.Map(runs, func(c course) float64 { return c.Final() })
	shown := ends[:min(len(ends), mostSeeds)]
	trend := all.trend(agent)
	took := []string{fmt.Sprint(len(runs)), reports.Fixed(runs[0].Last()/1e6, 1), learners()[agent].Updates}
	return slices.Concat(took,
		reports.Cells(2, shown...), slices.Repeat([]string{reports.Missing}, mostSeeds-len(shown)),
		reports.Cells(2, figures.Mean(ends), trend.Slope, trend.Half), []string{trend.Word()})
}

// kept compares DIRECT RECONFIG with itself under what may keep it on one partition, and with schedulers on the batches
// on which it is scored.
func (all curves) kept(d *figures.Data) (*figures.Output, error) {
	t := figures.NewTable("kept",
		"p_opt of DIRECT RECONFIG on WIDETIMES and the share of batches that it runs on one partition, by what may "+
			"keep it there [%]",
		reports.Left("agent").Right("training runs").PlusMinus("p_opt", "half-way", "on one partition"),
		"each agent learns for 2 million steps; means over training runs and half of the 95 % interval over them; "+
			"on the 100 batches in random order that score the learning curves; half-way: on one partition, after "+
			"half of the training",
		"more exploration: an entropy coefficient of 0.05, which falls to 0 in the second half; rewards in levels: "+
			"14 times as large, as in the released code; a task between: a second reconfiguration is forbidden "+
			"until a task has been executed",
		"FAR, agent (ours, trained on all workloads) and treedp, which is the nearest to the optimum: on the same "+
			"batches")
	lines, _ := curvesOf("kept")
	for _, l := range lines {
		runs := all[l.Agent]
		if len(runs) == 0 {
			continue
		}
		over := func(of func(course) float64) []string {
			return figures.PlusMinus(d.MeanOf(figures.Map(runs, of), verdict.TrainingRuns, 0), 1)
		}
		t.Row(l.Cell, len(runs), over(func(c course) float64 { return c.Final() }),
			over(func(c course) float64 { return c.Kept[len(c.Kept)/2] }),
			over(func(c course) float64 { return c.Kept[len(c.Kept)-1] }))
	}
	on, r := scoredOn(wideTimes, batchSize), &reading{model: mig.Parallel}
	for _, a := range []approach{far, ourAgent, {name: "treedp", algorithm: "treedp"}} {
		share := ""
		if a.name == ourAgent.name {
			var kept []float64
			for _, s := range on {
				for _, destroys := range d.Values(r.series(s.data, a.algorithm), s.count, "destroys") {
					kept = append(kept, onOnePartition(destroys, 0))
				}
			}
			share = reports.Fixed(figures.Mean(kept), 1)
		}
		t.Row(a.name, "", reports.Fixed(levelOn(d, a, on), 1), slices.Repeat([]string{""}, 3), share, "")
	}
	return new(figures.Output).Table(t), nil
}
