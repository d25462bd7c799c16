package deadline

import (
	"fmt"
	"strings"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// pareto draws energy against lateness. A heuristic is on the front if no other is better
// in one and at least as good in the other.
func pareto() figures.Artefact {
	return figures.Artefact{
		Name: "pareto", Title: "energy against late jobs, all heuristics",
		Needs: needAll,
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title:   "Energy against late jobs",
				Columns: reports.Left("deadlines", "scheduler").Right("energy [MJ]", "late [%]").Left("on the front"),
				Notes:   []string{"means; on the front: no other has less of one and no more of the other"},
			}
			chart := reports.Panels{Title: "Energy against late jobs, all heuristics", Columns: 2}
			for _, data := range tightness {
				points := make([]point, len(schedulers))
				for i, s := range schedulers {
					points[i] = meanPoint(d, s, data.dataset)
				}
				scatter := reports.Scatter{
					Title: fmt.Sprintf("%s%s deadlines, slack %s", strings.ToUpper(data.name[:1]), data.name[1:], data.slack),
					X:     reports.Axis{Label: "Energy [MJ]"}, Y: reports.Axis{Label: "Late jobs [%]"},
				}
				for i, s := range schedulers {
					p := points[i]
					front := "no"
					if onFront(p, points) {
						front = "yes"
					}
					t.Rows = append(t.Rows, []string{data.name, s.title, fmt.Sprintf("%.2f", p.energy), fmt.Sprintf("%.2f", p.late), front})
					if s == eftTrue {
						continue // the point of Largest-First
					}
					name := s.title
					if s == largest {
						name += " = " + eftTrue.title
					}
					scatter.Groups = append(scatter.Groups, reports.Points{Name: name, X: []float64{p.energy}, Y: []float64{p.late}})
				}
				chart.Charts = append(chart.Charts, scatter)
			}
			return figures.Found().Table("pareto", t).Figure("pareto", chart.Title, chart), nil
		},
	}
}

// A point is what a scheduler costs: megajoules and percent of jobs.
type point struct{ energy, late float64 }

func meanPoint(d *figures.Data, s scheduler, dataset string) point {
	of := func(q quantity) float64 { return d.Summarize(q.of(d, s.on(dataset))).Mean }
	return point{of(megajoules), of(late)}
}

// onFront reports whether no point dominates p.
func onFront(p point, all []point) bool {
	for _, o := range all {
		if o != p && o.energy <= p.energy && o.late <= p.late {
			return false
		}
	}
	return true
}
