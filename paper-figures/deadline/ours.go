package deadline

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	figures "miglab/paper-figures"
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
