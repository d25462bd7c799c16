package drl

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// The tasks of Table 2, and the same tasks restricted to their most efficient size.
var (
	example = figures.Dataset("drl-table2")
	molded  = figures.Dataset("drl-table2-molded")
)

// efficiency is t(1)/(s t(s)) (2.2).
func efficiency(t *task.Task, s mig.Slices) float64 { return float64(t.On(1)/t.On(s)) / float64(s) }

func table2(d *figures.Data) (*figures.Output, error) {
	b := figures.Tasks(example, "A30", 0)
	t := d.Claims.Head("table2")
	values, times := figures.Values{}, map[string]float64{}
	for i, name := range []string{"Task 1", "Task 2 & Task 3"} {
		for _, s := range mig.MustLookup("A30").Sizes() {
			values[fmt.Sprintf("%s efficiency on %d slices", name, s)] = figures.Exactly(efficiency(&b[i], s))
			times[fmt.Sprintf("%s time on %d slices", name, s)] = float64(b[i].On(s))
			figures.AddRow(&t, name, s, b[i].On(s), efficiency(&b[i], s))
		}
	}
	out := figures.Read(figures.Reading{Values: values})
	return out.Take("task of the example", times).Table("table2", t), nil
}

// figure2 solves the example of Table 2 with sizes chosen beforehand, and with sizes chosen jointly: the
// schedule of the best partition. By the certified bound that is an optimum with parallel operations, and at
// most 0.12 s, the second creation, above the optimum with sequential ones.
func figure2(d *figures.Data) (*figures.Output, error) {
	const byEfficiency, joint = "far", "fixpartbest"
	proven := d.First(bound("A30", example, "certified", mig.Sequential), track.MetricBound)
	t := d.Claims.Head("figure2", reports.Fixed(proven, 2))
	out := &figures.Output{}
	for i, m := range []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free} {
		molding, best := seriesOn("A30", molded, byEfficiency, m), seriesOn("A30", example, joint, m)
		chosen := seriesOn("A30", example, byEfficiency, m)
		v := d.Above(molding, best, 1)[0]
		figures.AddRow(&t, m,
			reports.Cells(2, d.First(molding, makespan), d.First(best, makespan), v, d.First(chosen, makespan)))
		name := "operations " + m.String()
		if i == 0 {
			name = ""
		}
		out.Readings = append(out.Readings, figures.Reading{Name: name, Values: figures.Values{
			"makespan of molding by efficiency over the joint one, less one": figures.Exactly(v),
		}})
	}
	chart := reports.Gantt{Title: "Fig. 2. Table 2's tasks on A30", Height: 330}
	for _, s := range []struct{ title, data, algorithm string }{
		{"molded by efficiency", molded, byEfficiency},
		{"decided jointly", example, joint},
	} {
		p, schedule := d.Schedule(seriesOn("A30", s.data, s.algorithm, mig.Sequential), 0)
		chart.Panels = append(chart.Panels, reports.NewGanttPanel(s.title, p, schedule))
	}
	return out.Table("figure2", t).Figure("figure2", chart.Title, chart), nil
}
