package deadline

import (
	"fmt"
	"math"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// settings are the two columns of Table 5, each trained on both kinds of deadlines.
// Observation and reward change with them, as in the report (Table 4 and 3.5).
var settings = []struct {
	// label is the name in the figure.
	label     string
	settings  string
	trainedOn string
	scheduler
}{
	{"enhanced, relaxed", "enhanced", "relaxed", agent},
	{"enhanced, tight", "enhanced", "tight", tightAgent},
	{"original, relaxed", "original", "relaxed", originalRelaxed},
	{"original, tight", "original", "tight", originalAgent},
}

// table5 measures the effect of the settings of Table 5. Agents with both are trained and
// evaluated on both kinds of deadlines. The report prints no such numbers.
func table5() figures.Artefact {
	return figures.Artefact{
		Name: "table5", Title: "the agent's original and enhanced settings on both kinds of deadlines",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, data := range tightness {
				out = append(out, need(s, data.dataset, many, largest)...)
				for _, x := range settings {
					out = append(out, need(s, data.dataset, many, x.scheduler)...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			n := d.Scale.Replicates(sweep)
			columns := []column{{"late [%]", late, 2}, {"tardiness [min]", tardiness, 3}}
			t := reports.Table{
				Title:   fmt.Sprintf("Settings of Table 5, observation and reward included, over %d episodes", n),
				Columns: append(reports.Left("deadlines", "settings", "trained on"), comparisonColumns(columns, largest)...).Right("energy [MJ]"),
				Notes: []string{
					"± is half the 95 % interval; differences are paired by episode; energy charged rightly",
					"one training each: 500,000 steps with the enhanced settings, 200,000 with the original ones; the spread between trainings is not in the intervals",
					"original: 64 features, reward at the end alone, energy as released in it; enhanced: 88 features, reward for each decision, no energy",
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
			for _, data := range tightness {
				group := reports.BarGroup{Name: data.name + " deadlines"}
				add := func(settings, trainedOn string, s scheduler) {
					row := append([]string{data.name, settings, trainedOn}, comparison(d, columns, s, largest, data.dataset, n)...)
					t.Rows = append(t.Rows, append(row, megajoules.mean(d, s.on(data.dataset), n).PlusMinus(2)))
					addBar(d, &group, s, data.dataset, n)
				}
				for _, x := range settings {
					add(x.settings, x.trainedOn, x.scheduler)
				}
				add(largest.title, "", largest)
				bars.Groups = append(bars.Groups, group)
			}
			return figures.Found().Table("table5", t).Figure("table5", bars.Title, bars), nil
		},
	}
}

// A column is a quantity in a table.
type column struct {
	heading string
	quantity
	decimals int
}

// comparisonColumns has two columns for each quantity: its value, and the difference to a
// scheduler.
func comparisonColumns(columns []column, base scheduler) (out reports.Columns) {
	for _, c := range columns {
		out = out.Right(c.heading, "less "+base.title)
	}
	return out
}

// comparison is the row of a scheduler in these columns, over the first n episodes or as
// many as there are.
func comparison(d *figures.Data, columns []column, s, base scheduler, dataset string, n int) (row []string) {
	for _, c := range columns {
		less := ""
		if s != base {
			less = c.difference(d, s, base, dataset, n).PlusMinus(c.decimals)
		}
		row = append(row, c.mean(d, s.on(dataset), n).PlusMinus(c.decimals), less)
	}
	return row
}

// addBar adds a scheduler's late jobs to a group of bars.
func addBar(d *figures.Data, g *reports.BarGroup, s scheduler, dataset string, n int) {
	m := late.mean(d, s.on(dataset), n)
	g.Add(m.Value, m.Low, m.High)
}

// energies compares three rewards of the agent: without energy, with the energy of the
// released loop, and with the energy that was used.
func energies() figures.Artefact {
	compared := []scheduler{agent, releasedAgent, energyAgent, largest, smallest}
	return figures.Artefact{
		Name: "energy", Title: "the agent with energy in its reward, as released and charged rightly",
		Needs: func(s figures.Scale) []figures.Need { return need(s, relaxed, many, compared...) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			n := d.Scale.Replicates(sweep)
			columns := []column{
				{"late [%]", late, 2},
				{"tardiness [min]", tardiness, 3},
				{"energy as released [MJ]", megajoulesAsReleased, 2},
				{"energy charged rightly [MJ]", megajoules, 2},
			}
			t := reports.Table{
				Title:   fmt.Sprintf("Energy in the agent's reward, relaxed deadlines, %d episodes", n),
				Columns: append(reports.Left("scheduler"), comparisonColumns(columns, agent)...),
				Notes: []string{
					"± is half the 95 % interval; differences to " + agent.title + ", whose reward has no energy, are paired by episode",
					"the term is -2.25e-5 E/jobs at the end of a day, about -0.014 beside 6 for the jobs in time; a difference may be that of one training from another",
				},
			}
			for _, s := range compared {
				t.Rows = append(t.Rows, append([]string{s.title}, comparison(d, columns, s, agent, relaxed, n)...))
			}
			return figures.Found().Table("energy", t), nil
		},
	}
}

// lateJobs draws the late jobs of all schedulers and of the agent beside the numbers of
// Table 7.
func lateJobs(claims *figures.Claims) figures.Artefact {
	var shown []scheduler
	for _, s := range append([]scheduler{agent}, schedulers...) {
		if s != eftTrue { // Largest-First again
			shown = append(shown, s)
		}
	}
	return figures.Artefact{
		Name: "late", Title: "late jobs of all schedulers, the agent included",
		Needs: func(s figures.Scale) []figures.Need { return need(s, relaxed, many, shown...) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			printed := map[string]float64{}
			for _, c := range claims.Of("table7") {
				printed[c.Name] = c.Published
			}
			bars := reports.Bars{
				Title: "Late jobs of all schedulers, relaxed deadlines",
				X:     reports.Axis{Label: "Scheduler"}, Y: reports.Axis{Label: "Late jobs [%]"},
			}
			for _, s := range shown {
				bars.Categories = append(bars.Categories, s.title)
			}
			for _, n := range []int{evaluation, d.Scale.Replicates(many)} {
				g := reports.BarGroup{Name: fmt.Sprintf("%d episodes", n)}
				for _, s := range shown {
					addBar(d, &g, s, relaxed, n)
					if n == evaluation {
						p, ok := printed[s.title+" "+late.name]
						if !ok {
							p = math.NaN()
						}
						g.Published = append(g.Published, p)
					}
				}
				bars.Groups = append(bars.Groups, g)
			}
			return figures.Found().Figure("late", bars.Title, bars), nil
		},
	}
}
