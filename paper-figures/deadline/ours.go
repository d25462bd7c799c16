package deadline

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// tightness lists the report's two kinds of deadlines with our own days, and the agent trained
// for each.
var tightness = []struct {
	name, slack, dataset string
	agent                *scheduler
	// of is the dataset of some days.
	of func(*days) string
}{
	{"relaxed", "2 to 4", relaxed, agent, func(w *days) string { return w.relaxed }},
	{"tight", "1 to 1.5", tight, tightAgent, func(w *days) string { return w.tight }},
}

// heuristics compares all schedulers, and the agent trained for the deadlines, over many
// days. The report has no such comparison, so there are no claims.
func heuristics(d *figures.Data) (*figures.Output, error) {
	out := &figures.Output{}
	for _, k := range tightness {
		t := leaderboard(d, k.name, k.dataset, k.agent)
		if k.dataset == relaxed {
			best, v := late.extreme(d, relaxed, many, schedulers, lowest)
			base := late.of(d, largest, relaxed, many)
			t.Notes = append(t.Notes, fmt.Sprintf("%s has %.1f %% fewer late jobs than Largest-First; the agent %.1f %%, and by Table 8 on the report's own days %.1f %%",
				best.title, reduction(v, base), reduction(late.of(d, agent, relaxed, many), base), d.Claims.Published("table8", "Largest-First late reduction")))
		}
		out.Table("heuristics-"+k.name, t)
	}
	return out, nil
}

func leaderboard(d *figures.Data, name, dataset string, learned *scheduler) reports.Table {
	columns := []column{{"late [%]", late, 2}, {"tardiness [min]", tardiness, 3}, {"energy [MJ]", megajoules, 2}}
	t := comparisonTable(d, columns, append([]*scheduler{learned}, schedulers...), largest, dataset, many)
	t.Title = fmt.Sprintf("All schedulers over %d of our days, %s deadlines", d.Scale.Replicates(many), name)
	t.Notes = []string{
		"± is half the 95 % interval; differences are paired by day",
		"energy in true megajoules, charged rightly",
		"EFT by true durations is Largest-First, since jobs are faster on larger slices",
	}
	if n := len(late.of(d, learned, dataset, many)); n < d.Scale.Replicates(many) {
		t.Notes = append(t.Notes, fmt.Sprintf("%s: %d days, also for its differences", learned.title, n))
	}
	return t
}

// lateJobs draws the late jobs of all schedulers and of the agent beside the numbers of
// Table 7.
func lateJobs(d *figures.Data) (*figures.Output, error) {
	bars := reports.Bars{
		Title: "Late jobs of all schedulers, relaxed deadlines",
		X:     reports.Axis{Label: "Scheduler"}, Y: reports.Axis{Label: "Late jobs [%]"},
	}
	own := reports.BarGroup{Name: "the report's days"}
	others := reports.BarGroup{Name: fmt.Sprintf("%d of our days", d.Scale.Replicates(many))}
	for _, s := range append([]*scheduler{agent}, schedulers...) {
		if s == eftTrue {
			continue // Largest-First again
		}
		bars.Categories = append(bars.Categories, s.title)
		printed := math.NaN()
		if s == agent || slices.Contains(methods, s) {
			printed = d.Claims.Published("table7", s.title+" "+late.name)
		}
		v := figures.Mean(late.of(d, s, theirs.relaxed, evaluation))
		own.Add(v, v, v)
		own.Published = append(own.Published, printed)
		addBar(d, &others, s, relaxed, many)
	}
	bars.Groups = []reports.BarGroup{own, others}
	return new(figures.Output).Figure("late", bars.Title, bars), nil
}

// pareto draws energy against lateness. A heuristic is on the front if no other is better
// in one and at least as good in the other.
func pareto(d *figures.Data) (*figures.Output, error) {
	t := reports.Table{
		Title:   "Energy against late jobs",
		Columns: reports.Left("deadlines", "scheduler").Right("energy [MJ]", "late [%]").Left("on the front"),
		Notes:   []string{"means; on the front: no other has less of one and no more of the other"},
	}
	chart := reports.Panels{Title: "Energy against late jobs, all heuristics", Columns: 2}
	for _, k := range tightness {
		points := figures.Map(schedulers, func(s *scheduler) point {
			return point{figures.Mean(megajoules.of(d, s, k.dataset, many)), figures.Mean(late.of(d, s, k.dataset, many))}
		})
		scatter := reports.Scatter{
			Title: fmt.Sprintf("%s%s deadlines, slack %s", strings.ToUpper(k.name[:1]), k.name[1:], k.slack),
			X:     reports.Axis{Label: "Energy [MJ]"}, Y: reports.Axis{Label: "Late jobs [%]"},
		}
		for i, s := range schedulers {
			p, front := points[i], "no"
			if onFront(p, points) {
				front = "yes"
			}
			t.Rows = append(t.Rows, []string{k.name, s.title, reports.Fixed(p.energy, 2), reports.Fixed(p.late, 2), front})
			name := s.title
			switch s {
			case eftTrue:
				continue // the point of Largest-First
			case largest:
				name += " = " + eftTrue.title
			}
			scatter.Groups = append(scatter.Groups, reports.Points{Name: name, X: []float64{p.energy}, Y: []float64{p.late}})
		}
		chart.Charts = append(chart.Charts, scatter)
	}
	return new(figures.Output).Table("pareto", t).Figure("pareto", chart.Title, chart), nil
}

// A point is what a scheduler costs: megajoules and percent of jobs.
type point struct{ energy, late float64 }

// onFront reports whether no point dominates p.
func onFront(p point, all []point) bool {
	return !slices.ContainsFunc(all, func(o point) bool { return o != p && o.energy <= p.energy && o.late <= p.late })
}

// slacks are times from arrival to deadline, in durations of the job on a whole GPU. At 1
// there is no time to spare.
var slacks = []float64{1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6}

// slackData is the dataset in which every job has the same slack.
func slackData(factor float64) string {
	f := strconv.FormatFloat(factor, 'f', -1, 64)
	return figures.Dataset("deadline/slack?low=" + f + "&high=" + f)
}

// byLateness are the schedulers with different late jobs. EFT with true durations equals
// Largest-First, and energy-aware takes slices of the same sizes as least slack.
var byLateness = []*scheduler{largest, eft, random, smallest, leastSlack, lookAhead}

// slack draws lateness against the slack of deadlines.
func slack(d *figures.Data) (*figures.Output, error) {
	x := reports.Axis{Label: "Deadline slack [durations on the whole GPU]", Ticks: []float64{1, 2, 3, 4, 5, 6}}
	lateness := reports.Lines{X: x, Y: reports.Axis{Label: "Late jobs [%]", From: 0, To: 100}}
	tardy := reports.Lines{X: x, Y: reports.Axis{Label: "Mean tardiness [min]"}}
	t := reports.Table{
		Title:   "Late jobs and tardiness against the slack of deadlines",
		Columns: reports.Right("slack").Left("scheduler").PlusMinus("late [%]", "tardiness [min]"),
		Notes: []string{
			fmt.Sprintf("every job of a day has the same slack; %d of our days a point, the same jobs at each; ± is half the 95 %% interval", d.Scale.Replicates(sweep)),
			"EFT by true durations is Largest-First; energy-aware has as many late jobs as least slack",
		},
	}
	for _, s := range byLateness {
		l, m := reports.Series{Name: s.title, Markers: true}, reports.Series{Name: s.title, Markers: true}
		for _, f := range slacks {
			a, b := late.mean(d, s, slackData(f), sweep), tardiness.mean(d, s, slackData(f), sweep)
			l.Add(f, a.Value, a.Low, a.High)
			m.Add(f, b.Value, b.Low, b.High)
			t.Rows = append(t.Rows, slices.Concat([]string{reports.Fixed(f, 1), s.title}, figures.PlusMinus(a, 2), figures.PlusMinus(b, 2)))
		}
		lateness.Series, tardy.Series = append(lateness.Series, l), append(tardy.Series, m)
	}
	chart := reports.Panels{Title: t.Title, Columns: 2, Charts: []reports.Chart{lateness, tardy}}
	return new(figures.Output).Table("slack", t).Figure("slack", chart.Title, chart), nil
}

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
