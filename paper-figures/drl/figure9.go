package drl

import (
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/reports"
)

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

// points returns where a scatter plot has the tasks of the first data sets of a workload, by
// scalability and t(1).
func (s *scalabilityReading) points(w workload) (x, y []float64) {
	g := mig.MustLookup("A100")
	shown := 2
	if w.name == wideTimes {
		shown = 30
	}
	for i := range shown {
		b := instanceOf(s.data.whole(w), g.Name, i)
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

func figure9(d *figures.Data) (*figures.Output, error) {
	t := d.Claims.Head("figure9", datasets.PlottedFrom, datasets.PlottedTo)
	for _, c := range datasets.AddedClouds {
		t.Notes = append(t.Notes, fmt.Sprintf("it adds %d random points, which are no tasks, between %g and %g", c.Points, c.From, c.To))
	}
	all := make([][]float64, len(scalabilities)) // by reading
	chart := reports.Panels{Title: "Fig. 9. Synthetic tasks by scalability and time on one slice"}
	for _, w := range synthetic {
		panel := reports.Scatter{Title: w.name, X: reports.Axis{Label: "Scalability", To: 3}, Y: reports.Axis{Label: "t(1) [s]", From: 90, To: 100}}
		if w.name == wideTimes {
			panel.Y.From = 0
		}
		for i := range scalabilities {
			s := &scalabilities[i]
			x, y := s.points(w)
			all[i] = append(all[i], x...)
			t.Rows = append(t.Rows, append([]string{w.name, s.name, fmt.Sprint(len(x))}, fixed(slices.Min(x), figures.Mean(x), slices.Max(x))...))
			drawn := min(len(x), mostPoints)
			panel.Groups = append(panel.Groups, reports.Points{Name: s.name, X: x[:drawn], Y: y[:drawn]})
		}
		chart.Charts = append(chart.Charts, panel)
	}
	out := &figures.Output{}
	for i := range scalabilities {
		values := figures.Values{"scalability, least": figures.Exactly(slices.Min(all[i])), "scalability, largest": figures.Exactly(slices.Max(all[i]))}
		out.Readings = append(out.Readings, figures.Reading{Name: scalabilities[i].name, Values: values})
	}
	return out.Table("figure9", t).Figure("figure9", chart.Title, chart), nil
}
