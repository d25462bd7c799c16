package drl

// The artefacts that compare trainings with one another: all of them, and what the paper found about its modelling.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// training lists all trained agents in a table, and draws the curves of our own.
func (all curves) training(d *figures.Data) {
	t := d.Table("training", "All agents that the project trained",
		reports.Left("agent").Right("training runs", "million steps", "first score", "half-way", "end", "lowest",
			"steps to best").Left("curve"),
		"scores are means over training runs, of p_opt [%] where nothing else is said, with the likeliest actions "+
			"and from an empty GPU, on 100 batches of N tasks that are always the same: 50 as the text generates "+
			"them and 50 as the code with which the agents were trained; the paper's agents reconfigure in parallel "+
			"there, as in its environment",
		"training runs: those with a curve; other tables have fewer runs of some agents, those whose weights are kept",
		"figures: the mean over training runs, with a band from the least to the greatest",
		"curve: what it does over the last quarter of the training, as in seeds; too short: too few points to say",
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
	d.Figure("training", chart.Title, chart)
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
	return []string{
		shown, fmt.Sprint(len(runs)), mean(func(c *course) float64 { return c.Last() / 1e6 }),
		mean(func(c *course) float64 { return c.Scores[0] }),
		mean(func(c *course) float64 { return c.At(0.5 * c.Last()) }),
		mean((*course).Final), mean((*course).Least), mean(func(c *course) float64 { return c.Converges() / 1e6 }),
		all.trend(agent).Word(),
	}
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
func (all curves) seeds(d *figures.Data) {
	t := d.Table("seeds", "Final p_opt [%] by training run, and what the paper prints",
		reports.Left("workload", "agent").Right("training runs", "million steps", "run 1", "run 2", "run 3",
			"mean").PlusMinus("slope").Left("curve").Right("FAR", "FIXPART(1-1-1-1-1-1-1)", "FIXPARTBEST",
			"class by class", "FAR class by class", "published", "published FAR"),
		"mean: over all training runs, of which the first three are shown",
		"measured on 100 full batches of 14 tasks that are always the same, 50 of each reading of the generator, all "+
			"reconfiguring in parallel as in the paper's environment",
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
	all.read(d, "seeds", claims)
}

// ablations compares the paper's final agent with itself without one refinement (DRL 7).
func (all curves) ablations(d *figures.Data) {
	t := d.Table("ablations",
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
	all.read(d, "ablations", claims)
	for _, r := range d.Readings {
		for _, c := range claims {
			if c.Reading == r.Name {
				t.Row(cmp.Or(r.Name, figures.DefaultReading), c.Cell, reports.Cells(2, c.values(all)...),
					figures.PlusMinus(r.Values[c.Cell], 2),
					reports.Cells(2, all.returns(c.Agent), all.returns(c.Other)))
			}
		}
	}
	const heading = "Learning GOODSCALING without one refinement of the modelling"
	d.Figure("ablations", heading, all.chart(heading, lines))
}

// returns averages the return of an episode at the end of an agent's training.
func (all curves) returns(agent string) float64 {
	return figures.Mean(figures.Map(all.of(agent), func(c course) float64 { return c.Return }))
}

// finalCells returns the number of an agent's training runs, their steps, scores and mean, and the trend at the end.
func (all curves) finalCells(agent string) []string {
	runs := all.of(agent)
	ends := figures.Map(runs, func(c course) float64 { return c.Final() })
	shown := ends[:min(len(ends), mostSeeds)]
	trend := all.trend(agent)
	took := []string{fmt.Sprint(len(runs)), reports.Fixed(runs[0].Last()/1e6, 1)}
	return slices.Concat(took,
		reports.Cells(2, shown...), slices.Repeat([]string{reports.Missing}, mostSeeds-len(shown)),
		reports.Cells(2, figures.Mean(ends), trend.Slope, trend.Half), []string{trend.Word()})
}
