package deadline

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"

	"miglab/harness/spec"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// tightness lists the report's two kinds of deadlines, each with the agent trained for it, our own days and the
// report's.
var tightness = []struct {
	name         string
	agent        *scheduler
	ours, theirs sample
}{
	{"relaxed", agent, relaxed, reported.relaxed},
	{"tight", tightAgent, tight, reported.tight},
}

// mayPreempt is a note of tables with the original notebook's agent.
const mayPreempt = "the notebook's agent may pre-empt jobs and sees sizes of slices; measured is the one that " +
	"the report describes, which does neither, after 200,000 steps as Table 5 has it"

// A column shows the mean of a quantity and how much it exceeds the mean of a base, paired by day. A nil base leaves
// out the difference.
type column struct {
	quantity
	base *scheduler
}

// columnsAgainst returns a column for each quantity, with its difference to a base, which may be nil.
func columnsAgainst(base *scheduler, quantities ...quantity) []column {
	return figures.Map(quantities, func(q quantity) column { return column{q, base} })
}

// A line is a row of a table: its first cells, and the scheduler and days that it is about.
type line struct {
	cells []string
	*scheduler
	sample
}

// compare adds columns and lines to a table.
func compare(d *figures.Data, t *figures.Table, columns []column, lines []line) {
	for _, c := range columns {
		t.Columns = t.Columns.PlusMinus(c.name + " [" + c.unit + "]")
		if c.base != nil {
			t.Columns = t.Columns.PlusMinus("less " + c.base.title)
		}
	}
	for _, l := range lines {
		t.Row(l.cells, figures.Map(columns, func(c column) []string {
			own := c.of(d, l.scheduler, l.sample)
			cells := figures.PlusMinus(l.mean(d, own), c.decimals)
			switch c.base {
			case nil:
				return cells
			case l.scheduler:
				return append(cells, "", "")
			}
			return append(cells,
				figures.PlusMinus(l.mean(d, figures.Differences(own, c.of(d, c.base, l.sample))), c.decimals)...)
		}))
	}
}

// A setting is a column of Table 5, the kind of deadlines in training, and the agent so trained. The settings differ in
// observation (Table 4) and reward (3.5) too.
type setting struct {
	name, trainedOn string
	*scheduler
}

var settings = []setting{
	{"enhanced", "relaxed", agent},
	{"enhanced", "tight", tightAgent},
	{"original", "relaxed", originalRelaxed},
	{"original", "tight", originalAgent},
}

// trainingDifferences is a CSV file: where the report's text, the authors' notebook and our agents train differently.
//
//go:embed training.csv
var trainingDifferences string

// table5 measures the effect of the settings of Table 5, which the report does not print, and lists
// [trainingDifferences].
func table5(d *figures.Data) {
	effectOfSettings(d)
	inputs := maps.Clone(originalSettings)
	maps.Copy(inputs, furtherSettings)
	d.TakeInputs("A setting of the training of our agents.", inputs)
	inputTable(d, "table5", "table5-inputs", "Table 5. Settings of the training")
	t := d.Table("table5-script", "Where our training differs from the authors' script",
		reports.Left("setting", "report", "authors' notebook of the enhanced agent", "RL-PPO here",
			"RL-PPO by the text here"),
		"the effect of all of them at once: the reading training by the text (table7, table8)")
	t.Rows = spec.Must(csv.NewReader(strings.NewReader(trainingDifferences)).ReadAll())[1:]
}

// effectOfSettings evaluates agents with both settings, trained on both kinds of deadlines, on both.
func effectOfSettings(d *figures.Data) {
	t := d.Table("table5", fmt.Sprintf("Settings of Table 5, observation and reward included, over "+
		"%d of our days", d.Scale.Replicates(sweep)),
		reports.Left("deadlines", "settings", "trained on"),
		"± is half the 95 % interval; differences are paired by day; energy charged rightly",
		"500,000 steps with the enhanced settings, 200,000 with the original ones; the spread between training runs "+
			"is not in the intervals",
		"original: 64 features, reward at the end alone; enhanced: 88 features, reward for each decision; energy as "+
			"released at the end of both",
		runsNote(agent, tightAgent, originalAgent, originalRelaxed))
	var lines []line
	for _, k := range tightness {
		for _, x := range append(slices.Clone(settings), setting{largest.title, "", largest}) {
			lines = append(lines, line{[]string{k.name, x.name, x.trainedOn}, x.scheduler, k.ours.first(sweep)})
		}
	}
	compare(d, t, append(columnsAgainst(largest, late, tardiness), column{megajoules, nil}), lines)
}

// heuristics compares all schedulers, and the deadlines' agent, over many days. The report has no such comparison.
func heuristics(d *figures.Data) {
	for _, k := range tightness {
		t := d.Table("heuristics-"+k.name,
			fmt.Sprintf("All schedulers over %d of our days, %s deadlines", d.Scale.Replicates(ourDays), k.name),
			reports.Left("scheduler"),
			"± is half the 95 % interval; differences are paired by day",
			"energy in true megajoules, charged rightly",
			"EFT by true durations is Largest-First, since jobs are faster on larger slices")
		shown := append([]*scheduler{k.agent}, schedulers...)
		lines := figures.Map(shown, func(s *scheduler) line { return line{[]string{s.title}, s, k.ours} })
		compare(d, t, columnsAgainst(largest, late, tardiness, megajoules), lines)
		if n := k.agent.days(k.ours); n < d.Scale.Replicates(ourDays) {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %d days, also for its differences", k.agent.title, n))
		}
		if k.ours == relaxed {
			best, v := relaxed.extreme(d, late, schedulers, lowest)
			base := late.of(d, largest, relaxed)
			fewer := reports.Cells(1, reduction(v, base), reduction(late.of(d, agent, relaxed), base),
				d.Claims.Published("table8", claim.At("Largest-First", "late reduction")))
			t.Notes = append(t.Notes, fmt.Sprintf("%s has %s %% fewer late jobs than Largest-First; the agent %s "+
				"%%, and by Table 8 on the report's own days %s %%", best.title, fewer[0], fewer[1], fewer[2]))
		}
	}
	for _, r := range []struct {
		reading string
		sample
		agent *scheduler
	}{
		{"", relaxed, agent},
		{"the report's days", reported.relaxed, agent},
		{"training by the text", reported.relaxed, textAgent},
		{"tight deadlines", tight, tightAgent},
	} {
		_, best := r.extreme(d, late, schedulers, lowest)
		d.Under(r.reading)[claim.Of("late, RL-PPO less the best rule")] = r.less(d, r.agent, best)
	}
}
