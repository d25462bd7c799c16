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
	for set, cells := range figures.Under(d, allDays) {
		cells[claim.At("Original", "late")] = set.tight.level(d, originalAgent, late)
		cells[claim.At("Fast", "late")] = cells[claim.At("Original", "late")] // the table has one range for both
		cells[claim.At("Improved", "late")] = set.tight.level(d, improvedAgent, late)
		cells[claim.At("Relaxed", "late")] = set.relaxed.level(d, relaxedAgent, late)
		cells[claim.At("Enhanced", "late")] = set.relaxed.level(d, agent, late)
	}
	d.Under(firstNotebook.name)[claim.At("Original", "late")] = firstNotebook.tight.level(d, notebookAgent, late)
	d.Under(improvedResults)[claim.At("Improved", "late")] = reported.relaxed.level(d, relaxedAgent, late)
}

func table6(d *figures.Data) {
	for set, cells := range figures.Under(d, allDays) {
		for _, q := range []quantity{late, tardiness} {
			cells[claim.At("Original", q.name)] = set.tight.level(d, originalAgent, q)
			cells[claim.At("Enhanced", q.name)] = set.relaxed.level(d, agent, q)
			original := q.of(d, originalAgent, set.tight)
			cells[claim.Of(q.name+" improvement")] = set.relaxed.reduction(d, agent, q, original)
		}
	}
	for _, q := range []quantity{late, tardiness} {
		cells, original := d.Under(firstNotebook.name), q.of(d, notebookAgent, firstNotebook.tight)
		cells[claim.At("Original", q.name)] = firstNotebook.tight.level(d, notebookAgent, q)
		cells[claim.Of(q.name+" improvement")] = reported.relaxed.reduction(d, agent, q, original)
	}
	d.TakeInputs("The heuristics that the report compares with.",
		map[claim.Cell]float64{claim.Of("Baselines compared"): float64(len(methods))})
	t := arithmetic(d)
	lessThanOriginal := func(q quantity) string {
		return reports.Fixed(reduction(q.of(d, largest, reported.relaxed), q.of(d, originalAgent, reported.tight)), 1)
	}
	t.Notes = append(t.Notes, fmt.Sprintf("Largest-First under relaxed deadlines has %v %% fewer late jobs and %v "+
		"%% less tardiness than the original agent under tight ones", lessThanOriginal(late),
		lessThanOriginal(tardiness)))
}

// arithmetic derives the improvements of Table 6 from its other printed numbers.
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
	for set, cells := range figures.Under(d, allDays) {
		for _, s := range rows {
			set.row(d, cells, s, s, printed...)
		}
	}
	for _, s := range rows {
		reported.row(d, d.Under("energy charged rightly"), s, s, charged)
	}
	reported.row(d, d.Under("EFT by true durations"), eft, eftTrue, printed...)
	for training, cells := range figures.Under(d, otherTrainings) {
		reported.row(d, cells, agent, training.scheduler, printed...)
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

// row measures a row of Table 7: mean and standard deviation of quantities under relaxed deadlines. The row's scheduler
// is inTable; used is the one that runs.
func (set days) row(d *figures.Data, cells figures.Values, inTable, used *scheduler, quantities ...quantity) {
	for _, q := range quantities {
		cells[claim.At(inTable.title, q.name)] = set.relaxed.level(d, used, q)
		cells[claim.At(inTable.title, q.name+" std")] = set.relaxed.deviation(d, used, q)
	}
}

// digitsTable counts, by reading, the numbers of heuristics that equal the printed number in every digit.
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
	reductions := func(set days, cells figures.Values, s *scheduler) {
		for m, q := range figures.Each(methods, []quantity{late, tardiness}) {
			cells[claim.At(m.title, q.name+" reduction")] = set.relaxed.reduction(d, s, q, q.of(d, m, set.relaxed))
		}
	}
	for set, cells := range figures.Under(d, allDays) {
		reductions(set, cells, agent)
	}
	for training, cells := range figures.Under(d, otherTrainings) {
		reductions(reported, cells, training.scheduler)
	}
	columns := []claim.Cell{claim.Of("late reduction"), claim.Of("tardiness reduction")}
	d.Layout(d.Table("table8", "Table 8. The agent's improvement over heuristics [%]",
		reports.Left("baseline"),
		"a reduction is that of the mean over the days",
		runsNote(agent)), titles(methods), columns, d.Readings[0])
}

// table9 compares the agents with the best heuristic under both kinds of deadlines. The printed rows differ in
// deadlines, observation, reward and the settings of PPO at once.
func table9(d *figures.Data) {
	underTight := func(set days, cells figures.Values, s *scheduler) {
		cells[claim.Of("tight RL late")] = set.tight.level(d, s, late)
		cells[claim.Of("tight RL loses to the best heuristic by")] = set.tight.loss(d, s, methods)
	}
	for set, cells := range figures.Under(d, allDays) {
		underTight(set, cells, originalAgent)
		cells[claim.Of("relaxed RL late")] = set.relaxed.level(d, agent, late)
		cells[claim.Of("relaxed RL wins over the best heuristic by")] = set.relaxed.gain(d, agent, methods)
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
	for _, kind := range tightness {
		_, best := kind.theirs.extreme(d, late, methods, lowest)
		for _, s := range slices.Concat(agents, methods) {
			lateJobs, minutes := late.of(d, s, kind.theirs), tardiness.of(d, s, kind.theirs)
			t.Row(kind.name, s.title, reports.Fixed(figures.Mean(lateJobs), 2),
				reports.Fixed(figures.Mean(minutes), 3), reports.Fixed(-reduction(lateJobs, best), 1))
		}
	}
}

func table10(d *figures.Data) {
	for set, cells := range figures.Under(d, allDays) {
		loss, gain := set.tight.loss(d, originalAgent, methods), set.relaxed.gain(d, agent, methods)
		cells[claim.Of("tight deadlines, RL-PPO loses to the best heuristic by")] = loss
		cells[claim.Of("moderate deadlines, RL-PPO wins over the best heuristic by")] = gain
		cells[claim.Of("energy, Smallest-First less the best other heuristic")] = set.relaxed.lead(d, energy, smallest,
			methods, lowest)
		behind := set.relaxed.lead(d, late, smallest, methods, highest)
		cells[claim.Of("late, Smallest-First less the worst other heuristic")] = behind
	}
	lead := reported.relaxed.lead(d, charged, smallest, methods, lowest)
	d.Under("energy charged rightly")[claim.Of("energy, Smallest-First less the best other heuristic")] = lead
}

func text(d *figures.Data) {
	for set, cells := range figures.Under(d, allDays) {
		cells[claim.Of("steps of an episode")] = set.relaxed.level(d, largest, jobs)
		lead := set.relaxed.lead(d, late, largest, methods, lowest)
		cells[claim.Of("late, Largest-First less the best other heuristic")] = lead
		counts := figures.Map(late.runs(d, agent, set.relaxed), func(run []float64) []float64 {
			later := func(s *scheduler) bool { return figures.Mean(late.of(d, s, set.relaxed)) > figures.Mean(run) }
			return []float64{float64(figures.Count(methods, later))}
		})
		cells[claim.Of("heuristics that have more late jobs than RL-PPO")] = set.relaxed.training(d, evaluation, counts)
	}
	for set, cells := range figures.Under(d, []days{
		reportedDays(allRules), {allRules + ", 1000 of our days", relaxed, tight},
	}) {
		lead := set.relaxed.lead(d, late, largest, schedulers, lowest)
		cells[claim.Of("late, Largest-First less the best other heuristic")] = lead
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

// largestFirstExcess measures by how much Largest-First's tardiness under tight deadlines exceeds the lowest of the
// other rules.
func (set days) largestFirstExcess(d *figures.Data, cells figures.Values, rules []*scheduler) {
	tardy := set.tight.lead(d, tardiness, largest, rules, lowest)
	tardy.PrintSE = 0
	cells[claim.Of("tardiness, Largest-First less the best other rule")] = tardy
}

var bestLate = claim.Of("late with the best schedule found")

// tightDeadlines tests what 2.5.1 says about tight deadlines in general. The sentences are not about the report's
// evaluation, so that the default is a large sample of days, and the printed number has no sampling error. The best
// schedule has no more late jobs than any scheduler's, so that agents are readings, too.
func tightDeadlines(d *figures.Data) {
	for set, cells := range figures.Under(d, []days{{"", relaxed, tight}, reportedDays("the report's days")}) {
		best, v := set.tight.extreme(d, late, schedulers, lowest)
		fewest := set.tight.mean(d, v)
		fewest.Detail = "The scheduler with the fewest is " + best.title + "."
		fewest.PrintSE = 0
		cells[bestLate] = fewest
		set.largestFirstExcess(d, cells, methods)
	}
	for set, cells := range figures.Under(d, []days{
		{allRules, relaxed, tight}, reportedDays(allRules + ", the report's days"),
	}) {
		set.largestFirstExcess(d, cells, schedulers)
	}
	for set, cells := range figures.Under(d, []days{
		reportedDays("RL-PPO, the report's days"), {"RL-PPO, 100 of our days", relaxed, tight},
	}) {
		cells[bestLate] = set.tight.level(d, tightAgent, late)
	}
}
