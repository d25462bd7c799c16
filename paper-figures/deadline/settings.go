package deadline

import (
	"fmt"
	"slices"

	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// settings are the two columns of Table 5, each trained on both kinds of deadlines.
// Observation and reward change with them, as in the report (Table 4 and 3.5).
var settings = []setting{
	{"enhanced, relaxed", "enhanced", "relaxed", agent},
	{"enhanced, tight", "enhanced", "tight", tightAgent},
	{"original, relaxed", "original", "relaxed", originalRelaxed},
	{"original, tight", "original", "tight", originalAgent},
}

// A setting is an agent with its training. label is the name in the figure.
type setting struct {
	label, settings, trainedOn string
	*scheduler
}

// table5 measures the effect of the settings of Table 5. The report prints no such numbers.
func table5(d *figures.Data) (*figures.Output, error) {
	out := effectOfSettings(d)
	out.Taken = "A setting of the training of our agents."
	return out.Table("table5-inputs", inputTable(d.Claims, "table5", "Table 5. Settings of the training")).
		Table("table5-script", scriptTable), nil
}

// effectOfSettings evaluates agents with both settings, trained on both kinds of deadlines, on
// both.
func effectOfSettings(d *figures.Data) *figures.Output {
	columns := []column{{"late [%]", late, 2}, {"tardiness [min]", tardiness, 3}}
	t := reports.Table{
		Title:   fmt.Sprintf("Settings of Table 5, observation and reward included, over %d of our days", d.Scale.Replicates(sweep)),
		Columns: append(reports.Left("deadlines", "settings", "trained on"), comparisonColumns(columns, largest)...).PlusMinus("energy [MJ]"),
		Notes: []string{
			"± is half the 95 % interval; differences are paired by day; energy charged rightly",
			"one training run each: 500,000 steps with the enhanced settings, 200,000 with the original ones; the spread between training runs is not in the intervals",
			"original: 64 features, reward at the end alone, energy as released in it; enhanced: 88 features, reward for each decision, no energy",
		},
	}
	bars := reports.Bars{
		Title: "Late jobs by settings of training and its deadlines",
		X:     reports.Axis{Label: "Settings, and deadlines in training"}, Y: reports.Axis{Label: "Late jobs [%]", From: 0, To: 100},
	}
	all := append(slices.Clone(settings), setting{largest.title, largest.title, "", largest})
	bars.Categories = figures.Map(all, func(x setting) string { return x.label })
	for _, k := range tightness {
		group := reports.BarGroup{Name: k.name + " deadlines"}
		for _, x := range all {
			row := append([]string{k.name, x.settings, x.trainedOn}, comparison(d, columns, x.scheduler, largest, k.dataset, sweep)...)
			t.Rows = append(t.Rows, append(row, figures.PlusMinus(megajoules.mean(d, x.scheduler, k.dataset, sweep), 2)...))
			addBar(d, &group, x.scheduler, k.dataset, sweep)
		}
		bars.Groups = append(bars.Groups, group)
	}
	return new(figures.Output).Table("table5", t).Figure("table5", bars.Title, bars)
}

// scriptTable lists where the training of our agents, which follows the report's text, differs
// from the authors' script.
var scriptTable = reports.Table{
	Title:   "Where our training differs from the authors' script",
	Columns: reports.Left("setting", "report", "authors' notebook of the enhanced agent", "here"),
	Rows: [][]string{
		{"learning rate", "anneals from 3e-4 to 1e-5", "stays at 3e-4: the library sets it back before each update", "anneals"},
		{"reward of the last step", "that of the decision and a terminal one", "the terminal one alone", "both"},
		{"steps of an environment before an update", "not printed", "1024", "2048"},
		{"energy in the reward", "not mentioned", "a small term at the end of the day", "none; two other agents have it (energy)"},
		{"parallel environments of the original", "4 in Table 5, 16 in appendix B", "the notebook of the original was not followed", "4"},
	},
	Notes: []string{"which of these matters has not been tried; each further agent takes about 83 CPU seconds"},
}

// A column is a quantity in a table.
type column struct {
	heading string
	quantity
	decimals int
}

// mean is the mean over n of our days with its interval over days.
func (q quantity) mean(d *figures.Data, s *scheduler, dataset string, n int) figures.Measurement {
	return d.MeanOf(q.of(d, s, dataset, n), verdict.Days, 0)
}

// difference is the mean of a scheduler less that of another with half its interval, paired by
// day.
func (c column) difference(d *figures.Data, s, base *scheduler, dataset string, n int) []string {
	less := differences(c.of(d, s, dataset, n), c.of(d, base, dataset, n))
	return figures.PlusMinus(d.MeanOf(less, verdict.Days, 0), c.decimals)
}

// comparisonColumns has two columns for each quantity: its value, and the difference to a
// scheduler.
func comparisonColumns(columns []column, base *scheduler) (out reports.Columns) {
	for _, c := range columns {
		out = out.PlusMinus(c.heading, "less "+base.title)
	}
	return out
}

// comparison is the row of a scheduler in these columns, over n of our days.
func comparison(d *figures.Data, columns []column, s, base *scheduler, dataset string, n int) (row []string) {
	for _, c := range columns {
		less := []string{"", ""}
		if s != base {
			less = c.difference(d, s, base, dataset, n)
		}
		row = slices.Concat(row, figures.PlusMinus(c.mean(d, s, dataset, n), c.decimals), less)
	}
	return row
}

// comparisonTable compares schedulers with one of them over n of our days. It has no title yet.
func comparisonTable(d *figures.Data, columns []column, among []*scheduler, base *scheduler, dataset string, n int) reports.Table {
	return reports.Table{
		Columns: append(reports.Left("scheduler"), comparisonColumns(columns, base)...),
		Rows: figures.Map(among, func(s *scheduler) []string {
			return append([]string{s.title}, comparison(d, columns, s, base, dataset, n)...)
		}),
	}
}

// addBar adds a scheduler's late jobs to a group of bars.
func addBar(d *figures.Data, g *reports.BarGroup, s *scheduler, dataset string, n int) {
	m := late.mean(d, s, dataset, n)
	g.Add(m.Value, m.Low, m.High)
}

// energies compares three rewards of the agent: without energy, with the energy of the
// released loop, and with the energy that was used.
func energies(d *figures.Data) (*figures.Output, error) {
	columns := []column{
		{"late [%]", late, 2},
		{"tardiness [min]", tardiness, 3},
		{"energy as released [MJ]", megajoulesAsReleased, 2},
		{"energy charged rightly [MJ]", megajoules, 2},
	}
	t := comparisonTable(d, columns, []*scheduler{agent, releasedAgent, energyAgent, largest, smallest}, agent, relaxed, sweep)
	t.Title = fmt.Sprintf("Energy in the agent's reward, relaxed deadlines, over %d of our days", d.Scale.Replicates(sweep))
	t.Notes = []string{
		"± is half the 95 % interval; differences to " + agent.title + ", whose reward has no energy, are paired by day",
		"the term is -2.25e-5 E/jobs at the end of a day, about -0.014 beside 6 for the jobs in time; a difference may be that of one training run from another",
	}
	return new(figures.Output).Table("energy", t), nil
}
