package deadline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// energyReadings measures claims of the agents with energy in the reward. The released code
// charges for energy; the report does not mention it.
func energyReadings(measure func(w *days, to figures.Values, s *scheduler)) []figures.Reading {
	of := func(s *scheduler, basis string) figures.Reading {
		return as(s.title, basis).reading(func(w *days, to figures.Values) { measure(w, to, s) })
	}
	return []figures.Reading{
		of(releasedAgent, "an agent that pays for energy as the released loop charges it"),
		of(energyAgent, "an agent that pays for the energy that was used"),
	}
}

// table7 has the report's main results.
func table7(d *figures.Data) (*figures.Output, error) {
	rows, printed := append([]*scheduler{agent}, methods...), []quantity{late, tardiness, energy}
	all := func(quantities ...quantity) func(w *days, to figures.Values) {
		return func(w *days, to figures.Values) {
			for _, m := range rows {
				w.row(d, to, m.title, m, quantities)
			}
		}
	}
	rs := append(readings(all(printed...)),
		as("energy charged rightly", "the report's days; a slice is busy until its job completes, also in the interval before").reading(all(charged)),
		as("EFT by true durations", "the report's days; EFT as its name says, by the durations on each size").reading(func(w *days, to figures.Values) {
			w.row(d, to, eft.title, eftTrue, printed)
		}))
	rs = append(rs, energyReadings(func(w *days, to figures.Values, s *scheduler) { w.row(d, to, agent.title, s, printed) })...)
	columns := []string{"late", "late std", "tardiness", "tardiness std", "energy", "energy std"}
	layout := d.Layout("table7", "Table 7. Late jobs [%], tardiness [min] and energy [MW min] over the report's ten days", "method", titles(rows), columns, rs[0])
	layout.Notes = append(layout.Notes, "energies are printed with the unit MJ and are watt-minutes over 10^6; 2.48 of them are 149 MJ",
		"one training run of the agent")
	return figures.Read(rs...).Table("table7", layout).Table("table7-digits", digitsTable(d.Claims, rs)).Table("table7-joules", joulesTable(d, rows)), nil
}

// row measures what Table 7 prints of some quantities, under the name of a row.
func (w *days) row(d *figures.Data, to figures.Values, row string, s *scheduler, quantities []quantity) {
	for _, q := range quantities {
		to[row+" "+q.name] = w.level(d, s, q, w.relaxed)
		to[row+" "+q.name+" std"] = w.deviation(d, s, q, w.relaxed)
	}
}

// digitsTable counts, by reading, the numbers of heuristics that equal print in every digit.
func digitsTable(claims *figures.Claims, rs []figures.Reading) reports.Table {
	t := reports.Table{
		Title:   "Numbers of Table 7 about heuristics that equal print in every digit",
		Columns: reports.Left("reading").Right("equal", "of"),
	}
	for _, r := range rs {
		n, equal := 0, 0
		for _, c := range claims.Of("table7") {
			m, ok := r.Values[c.Name]
			if !ok || strings.HasPrefix(c.Name, agent.title) {
				continue
			}
			n++
			if reports.Fixed(m.Value, c.Decimals) == reports.Fixed(c.Published, c.Decimals) {
				equal++
			}
		}
		if n > 0 {
			t.Rows = append(t.Rows, []string{cmp.Or(r.Name, figures.DefaultReading), strconv.Itoa(equal), strconv.Itoa(n)})
		}
	}
	return t
}

// joulesTable gives the energies of Table 7 in their true unit.
func joulesTable(d *figures.Data, rows []*scheduler) reports.Table {
	return reports.Table{
		Title:   "Energy of Table 7 in joules, the report's ten days",
		Columns: reports.Left("method").Right("as released [MJ]", "charged rightly [MJ]", "difference [%]"),
		Notes: []string{
			"as released: an interval before a completion is charged as if the completing slices had been free; charged rightly: they are busy until then",
		},
		Rows: figures.Map(rows, func(m *scheduler) []string {
			released, rightly := theirs.level(d, m, megajoulesAsReleased, theirs.relaxed).Value, theirs.level(d, m, megajoules, theirs.relaxed).Value
			return []string{m.title, reports.Fixed(released, 1), reports.Fixed(rightly, 1), reports.Fixed((rightly/released-1)*100, 1)}
		}),
	}
}

// table8 compares the agent with each heuristic.
func table8(d *figures.Data) (*figures.Output, error) {
	reductions := func(w *days, to figures.Values, s *scheduler) {
		for m, q := range figures.Each(methods, []quantity{late, tardiness}) {
			to[m.title+" "+q.name+" reduction"] = w.reduction(d, s, q, w.relaxed, q.of(d, m, w.relaxed, w.n))
		}
	}
	rs := append(readings(func(w *days, to figures.Values) { reductions(w, to, agent) }), energyReadings(reductions)...)
	layout := d.Layout("table8", "Table 8. The agent's improvement over heuristics [%]", "baseline", titles(methods), []string{"late reduction", "tardiness reduction"}, rs[0])
	layout.Notes = append(layout.Notes, "a reduction is that of the mean over the days; one training run")
	return figures.Read(rs...).Table("table8", layout).Table("table8-paired", pairedTable(d)), nil
}

// pairedTable lists the differences behind Table 8 over many days.
func pairedTable(d *figures.Data) reports.Table {
	t := reports.Table{
		Title: fmt.Sprintf("The agent less each heuristic, over %d of our days", d.Scale.Replicates(many)),
		Columns: reports.Left("baseline", "quantity", "unit").Right(agent.title, "baseline's").PlusMinus("difference").
			Beside("reduction [%]", "published"),
		Notes: []string{"± is half the 95 % interval of the difference, which is paired by day; one training run, and the spread between training runs is not in it"},
	}
	for m, c := range figures.Each(methods, []column{{"%", late, 2}, {"min", tardiness, 3}}) {
		own, base := c.of(d, agent, relaxed, many), c.of(d, m, relaxed, many)
		t.Rows = append(t.Rows, slices.Concat(
			[]string{m.title, c.name, c.heading, reports.Fixed(figures.Mean(own), c.decimals), reports.Fixed(figures.Mean(base), c.decimals)},
			c.difference(d, agent, m, relaxed, many),
			[]string{reports.Fixed(reduction(own, base), 2), reports.Fixed(d.Claims.Published("table8", m.title+" "+c.name+" reduction"), 1)}))
	}
	return t
}

// table9 compares the agent with the best heuristic under both kinds of deadlines. The printed
// rows differ in deadlines, observation, reward and the settings of PPO at once.
func table9(d *figures.Data) (*figures.Output, error) {
	underTight := func(w *days, to figures.Values, s *scheduler) {
		to["tight RL late"] = w.level(d, s, late, w.tight)
		to["tight RL loses to the best heuristic by"] = negative(w.gain(d, s, w.tight))
	}
	rs := readings(func(w *days, to figures.Values) {
		underTight(w, to, originalAgent)
		to["relaxed RL late"] = w.level(d, agent, late, w.relaxed)
		to["relaxed RL wins over the best heuristic by"] = w.gain(d, agent, w.relaxed)
	})
	rs = append(rs,
		as("enhanced settings", "only the deadlines differ between the two rows").reading(func(w *days, to figures.Values) { underTight(w, to, tightAgent) }),
		as("trained on relaxed deadlines", "the best agent, which has not seen tight deadlines").reading(func(w *days, to figures.Values) { underTight(w, to, agent) }))
	t := reports.Table{
		Title:   "Late jobs beside the best heuristic, the report's ten days",
		Columns: reports.Left("deadlines", "scheduler").Right("late [%]", "tardiness [min]", "above the best heuristic [%]"),
		Notes: []string{
			"by how much the agent loses or wins is in percent of the best heuristic's late jobs, as the 11.7 % of Table 8 are",
			"if the agent is 85-90 % late under tight deadlines and loses by 5 %, the best heuristic of the report is 81-86 % late",
		},
	}
	for _, k := range tightness {
		dataset := k.of(&theirs)
		_, best := late.extreme(d, dataset, evaluation, methods, lowest)
		for _, s := range append(slices.Clone(agents), methods...) {
			own := late.of(d, s, dataset, evaluation)
			t.Rows = append(t.Rows, []string{
				k.name, s.title, reports.Fixed(figures.Mean(own), 2),
				reports.Fixed(figures.Mean(tardiness.of(d, s, dataset, evaluation)), 3), reports.Fixed(-reduction(own, best), 1),
			})
		}
	}
	return figures.Read(rs...).Table("table9", t), nil
}

// negative turns a gain into a loss.
func negative(m figures.Measurement) figures.Measurement {
	m.Value, m.Low, m.High = -m.Value, -m.High, -m.Low
	return m
}

// table10 tests the report's recommendations.
func table10(d *figures.Data) (*figures.Output, error) {
	const variable = "variable workloads, RL-PPO adapts better than heuristics"
	out := figures.Read(readings(func(w *days, to figures.Values) {
		to["tight deadlines, RL-PPO loses to the best heuristic by"] = negative(w.gain(d, originalAgent, w.tight))
		to["moderate deadlines, RL-PPO wins over the best heuristic by"] = w.gain(d, agent, w.relaxed)
		to["energy, Smallest-First less the best other heuristic"] = w.lead(d, energy, w.relaxed, smallest, methods, lowest)
		to["late, Smallest-First less the worst other heuristic"] = w.lead(d, late, w.relaxed, smallest, methods, highest)
	})...)
	out.Missing = map[string]string{variable: "The report says neither what a variable workload is nor how the schedulers fare on one."}
	return out, nil
}

// lead measures by how much a heuristic exceeds the lowest or highest of the others.
func (w *days) lead(d *figures.Data, q quantity, dataset string, s *scheduler, among []*scheduler, which end) figures.Measurement {
	rival, less := q.lead(d, dataset, w.n, s, among, which)
	m := w.mean(d, less)
	m.Detail = fmt.Sprintf("The other one is %s.", rival.title)
	return m
}

// text judges what the report says outside its tables.
func text(d *figures.Data) (*figures.Output, error) {
	rs := readings(func(w *days, to figures.Values) { w.statements(d, to) })
	all := slices.Concat(figures.Instance[task.Queue](theirs.relaxed, "A100", 0).Fleet.Partitions...)
	rs[0].Values["slices of the GPUs"] = figures.Exactly(float64(len(all)))
	rs[0].Values["partitions of A100"] = figures.Exactly(float64(len(mig.MustLookup("A100").Partitions())))
	out := figures.Read(rs...)
	out.Taken = "A parameter of the job generator or the fleet."
	return out, nil
}

// statements measures what the report says about its evaluation in words.
func (w *days) statements(d *figures.Data, to figures.Values) {
	to["steps of an episode"] = w.level(d, largest, jobs, w.relaxed)
	to["late, Largest-First less the best other heuristic"] = w.lead(d, late, w.relaxed, largest, methods, lowest)
	to["heuristics that have more late jobs than RL-PPO"] = w.training(d, agent, evaluation, func(i int) []float64 {
		own := figures.Mean(late.run(d, agent, i, w.relaxed, w.n))
		more := func(s *scheduler) bool { return figures.Mean(late.of(d, s, w.relaxed, w.n)) > own }
		return []float64{float64(figures.Count(methods, more))}
	})
}

// tightDeadlines tests what 2.5.1 says about tight deadlines in general. That is no result of an
// evaluation, so that the default is a large sample of days, and print has no sampling error.
func tightDeadlines(d *figures.Data) (*figures.Output, error) {
	ours := days{"", "1000 of our days, because 2.5.1 speaks of no particular days", relaxed, tight, many, true}
	measure := func(w *days, to figures.Values) {
		best, v := late.extreme(d, w.tight, w.n, schedulers, lowest)
		fewest := w.mean(d, v)
		fewest.Detail = "The scheduler with the fewest is " + best.title + "."
		tardy := w.lead(d, tardiness, w.tight, largest, schedulers, lowest)
		fewest.PrintSE, tardy.PrintSE = 0, 0
		to["late with optimal scheduling"], to["tardiness, Largest-First less the best other scheduler"] = fewest, tardy
	}
	theReport := as("the report's days", "the ten days of the report's evaluation, which 2.5.1 does not speak of")
	return figures.Read(ours.reading(measure), theReport.reading(measure)), nil
}
