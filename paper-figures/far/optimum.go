package far

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// optimum compares FAR with the best known schedule of the 16 measured Rodinia kernels and
// with the certified lower bound. The paper has no such comparison.
func optimum() figures.Artefact {
	shown := []struct {
		name   string
		series run.Series
	}{
		{"FAR", batch(rodiniaData, "far", mig.Sequential)},
		{"lns", batch(rodiniaData, "lns", mig.Sequential)},
		{"treedp", batch(rodiniaData, "treedp", mig.Sequential)},
	}
	certified := bound(rodiniaData, "certified")
	return figures.Artefact{
		Name: "optimum", Title: "the 16 Rodinia kernels on A100, beside what is proven",
		Build: func(d *figures.Data) (*figures.Output, error) {
			lower := d.First(certified, track.MetricBound)
			t := reports.Table{
				Title:   "16 Rodinia kernels on A100, reconfiguration included",
				Columns: reports.Left("schedule").Right("makespan [s]", "above the bound [%]"),
				Notes:   []string{"bound: certified; no schedule that the referee accepts ends earlier"},
			}
			var g reports.Gantt
			for _, s := range shown {
				m := d.First(s.series, makespan)
				t.Rows = append(t.Rows, []string{s.name, fmt.Sprintf("%.4f", m), fmt.Sprintf("%.3f", (m/lower-1)*100)})
			}
			t.Rows = append(t.Rows, []string{"certified lower bound", fmt.Sprintf("%.4f", lower), "0"})
			for _, s := range []int{0, len(shown) - 1} {
				p, answer := d.Schedule(shown[s].series, 0)
				panel := reports.NewGanttPanel(fmt.Sprintf("%s, %.3f s", shown[s].name, answer.Makespan()), p, answer)
				panel.Marks = []reports.TimeMark{{At: mig.Seconds(lower), Label: "certified bound"}}
				g.Panels = append(g.Panels, panel)
			}
			g.Title = fmt.Sprintf("The Rodinia kernels on A100: FAR and the best known schedule; none ends before %.3f s", lower)
			return new(figures.Output).Table("optimum", t).Figure("optimum", g.Title, g), nil
		},
	}
}
