package drl

import (
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

func figure1(d *figures.Data) {
	gpus := []*mig.GPU{mig.MustLookup("A30"), mig.MustLookup("A100")}
	t := d.Table("figure1",
		"Partitions that are the same to a scheduler (4.1), by their numbers in Fig. 1",
		reports.Left("GPU", "canonical").Right("number").Left("equivalent").Right("its number"),
		"A100 represents all models with 7 slices; partitions that leave slice 3 idle are left out")
	for _, g := range gpus {
		number := map[string]string{}
		for i, p := range g.Partitions() {
			number[p.String()] = fmt.Sprint(i + 1)
		}
		for _, class := range g.Classes() {
			row := []string{g.Name, class[0].String(), number[class[0].String()], "", ""}
			for _, p := range class[1:] {
				row[3], row[4] = p.String(), number[p.String()]
			}
			t.Rows = append(t.Rows, row)
		}
	}
	chart := reports.Partitions{Title: "Fig. 1. Partitions of A30 and of A100, H100 and later models", GPUs: gpus}
	d.Figure("figure1", chart.Title, chart)
}

// speedups returns an artefact that draws t(1)/t(s) over s.
func speedups(name, title, heading, dataset string, perPanel int) figures.Artefact {
	tasks := figures.Tasks(dataset, "A100", 0)
	chart := reports.Speedups(heading, mig.MustLookup("A100"), tasks, perPanel, false)
	return figures.Draw(name, title, heading, chart)
}

// mostPoints is the number of tasks that are drawn for a workload; more would overlap.
const mostPoints = 500

// A scalabilityReading is one way to get the points of Fig. 9.
type scalabilityReading struct {
	name string
	data *reading
	// script takes the points of scatter_plot.py instead of the formula of 5.1.3.
	script bool
}

// scalabilities are the readings of Fig. 9. The first is the default.
var scalabilities = []scalabilityReading{
	{"scatter_plot.py", &readings[byScript], true},
	{"formula, released generator", &readings[byScript], false},
	{"formula, printed generator", &readings[byPrint], false},
}

// points returns where a scatter plot has the tasks of a workload's first data sets, by scalability and t(1).
func (s *scalabilityReading) points(w workload) (x, y []float64) {
	g := mig.MustLookup("A100")
	shown := 2
	if w.name == wideTimes {
		shown = 30
	}
	for i := range shown {
		b := figures.Tasks(s.data.whole(w), g.Name, i)
		for k := range b {
			at, plotted := datasets.Scalability(&b[k], g), true
			if s.script {
				at, plotted = datasets.PlottedScalability(w.name, &b[k], g)
			}
			if plotted {
				x, y = append(x, at), append(y, float64(b[k].On(1)))
			}
		}
	}
	return x, y
}

func figure9(d *figures.Data) {
	t := d.Table("figure9", "Fig. 9. Scalability of the synthetic tasks",
		reports.Left("workload", "reading").Right("tasks", "least", "mean", "largest"),
		fmt.Sprintf("scatter_plot.py draws an axis from %v and leaves out tasks from %v on, so that the largest "+
			"value could not be elsewhere", datasets.PlottedFrom, datasets.PlottedTo))
	for _, c := range datasets.AddedClouds {
		t.Notes = append(t.Notes, fmt.Sprintf("it adds %v random points, which are no tasks, between %v and %v",
			c.Points, c.From, c.To))
	}
	all := make([][]float64, len(scalabilities)) // by reading
	chart := reports.Panels{Title: "Fig. 9. Synthetic tasks by scalability and time on one slice"}
	for _, w := range synthetic {
		panel := reports.Lines{
			Dots: true, Title: w.name, X: reports.Axis{Label: "Scalability", To: 3},
			Y: reports.Axis{Label: "t(1) [s]", From: 89.5, To: 100.5},
		}
		if w.name == wideTimes {
			panel.Y.From, panel.Y.To = 0, 105
		}
		for i := range scalabilities {
			s := &scalabilities[i]
			x, y := s.points(w)
			all[i] = append(all[i], x...)
			t.Row(w, s.name, len(x), reports.Cells(2, slices.Min(x), figures.Mean(x), slices.Max(x)))
			drawn := min(len(x), mostPoints)
			panel.Series = append(panel.Series, reports.Series{Name: s.name, X: x[:drawn], Y: y[:drawn]})
		}
		chart.Charts = append(chart.Charts, panel)
	}
	for i, s := range scalabilities {
		d.Under(s.name)[claim.Of("scalability, least")] = figures.Exactly(slices.Min(all[i]))
		d.Under(s.name)[claim.Of("scalability, largest")] = figures.Exactly(slices.Max(all[i]))
	}
	d.Figure("figure9", chart.Title, chart)
}

// The tasks of Table 2, and the same tasks restricted to their most efficient size.
var (
	example = figures.Dataset("drl-table2")
	molded  = figures.Dataset("drl-table2-molded")
)

// efficiency returns t(1)/(s t(s)) (2.2).
func efficiency(t *task.Task, s mig.Slices) float64 { return float64(t.On(1)/t.On(s)) / float64(s) }

func table2(d *figures.Data) {
	b := figures.Tasks(example, "A30", 0)
	t := d.Table("table2", "Table 2. Times and efficiencies of three tasks",
		reports.Left("task").Right("size [slices]", "time [s]", "efficiency"))
	values, times := d.Under(""), map[claim.Cell]float64{}
	for i, name := range []string{"Task 1", "Task 2 & Task 3"} {
		for _, s := range mig.MustLookup("A30").Sizes() {
			values[claim.At(name, fmt.Sprintf("efficiency on %d slices", s))] = figures.Exactly(efficiency(&b[i], s))
			times[claim.At(name, fmt.Sprintf("time on %d slices", s))] = float64(b[i].On(s))
			t.Row(name, s, b[i].On(s), efficiency(&b[i], s))
		}
	}
	d.TakeInputs("task of the example", times)
}

// figure2 solves the example of Table 2 with sizes chosen beforehand, and with sizes chosen jointly: the
// schedule of the best partition. By the certified bound that is an optimum with parallel operations, and at
// most 0.12 s, the second creation, above the optimum with sequential ones.
func figure2(d *figures.Data) {
	const byEfficiency, joint = "far", "fixpartbest"
	proven := d.First(bound("A30", example, "certified", mig.Sequential), track.MetricBound)
	t := d.Table("figure2", "Fig. 2. Makespans of Table 2's tasks on A30",
		reports.Left("operations").Right("molded by efficiency [s]", "joint [s]", "worse by [%]", "FAR [s]"),
		"FAR, which chooses sizes itself, runs all three on 4 slices",
		fmt.Sprintf("no schedule takes less than %s s with sequential operations", reports.Fixed(proven, 2)))
	for i, m := range []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free} {
		molding, best := seriesOn("A30", molded, byEfficiency, m), seriesOn("A30", example, joint, m)
		chosen := seriesOn("A30", example, byEfficiency, m)
		v := d.Above(molding, best, 1)[0]
		t.Row(m, reports.Cells(2, d.First(molding, makespan), d.First(best, makespan), v, d.First(chosen, makespan)))
		name := "operations " + m.String()
		if i == 0 {
			name = ""
		}
		d.Under(name)[claim.Of("makespan of molding by efficiency over the joint one, less one")] = figures.Exactly(v)
	}
	chart := reports.Gantt{Title: "Fig. 2. Table 2's tasks on A30", Height: 330}
	for _, s := range []struct{ title, data, algorithm string }{
		{"molded by efficiency", molded, byEfficiency},
		{"decided jointly", example, joint},
	} {
		p, schedule := d.Schedule(seriesOn("A30", s.data, s.algorithm, mig.Sequential), 0)
		chart.Panels = append(chart.Panels, reports.NewGanttPanel(s.title, p, schedule))
	}
	d.Figure("figure2", chart.Title, chart)
}
