package mfi

import (
	"fmt"

	"miglab/harness/run"
	"miglab/harness/stats"
	"miglab/reports"
)

// A quantity is one of the metrics of VI.
type quantity struct {
	metric, title string
	// scale brings it to the unit of the tables.
	scale float64
	unit  string
}

// quantities are those of Figs. 4 and 5, in the order of their panels.
var quantities = []quantity{
	{"accepted", "Allocated workloads", 1, ""},
	{"acceptance", "Acceptance rate", 100, " [%]"},
	{"utilisation", "Resource utilization", 100, " [%]"},
	{"active_gpus", "Active GPUs", 1, ""},
}

// bySlices is in the tables only; the paper counts workloads.
var bySlices = quantity{"acceptance_slices", "Acceptance rate by memory slices", 100, " [%]"}

// metrics lists what tables and figures show.
func metrics(more ...string) []string {
	out := append(more, bySlices.metric)
	for _, q := range quantities {
		out = append(out, q.metric)
	}
	return out
}

// An interval is a mean with its 95 % confidence interval.
type interval struct{ mean, low, high float64 }

func (i interval) times(f float64) interval { return interval{f * i.mean, f * i.low, f * i.high} }

func (i interval) String() string { return fmt.Sprintf("%.2f ± %.2f", i.mean, (i.high-i.low)/2) }

func summarize(values []float64) (interval, error) {
	s, err := stats.Summarize(values)
	return interval{s.Mean, s.Low, s.High}, err
}

// A grid is the mean of a metric by scheme and place: a load or a distribution.
type grid [][]interval

// gridOf summarizes a quantity. Series gives the one of a scheme at a place.
func gridOf(s samples, q quantity, schemes, places int, series func(scheme, place int) run.Series) (grid, error) {
	out := make(grid, schemes)
	for i := range out {
		for j := range places {
			v, err := summarize(s.of(series(i, j), q.metric))
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], v.times(q.scale))
		}
	}
	return out, nil
}

// normalized divides by the largest mean, as the paper does.
func (g grid) normalized() grid {
	largest := 0.0
	for _, row := range g {
		for _, v := range row {
			largest = max(largest, v.mean)
		}
	}
	out := make(grid, len(g))
	for i, row := range g {
		for _, v := range row {
			out[i] = append(out[i], v.times(1/largest))
		}
	}
	return out
}

// lines draws a grid over numbers.
func (g grid) lines(title string, x, y reports.Axis, names []string, at []float64) reports.Lines {
	out := reports.Lines{Title: title, X: x, Y: y}
	for i, row := range g {
		s := reports.Series{Name: names[i], X: at, Markers: true}
		for _, v := range row {
			s.Y, s.Low, s.High = append(s.Y, v.mean), append(s.Low, v.low), append(s.High, v.high)
		}
		out.Series = append(out.Series, s)
	}
	return out
}

// bars draws a grid over categories.
func (g grid) bars(title string, x, y reports.Axis, names, categories []string) reports.Bars {
	out := reports.Bars{Title: title, X: x, Y: y, Categories: categories}
	for i, row := range g {
		b := reports.BarGroup{Name: names[i]}
		for _, v := range row {
			b.Values, b.Low, b.High = append(b.Values, v.mean), append(b.Low, v.low), append(b.High, v.high)
		}
		out.Groups = append(out.Groups, b)
	}
	return out
}

// rows appends a row for each place to a table, a scheme a column.
func (g grid) rows(t *reports.Table, quantity string, places []string) {
	for j, place := range places {
		row := []string{quantity, place}
		for i := range g {
			row = append(row, g[i][j].String())
		}
		t.Rows = append(t.Rows, row)
	}
}

// tableOf is a table for [grid.rows].
func tableOf(title, place string, names []string) reports.Table {
	t := reports.Table{Title: title, Columns: []reports.Column{{Name: "quantity"}, {Name: place}}}
	for _, n := range names {
		t.Columns = append(t.Columns, reports.Column{Name: n, Right: true})
	}
	t.Notes = []string{"mean ± half of the 95 % confidence interval"}
	return t
}
