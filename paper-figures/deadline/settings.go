package deadline

import (
	"fmt"
	"maps"
	"slices"

	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// settings are the two columns of Table 5, each trained on both kinds of deadlines.
// Observation and reward change with them, as in the report (Table 4 and 3.5).
var settings = []struct {
	// label is the name in the figure.
	label     string
	settings  string
	trainedOn string
	*scheduler
}{
	{"enhanced, relaxed", "enhanced", "relaxed", agent},
	{"enhanced, tight", "enhanced", "tight", tightAgent},
	{"original, relaxed", "original", "relaxed", originalRelaxed},
	{"original, tight", "original", "tight", originalAgent},
}

// table5 measures the effect of the settings of Table 5. The report prints no such numbers.
func table5(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table5", Title: "the agent's original and enhanced settings on both kinds of deadlines",
		Build: func(d *figures.Data) (*figures.Output, error) {
			out := effectOfSettings(d)
			inputs := maps.Clone(original)
			maps.Copy(inputs, enhanced)
			return out.Take("A setting of the training of our agents.", inputs).Table("table5-inputs", inputTable(claims, "table5", "Table 5. Settings of the training")).
				Table("table5-script", differences), nil
		},
	}
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
			"500,000 steps with the enhanced settings, 200,000 with the original ones; the spread between training runs is not in the intervals",
			"original: 64 features, reward at the end alone; enhanced: 88 features, reward for each decision; energy as released at the end of both",
			runsNote(agent, tightAgent, originalAgent, originalRelaxed),
		},
	}
	bars := reports.Bars{
		Title: "Late jobs by settings of training and its deadlines",
		X:     reports.Axis{Label: "Settings, and deadlines in training"}, Y: reports.Axis{Label: "Late jobs [%]", From: 0, To: 100},
	}
	for _, x := range settings {
		bars.Categories = append(bars.Categories, x.label)
	}
	bars.Categories = append(bars.Categories, largest.title)
	for _, k := range tightness {
		group := reports.BarGroup{Name: k.name + " deadlines"}
		add := func(settings, trainedOn string, s *scheduler) {
			row := append([]string{k.name, settings, trainedOn}, comparison(d, columns, s, largest, k.dataset, sweep)...)
			t.Rows = append(t.Rows, append(row, figures.PlusMinus(megajoules.mean(d, s, k.dataset, sweep), 2)...))
			addBar(d, &group, s, k.dataset, sweep)
		}
		for _, x := range settings {
			add(x.settings, x.trainedOn, x.scheduler)
		}
		add(largest.title, "", largest)
		bars.Groups = append(bars.Groups, group)
	}
	return new(figures.Output).Table("table5", t).Figure("table5", bars.Title, bars)
}

// differences lists where the report's text differs from the authors' script, and what our agents
// follow.
var differences = reports.Table{
	Title:   "Where our training differs from the authors' script",
	Columns: reports.Left("setting", "report", "authors' notebook of the enhanced agent", "RL-PPO here", "RL-PPO by the text here"),
	Rows: [][]string{
		{"learning rate", "anneals from 3e-4 to 1e-5", "stays at 3e-4: the library sets it back before each update", "stays", "anneals"},
		{"reward of the last step", "that of the decision and a terminal one", "the terminal one alone", "the terminal one", "both"},
		{"steps of an environment before an update", "not printed", "1024", "1024", "2048"},
		{"energy in the reward", "not mentioned", "a small term at the end of the day", "that term", "none; two other agents have it (energy)"},
		{"times in the observation", "scale not printed", "minutes over 100", "minutes over 100", "x/(x+3) of x minutes"},
		{"bins of the observation begin at [min]", "not printed", "-100, 0, 0.05, 0.2, 0.5, 1, 5, 10, 20, 30", "the same", "durations 0, 1/4, 1/2, 1, 2, 4, 8, 16, 32, 64; times to the deadline -inf, -8, -2, 0, 1/2, 1, 2, 4, 8, 16"},
		{"waiting jobs in the observation", "scale not printed", "over 100, at most 1", "over 100, at most 1", "w/(w+16) of w jobs"},
		{"clock in training", "not mentioned", "float32", "float64", "float64"},
		{"days of training", "not mentioned", "all run to their end", "those at work every 98,304 steps are cut short", "those at work every 98,304 steps are cut short"},
		{"parallel environments of the original", "4 in Table 5, 16 in appendix B", "the notebook of the original was not followed", "4", "4"},
	},
	Notes: []string{"the effect of all of them at once: the reading training by the text (table7, table8)"},
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
	own, theirs := c.of(d, s, dataset, n), c.of(d, base, dataset, n)
	less := make([]float64, min(len(own), len(theirs)))
	for i := range less {
		less[i] = own[i] - theirs[i]
	}
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

// addBar adds a scheduler's late jobs to a group of bars.
func addBar(d *figures.Data, g *reports.BarGroup, s *scheduler, dataset string, n int) {
	m := late.mean(d, s, dataset, n)
	g.Add(m.Value, m.Low, m.High)
}

// energies compares three rewards of the agent: without energy, with the energy of the
// released loop, and with the energy that was used.
func energies() figures.Artefact {
	return figures.Artefact{
		Name: "energy", Title: "the agent with energy in its reward, as released and charged rightly",
		Build: func(d *figures.Data) (*figures.Output, error) {
			columns := []column{
				{"late [%]", late, 2},
				{"tardiness [min]", tardiness, 3},
				{"energy as released [MJ]", megajoulesAsReleased, 2},
				{"energy charged rightly [MJ]", megajoules, 2},
			}
			t := reports.Table{
				Title:   fmt.Sprintf("Energy in the agent's reward, relaxed deadlines, over %d of our days", d.Scale.Replicates(sweep)),
				Columns: append(reports.Left("scheduler"), comparisonColumns(columns, textAgent)...),
				Notes: []string{
					"± is half the 95 % interval; differences to " + textAgent.title + ", whose reward has no energy, are paired by day",
					"the term is -2.25e-5 E/jobs at the end of a day, about -0.014 beside 6 for the jobs in time; a difference may be that of one training run from another",
					runsNote(textAgent, releasedAgent, energyAgent),
				},
			}
			for _, s := range []*scheduler{textAgent, releasedAgent, energyAgent, largest, smallest} {
				t.Rows = append(t.Rows, append([]string{s.title}, comparison(d, columns, s, textAgent, relaxed, sweep)...))
			}
			return new(figures.Output).Table("energy", t), nil
		},
	}
}
