package drl

import (
	"fmt"
	"strings"

	"miglab/datasets"
	"miglab/harness/algo"
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

// instanceOf returns the tasks of the first instance of a dataset.
func instanceOf(spec, gpu string) (task.Batch, error) {
	in, err := datasets.InstanceOf[task.Batches](datasets.MustParse(spec), mig.MustLookup(gpu), 0)
	return in.Tasks, err
}

// efficiency is t(1)/(s t(s)) (2.2).
func efficiency(t *task.Task, s mig.Slices) float64 { return float64(t.On(1)/t.On(s)) / float64(s) }

func table2(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table2", Title: "times and efficiencies of three tasks on A30",
		Build: func(d *figures.Data) (*figures.Output, error) {
			b, err := instanceOf(example, "A30")
			if err != nil {
				return nil, err
			}
			out := &figures.Output{}
			for _, c := range claims.Of("table2") {
				if c.Relation == figures.Input {
					out.Findings = append(out.Findings, figures.Taken(c, "task of the example"))
					continue
				}
				var s mig.Slices
				name, quantity, _ := strings.Cut(c.Name, " efficiency ")
				if _, err := fmt.Sscanf(quantity, "on %d slices", &s); err != nil {
					return nil, err
				}
				k := &b[0]
				if name != k.Name {
					k = &b[1]
				}
				out.Findings = append(out.Findings, d.Judge(c, figures.Exactly(efficiency(k, s)), "", "does not follow from the times"))
			}
			t := reports.Table{Title: "Table 2. Times and efficiencies of three tasks", Columns: reports.Left("task").Right("size", "time [s]", "efficiency")}
			for i := range b {
				for _, s := range mig.MustLookup("A30").Sizes() {
					t.Rows = append(t.Rows, []string{b[i].Name, fmt.Sprint(s), fmt.Sprint(b[i].On(s)), fmt.Sprint(efficiency(&b[i], s))})
				}
			}
			return out.Table("table2", t), nil
		},
	}
}

// figure2 solves the example of Table 2 twice: with sizes chosen beforehand, and with sizes
// chosen jointly. The joint schedule is that of the best partition. By the certified bound it
// is an optimum with parallel operations, and at most 0.12 s, the second creation, above the
// optimum with sequential ones.
func figure2(claims *figures.Claims) figures.Artefact {
	const byEfficiency, joint = "far", "fixpartbest"
	models := []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free}
	certified := on("A30", example, "certified", mig.Sequential)
	certified.Track = algo.TrackBound
	return figures.Artefact{
		Name: "figure2", Title: "Table 2's tasks with molding by efficiency and decided jointly",
		Needs: func(figures.Scale) (out []figures.Need) {
			for _, m := range models {
				out = append(out, figures.NeedFirst(1,
					on("A30", molded, byEfficiency, m), on("A30", example, joint, m), on("A30", example, byEfficiency, m))...)
			}
			return append(out, figures.NeedFirst(1, certified)...)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title:   "Fig. 2. Makespans of Table 2's tasks on A30",
				Columns: reports.Left("operations").Right("molded by efficiency [s]", "joint [s]", "worse by [%]", "FAR [s]"),
				Notes:   []string{"FAR, which chooses sizes itself, runs all three on 4 slices"},
			}
			var readings []figures.Reading
			c := claims.Get("figure2", "makespan of molding by efficiency over the joint one, less one")
			for i, m := range models {
				v := d.Above(on("A30", molded, byEfficiency, m), on("A30", example, joint, m))
				var row []float64
				for _, s := range []struct{ data, algorithm string }{{molded, byEfficiency}, {example, joint}, {example, byEfficiency}} {
					row = append(row, d.First(on("A30", s.data, s.algorithm, m), makespan))
				}
				t.Rows = append(t.Rows, []string{
					m.String(), fmt.Sprintf("%.2f", row[0]), fmt.Sprintf("%.2f", row[1]), fmt.Sprintf("%.2f", v[0]), fmt.Sprintf("%.2f", row[2]),
				})
				name := ""
				if i > 0 {
					name = "operations " + m.String()
				}
				readings = append(readings, figures.Lookup(name, figures.Values{c.Name: figures.Exactly(v[0])}))
			}
			t.Notes = append(t.Notes, fmt.Sprintf("no schedule takes less than %.2f s with sequential operations", d.First(certified, track.MetricBound)))
			fs := d.Compare([]figures.Claim{c}, readings, figures.Always("the times of Table 2 give less"))
			chart := reports.Gantt{Title: "Fig. 2. Table 2's tasks on A30", Height: 330}
			for _, s := range []struct{ title, data, algorithm string }{{"molded by efficiency", molded, byEfficiency}, {"decided jointly", example, joint}} {
				p, schedule := d.Schedule(on("A30", s.data, s.algorithm, mig.Sequential), 0)
				chart.Panels = append(chart.Panels, reports.NewGanttPanel(s.title, p, schedule))
			}
			return figures.Found(fs...).Table("figure2", t).Figure("figure2", chart.Title, chart), nil
		},
	}
}
