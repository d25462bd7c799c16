package deadline

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

func table2(d *figures.Data) {
	for w, to := range figures.Under(d, allDays) {
		to[claim.At("Original", "late")] = w.tight.level(d, originalAgent, late)
		to[claim.At("Fast", "late")] = to[claim.At("Original", "late")]
		to[claim.At("Improved", "late")] = w.tight.level(d, improvedAgent, late)
		to[claim.At("Relaxed", "late")] = w.relaxed.level(d, relaxedAgent, late)
		to[claim.At("Enhanced", "late")] = w.relaxed.level(d, agent, late)
	}
	d.Under(firstNotebook.name)[claim.At("Original", "late")] = firstNotebook.tight.level(d, notebookAgent, late)
	d.Under(improvedResults)[claim.At("Improved", "late")] = reported.relaxed.level(d, relaxedAgent, late)
}

func table6(d *figures.Data) {
	for w, to := range figures.Under(d, allDays) {
		for _, q := range []quantity{late, tardiness} {
			to[claim.At("Original", q.name)] = w.tight.level(d, originalAgent, q)
			to[claim.At("Enhanced", q.name)] = w.relaxed.level(d, agent, q)
			to[claim.Of(q.name+" improvement")] = w.relaxed.reduction(d, agent, q, q.of(d, originalAgent, w.tight))
		}
	}
	for _, q := range []quantity{late, tardiness} {
		to, original := d.Under(firstNotebook.name), q.of(d, notebookAgent, firstNotebook.tight)
		to[claim.At("Original", q.name)] = firstNotebook.tight.level(d, notebookAgent, q)
		to[claim.Of(q.name+" improvement")] = reported.relaxed.reduction(d, agent, q, original)
	}
	d.TakeInputs("The heuristics that the report compares with.",
		map[claim.Cell]float64{claim.Of("Baselines compared"): float64(len(methods))})
	t := arithmetic(d)
	of := func(q quantity) string {
		return reports.Fixed(reduction(q.of(d, largest, reported.relaxed), q.of(d, originalAgent, reported.tight)), 1)
	}
	t.Notes = append(t.Notes, fmt.Sprintf("Largest-First under relaxed deadlines has %v %% fewer late jobs and %v "+
		"%% less tardiness than the original agent under tight ones", of(late), of(tardiness)))
}

// arithmetic derives the improvements of Table 6 from its other numbers.
func arithmetic(d *figures.Data) *figures.Table {
	t := d.Table("table6", "The arithmetic of Table 6, from the printed numbers alone",
		reports.Left("quantity", "end of the range").Right("original", "enhanced", "less", "less [%]"),
		"an improvement is that of the enhanced agent under relaxed deadlines over the original one under tight "+
			"ones: of the same jobs, but not of the same problem",
		"of late jobs the table prints 52-58 %: 52 is the largest difference in points, and 58 the largest in percent",
		mayPreempt)
	for _, c := range d.Claims.Of("table6") {
		if c.Row != "Original" {
			continue
		}
		enhanced := d.Claims.Published("table7", claim.At("RL-PPO", c.Quantity))
		for i, original := range []float64{c.Published, c.To} {
			t.Row(c.Quantity+" ["+c.Unit+"]", []string{"lower", "upper"}[i], reports.Fixed(original, c.Decimals),
				reports.Cells(2, enhanced, original-enhanced), reports.Fixed(100*(1-enhanced/original), 1))
		}
	}
	return t
}

// otherTrainings are readings of the agent on the report's days: trained by the report's text, trained with the
// notebook's clock and whole days, and the first five training runs alone.
var otherTrainings = []otherTraining{
	{"training by the text", textAgent},
	{"whole days in float32", wholeAgent},
	{"the first five training runs", firstFive},
}

type otherTraining struct {
	name string
	*scheduler
}

func (t otherTraining) String() string { return t.name }

func table7(d *figures.Data) {
	rows, printed := append([]*scheduler{agent}, methods...), []quantity{late, tardiness, energy}
	for w, to := range figures.Under(d, allDays) {
		for _, s := range rows {
			w.row(d, to, s, s, printed...)
		}
	}
	for _, s := range rows {
		reported.row(d, d.Under("energy charged rightly"), s, s, charged)
	}
	reported.row(d, d.Under("EFT by true durations"), eft, eftTrue, printed...)
	for x, to := range figures.Under(d, otherTrainings) {
		reported.row(d, to, agent, x.scheduler, printed...)
	}
	var columns []claim.Cell
	for _, q := range printed {
		columns = append(columns, claim.Of(q.name), claim.Of(q.name+" std"))
	}
	d.Layout(d.Table("table7",
		"Table 7. Late jobs [%], tardiness [min] and energy [MW min] over the report's ten days",
		reports.Left("method"),
		"energies are printed with the unit MJ and are watt-minutes over 10^6; 2.48 of them are 149 MJ",
		runsNote(agent)), titles(rows), columns, d.Readings[0])
	digitsTable(d)
}

// row measures a row of Table 7: mean and standard deviation of quantities. used takes the place of the row's
// scheduler.
func (w days) row(d *figures.Data, to figures.Values, inTable, used *scheduler, quantities ...quantity) {
	for _, q := range quantities {
		to[claim.At(inTable.title, q.name)] = w.relaxed.level(d, used, q)
		to[claim.At(inTable.title, q.name+" std")] = w.relaxed.deviation(d, used, q)
	}
}

// digitsTable counts, by reading, the numbers of heuristics that equal print in every digit.
func digitsTable(d *figures.Data) {
	t := d.Table("table7-digits",
		"Numbers of Table 7 about heuristics that equal print in every digit",
		reports.Left("reading").Right("equal", "of"))
	for _, r := range d.Readings {
		n, equal := 0, 0
		for _, c := range d.Claims.Of("table7") {
			m, ok := r.Values[c.Cell]
			if !ok || c.Row == agent.title {
				continue
			}
			n++
			if reports.Fixed(m.Value, c.Decimals) == reports.Fixed(c.Published, c.Decimals) {
				equal++
			}
		}
		if n > 0 {
			t.Row(cmp.Or(r.Name, figures.DefaultReading), equal, n)
		}
	}
}

func table8(d *figures.Data) {
	reductions := func(w days, to figures.Values, s *scheduler) {
		for m, q := range figures.Each(methods, []quantity{late, tardiness}) {
			to[claim.At(m.title, q.name+" reduction")] = w.relaxed.reduction(d, s, q, q.of(d, m, w.relaxed))
		}
	}
	for w, to := range figures.Under(d, allDays) {
		reductions(w, to, agent)
	}
	for x, to := range figures.Under(d, otherTrainings) {
		reductions(reported, to, x.scheduler)
	}
	columns := []claim.Cell{claim.Of("late reduction"), claim.Of("tardiness reduction")}
	d.Layout(d.Table("table8", "Table 8. The agent's improvement over heuristics [%]",
		reports.Left("baseline"),
		"a reduction is that of the mean over the days",
		runsNote(agent)), titles(methods), columns, d.Readings[0])
}

// table9 compares the agent with the best heuristic under both kinds of deadlines. The printed
// rows differ in deadlines, observation, reward and the settings of PPO at once.
func table9(d *figures.Data) {
	underTight := func(w days, to figures.Values, s *scheduler) {
		to[claim.Of("tight RL late")] = w.tight.level(d, s, late)
		to[claim.Of("tight RL loses to the best heuristic by")] = w.tight.loss(d, s, methods)
	}
	for w, to := range figures.Under(d, allDays) {
		underTight(w, to, originalAgent)
		to[claim.Of("relaxed RL late")] = w.relaxed.level(d, agent, late)
		to[claim.Of("relaxed RL wins over the best heuristic by")] = w.relaxed.gain(d, agent, methods)
	}
	underTight(reported, d.Under("enhanced settings"), tightAgent)
	underTight(reported, d.Under("trained on relaxed deadlines"), agent)
	underTight(firstNotebook, d.Under(firstNotebook.name), notebookAgent)
	t := d.Table("table9", "Late jobs beside the best heuristic, the report's ten days",
		reports.Left("deadlines", "scheduler").Right("late [%]", "tardiness [min]", "above the best heuristic [%]"),
		"by how much the agent loses or wins is in percent of the best heuristic's late jobs, as the 11.7 % of Table "+
			"8 are",
		"if the agent is 85-90 % late under tight deadlines and loses by 5 %, the best heuristic of the report is "+
			"81-86 % late",
		runsNote(agents...))
	for _, k := range tightness {
		_, best := k.theirs.extreme(d, late, methods, lowest)
		for _, s := range slices.Concat(agents, methods) {
			own := late.of(d, s, k.theirs)
			t.Row(k.name, s.title, reports.Fixed(figures.Mean(own), 2),
				reports.Fixed(figures.Mean(tardiness.of(d, s, k.theirs)), 3), reports.Fixed(-reduction(own, best), 1))
		}
	}
}

func table10(d *figures.Data) {
	for w, to := range figures.Under(d, allDays) {
		to[claim.Of("tight deadlines, RL-PPO loses to the best heuristic by")] = w.tight.loss(d, originalAgent, methods)
		to[claim.Of("moderate deadlines, RL-PPO wins over the best heuristic by")] = w.relaxed.gain(d, agent, methods)
		to[claim.Of("energy, Smallest-First less the best other heuristic")] = w.relaxed.lead(d, energy, smallest,
			methods, lowest)
		behind := w.relaxed.lead(d, late, smallest, methods, highest)
		to[claim.Of("late, Smallest-First less the worst other heuristic")] = behind
	}
	lead := reported.relaxed.lead(d, charged, smallest, methods, lowest)
	d.Under("energy charged rightly")[claim.Of("energy, Smallest-First less the best other heuristic")] = lead
}

func text(d *figures.Data) {
	for w, to := range figures.Under(d, allDays) {
		to[claim.Of("steps of an episode")] = w.relaxed.level(d, largest, jobs)
		lead := w.relaxed.lead(d, late, largest, methods, lowest)
		to[claim.Of("late, Largest-First less the best other heuristic")] = lead
		counts := figures.Map(late.runs(d, agent, w.relaxed), func(run []float64) []float64 {
			later := func(s *scheduler) bool { return figures.Mean(late.of(d, s, w.relaxed)) > figures.Mean(run) }
			return []float64{float64(figures.Count(methods, later))}
		})
		to[claim.Of("heuristics that have more late jobs than RL-PPO")] = w.relaxed.training(d, evaluation, counts)
	}
	for w, to := range figures.Under(d, []days{
		reportedDays(allRules), {allRules + ", 1000 of our days", relaxed, tight},
	}) {
		lead := w.relaxed.lead(d, late, largest, schedulers, lowest)
		to[claim.Of("late, Largest-First less the best other heuristic")] = lead
	}
	fleet := reported.relaxed.day().Fleet
	d.Readings[0].Values[claim.Of("slices of the GPUs")] = figures.Exactly(fleet.Slices())
	d.Readings[0].Values[claim.Of("partitions of A100")] = figures.Exactly(len(mig.MustLookup(gpu).Partitions()))
	least, most := relaxed.slackRange()
	d.TakeInputs("A parameter of the job generator or the fleet.", map[claim.Cell]float64{
		claim.Of("GPUs"):                    float64(len(fleet.Partitions)),
		claim.Of("least relaxed slack"):     least,
		claim.Of("largest relaxed slack"):   most,
		claim.Of("share of inference jobs"): 100 * datasets.InferenceShare,
		claim.Of("share of training jobs"):  100 * (1 - datasets.InferenceShare),
	})
}

// leastTardy measures by how much the tardiness of Largest-First exceeds the lowest of the other rules.
func (w days) leastTardy(d *figures.Data, to figures.Values, rules []*scheduler) {
	tardy := w.tight.lead(d, tardiness, largest, rules, lowest)
	tardy.PrintSE = 0
	to[claim.Of("tardiness, Largest-First less the best other rule")] = tardy
}

var bestLate = claim.Of("late with the best schedule found")

// tightDeadlines tests what 2.5.1 says about tight deadlines in general. That does not come from an
// evaluation, so that the default is a large sample of days, and print has no sampling error. Agents are further
// schedules that the optimum cannot be worse than.
func tightDeadlines(d *figures.Data) {
	for w, to := range figures.Under(d, []days{{"", relaxed, tight}, reportedDays("the report's days")}) {
		best, v := w.tight.extreme(d, late, schedulers, lowest)
		fewest := w.tight.mean(d, v)
		fewest.Detail = "The scheduler with the fewest is " + best.title + "."
		fewest.PrintSE = 0
		to[bestLate] = fewest
		w.leastTardy(d, to, methods)
	}
	for w, to := range figures.Under(d, []days{
		{allRules, relaxed, tight}, reportedDays(allRules + ", the report's days"),
	}) {
		w.leastTardy(d, to, schedulers)
	}
	for w, to := range figures.Under(d, []days{
		reportedDays("RL-PPO, the report's days"), {"RL-PPO, 100 of our days", relaxed, tight},
	}) {
		to[bestLate] = w.tight.level(d, tightAgent, late)
	}
}
