package reports

import (
	"cmp"
	"fmt"

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

// timeUnits are the units of a time axis, the longest first.
var timeUnits = []struct {
	name    string
	seconds mig.Seconds
}{{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}}

// thinnest is the width of the last line.
const thinnest vg.Length = 0.7

// fewestUnits is how many units a time axis must have; below it the next shorter unit is used.
const fewestUnits = 5

func (f Timeline) page() (page, error) {
	if len(f.Lines) == 0 {
		return page{}, refuse(f.Title, "", "it has no lines")
	}
	return f.panels().page()
}

func (f Timeline) panels() Panels {
	end, unit := mig.Seconds(0), 0
	for _, l := range f.Lines {
		end = max(end, l.End())
	}
	for unit+1 < len(timeUnits) && end < fewestUnits*timeUnits[unit].seconds {
		unit++
	}
	scale := timeUnits[unit].seconds
	time := Axis{Label: "Time [" + timeUnits[unit].name + "]", To: float64(cmp.Or(end, 1) / scale)}
	counts := []struct {
		name string
		of   func(schedule.History) []schedule.Step
	}{
		{"Slices in use", schedule.History.Used},
		{"Waiting", schedule.History.Waiting},
		{"Late so far", schedule.History.Late},
	}
	if !f.Lines[0].Due {
		counts = counts[:2]
	}
	out := Panels{Title: f.Title, Columns: 1}
	for i, count := range counts {
		chart, most := Lines{X: time, Y: Axis{Label: count.name}}, 1
		if i == 0 {
			most = f.Lines[0].Slices
			chart.Levels = []Level{{Name: fmt.Sprintf("all %d", most), Y: float64(most)}}
		}
		for k, l := range f.Lines {
			s := staircase(count.of(l.History), l.End(), scale)
			// A line that covers another is thinner, so that both are seen.
			s.Name, s.Width = l.Name, thinnest+vg.Length(len(f.Lines)-1-k)/vg.Length(len(f.Lines))
			chart.Series = append(chart.Series, s)
			for _, y := range s.Y {
				most = max(most, int(y))
			}
		}
		const room = 1.05
		chart.Y.To = room * float64(most)
		out.Charts = append(out.Charts, chart)
	}
	return out
}

// staircase returns the line of a count up to an end, with times in units of so many seconds.
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
