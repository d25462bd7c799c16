package reports

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A Timeline draws what algorithms did on one instance over time, below each other: the compute slices that they used,
// the work that waited, and, if the work has deadlines, the work that was late so far. A grey line marks all slices.
type Timeline struct {
	Title string
	// Lines are at most [MaxSeries].
	Lines []TimelineLine
}

// A TimelineLine is the history of an algorithm.
type TimelineLine struct {
	Name string
	schedule.History
}

// thinnest is the width of the last line. Lines are drawn one above the other, each thinner than the one before, so
// that all are seen.
const thinnest vg.Length = 0.7

func (f Timeline) page() (page, error) { return f.panels().page() }

func (f Timeline) panels() Panels {
	out := Panels{Title: f.Title, Columns: 1}
	end, unit, name := mig.Seconds(0), mig.Seconds(1), "s"
	for _, l := range f.Lines {
		end = max(end, l.End())
	}
	const leastUnits = 5 // fewer minutes are shown as seconds, and fewer hours as minutes
	if end >= leastUnits*3600 {
		unit, name = 3600, "h"
	} else if end >= leastUnits*60 {
		unit, name = 60, "min"
	}
	time := Axis{Label: "Time [" + name + "]", To: float64(cmp.Or(end, 1) / unit)}
	for i, label := range []string{"Slices in use", "Waiting", "Late so far"} {
		chart, most := Lines{X: time, Y: Axis{Label: label}}, 1
		if i == 0 && len(f.Lines) > 0 {
			most = f.Lines[0].Slices
			chart.Levels = []Level{{Name: fmt.Sprintf("all %d", most), Y: float64(most)}}
		}
		for k, l := range f.Lines {
			used, waiting, late := l.Steps()
			steps := [][]schedule.Step{used, waiting, late}
			s := staircase(steps[i], l.End(), unit)
			s.Name, s.Width = l.Name, thinnest+vg.Length(len(f.Lines)-1-k)/vg.Length(len(f.Lines))
			chart.Series = append(chart.Series, s)
			most = max(most, int(slices.Max(s.Y)))
		}
		const room = 1.05
		chart.Y.To = room * float64(most)
		if i < 2 || slices.ContainsFunc(f.Lines, func(l TimelineLine) bool { return l.Due }) {
			out.Charts = append(out.Charts, chart)
		}
	}
	return out
}

// staircase draws a count as steps until end. The x axis counts in units of so many seconds.
func staircase(steps []schedule.Step, end, unit mig.Seconds) (s Series) {
	for i, step := range steps {
		x := float64(step.At / unit)
		if i > 0 {
			s.X, s.Y = append(s.X, x), append(s.Y, float64(steps[i-1].N))
		}
		s.X, s.Y = append(s.X, x), append(s.Y, float64(step.N))
	}
	s.X, s.Y = append(s.X, float64(end/unit)), append(s.Y, s.Y[len(s.Y)-1])
	return s
}
