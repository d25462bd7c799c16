package deadline

import (
	"fmt"
	"math"

	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// settings are the two sides of Table 5, each trained on either kind of deadlines.
// Observation and reward change with them, as in the report (its Table 4 and 3.5).
var settings = []struct {
	// label stands in the figure.
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

// table5 shows what the settings of Table 5 are worth: agents of both, trained and
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
			t := reports.Table{
				Title: fmt.Sprintf("Settings of Table 5, observation and reward included, over %d episodes", n),
				Columns: []reports.Column{
					{Name: "deadlines"},
					{Name: "settings"},
					{Name: "trained on"},
					{Name: "late [%]", Right: true},
					{Name: "less Largest-First", Right: true},
					{Name: "tardiness [min]", Right: true},
					{Name: "less Largest-First", Right: true},
					{Name: "energy [MJ]", Right: true},
				},
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
				for _, x := range settings {
					row, err := settingRow(d, data.dataset, x.scheduler, n)
					if err != nil {
						return nil, err
					}
					t.Rows = append(t.Rows, append([]string{data.name, x.settings, x.trainedOn}, row...))
					if err := addBar(d, &group, x.scheduler, data.dataset, n); err != nil {
						return nil, err
					}
				}
				row, err := settingRow(d, data.dataset, largest, n)
				if err != nil {
					return nil, err
				}
				t.Rows = append(t.Rows, append([]string{data.name, largest.title, ""}, row...))
				if err := addBar(d, &group, largest, data.dataset, n); err != nil {
					return nil, err
				}
				bars.Groups = append(bars.Groups, group)
			}
			return &figures.Output{
				Tables:  []figures.Table{{File: "table5", Table: t}},
				Figures: []figures.Figure{{File: "table5", Title: bars.Title, Figure: bars}},
			}, nil
		},
	}
}

// settingRow measures a scheduler beside Largest-First.
func settingRow(d *figures.Data, dataset string, s scheduler, n int) ([]string, error) {
	var row []string
	for _, q := range []struct {
		quantity
		decimals int
	}{{late, 2}, {tardiness, 3}} {
		own, err := q.mean(d, s.on(dataset), n)
		if err != nil {
			return nil, err
		}
		row = append(row, half(own, q.decimals))
		if s == largest {
			row = append(row, "")
			continue
		}
		less, err := q.difference(d, s, largest, dataset, n)
		if err != nil {
			return nil, err
		}
		row = append(row, half(less, q.decimals))
	}
	joules, err := megajoules.mean(d, s.on(dataset), n)
	return append(row, half(joules, 2)), err
}

// addBar adds a scheduler's late jobs to a group of bars.
func addBar(d *figures.Data, g *reports.BarGroup, s scheduler, dataset string, n int) error {
	v, err := late.first(d, s.on(dataset), n)
	if err != nil {
		return err
	}
	m, err := stats.Summarize(v)
	if err != nil {
		return err
	}
	g.Values, g.Low, g.High = append(g.Values, m.Mean), append(g.Low, m.Low), append(g.High, m.High)
	return nil
}

// energies compares the agents whose reward charges for no energy, for that of the
// released loop, and for that which was used.
func energies() figures.Artefact {
	compared := []scheduler{agent, releasedAgent, energyAgent, largest, smallest}
	return figures.Artefact{
		Name: "energy", Title: "the agent with energy in its reward, as released and charged rightly",
		Needs: func(s figures.Scale) []figures.Need { return need(s, relaxed, many, compared...) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			n := d.Scale.Replicates(sweep)
			t := reports.Table{
				Title:   fmt.Sprintf("Energy in the agent's reward, relaxed deadlines, %d episodes", n),
				Columns: []reports.Column{{Name: "scheduler"}},
				Notes: []string{
					"± is half the 95 % interval; differences to " + agent.title + ", whose reward has no energy, are paired by episode",
					"the term is -2.25e-5 E/jobs at the end of a day, about -0.014 beside 6 for the jobs in time; a difference may be that of one training from another",
				},
			}
			quantities := []struct {
				heading string
				quantity
				decimals int
			}{
				{"late [%]", late, 2},
				{"tardiness [min]", tardiness, 3},
				{"energy as released [MJ]", megajoulesAsReleased, 2},
				{"energy charged rightly [MJ]", megajoules, 2},
			}
			for _, q := range quantities {
				t.Columns = append(t.Columns, reports.Column{Name: q.heading, Right: true}, reports.Column{Name: "less " + agent.title, Right: true})
			}
			for _, s := range compared {
				row := []string{s.title}
				for _, q := range quantities {
					own, err := q.mean(d, s.on(relaxed), n)
					if err != nil {
						return nil, err
					}
					row = append(row, half(own, q.decimals))
					if s == agent {
						row = append(row, "")
						continue
					}
					less, err := q.difference(d, s, agent, relaxed, n)
					if err != nil {
						return nil, err
					}
					row = append(row, half(less, q.decimals))
				}
				t.Rows = append(t.Rows, row)
			}
			return &figures.Output{Tables: []figures.Table{{File: "energy", Table: t}}}, nil
		},
	}
}

// lateJobs draws the late jobs of all schedulers, the agent included, with what Table 7
// prints of them.
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
					if err := addBar(d, &g, s, relaxed, n); err != nil {
						return nil, err
					}
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
			return &figures.Output{Figures: []figures.Figure{{File: "late", Title: bars.Title, Figure: bars}}}, nil
		},
	}
}
