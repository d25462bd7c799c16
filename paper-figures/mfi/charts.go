package mfi

import (
	"fmt"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
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

// A grid is the mean of a metric by scheme and place: a load or a distribution.
type grid [][]figures.Measurement

// gridOf summarizes a quantity over n simulations. series returns the series of a scheme at
// a place.
func gridOf(d *figures.Data, q quantity, n, schemes, places int, series func(scheme, place int) run.Series) grid {
	out := make(grid, schemes)
	for i := range out {
		for j := range places {
			out[i] = append(out[i], meanOf(d, d.Values(series(i, j), n, q.metric)).Affine(q.scale, 0))
		}
	}
	return out
}

// meanOf is the mean of a sample that is not compared with the paper.
func meanOf(d *figures.Data, values []float64) figures.Measurement {
	return d.MeanOf(values, verdict.Simulations, 0)
}

// normalized divides by the largest mean, as the paper does.
func (g grid) normalized() grid {
	largest := 0.0
	for _, row := range g {
		for _, v := range row {
			largest = max(largest, v.Value)
		}
	}
	out := make(grid, len(g))
	for i, row := range g {
		for _, v := range row {
			out[i] = append(out[i], v.Affine(1/largest, 0))
		}
	}
	return out
}

// lines draws a grid over numbers.
func (g grid) lines(title string, x, y reports.Axis, names []string, at []float64) reports.Lines {
	out := reports.Lines{Title: title, X: x, Y: y}
	for i, row := range g {
		s := reports.Series{Name: names[i], Markers: true}
		for j, v := range row {
			s.Add(at[j], v.Value, v.Low, v.High)
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
			b.Add(v.Value, v.Low, v.High)
		}
		out.Groups = append(out.Groups, b)
	}
	return out
}

// rows appends a row for each place to a table, with a column for each scheme.
func (g grid) rows(t *reports.Table, quantity string, places []string) {
	for j, place := range places {
		row := []string{quantity, place}
		for i := range g {
			row = append(row, figures.PlusMinus(g[i][j], 2)...)
		}
		t.Rows = append(t.Rows, row)
	}
}

// tableOf is an empty table for [grid.rows].
func tableOf(title, place string, names []string) reports.Table {
	return reports.Table{
		Title: title, Columns: reports.Left("quantity", place).PlusMinus(names...),
		Notes: []string{"mean ± half of the 95 % confidence interval"},
	}
}

// inFigures lists the readings that figures are drawn under.
func inFigures() (out []reading) {
	for _, r := range readings {
		if r.title != "" {
			out = append(out, r)
		}
	}
	return out
}

// panels adds a figure and a table of all quantities under a reading to an output. There is a
// place for each dataset; chart draws a panel.
func (r reading) panels(
	d *figures.Data, out *figures.Output, file string, t reports.Table, title string, datasets, places []string,
	chart func(title string, g grid) reports.Chart,
) {
	figure := reports.Panels{Title: title}
	of := func(q quantity) grid {
		g := gridOf(d, q, simulations, len(schemes), len(datasets), func(scheme, place int) run.Series { return r.series(schemes[scheme], datasets[place]) })
		g.rows(&t, q.title+q.unit, places)
		return g
	}
	for i, q := range quantities {
		figure.Charts = append(figure.Charts, chart(fmt.Sprintf("(%c) %s", 'a'+i, q.title), of(q).normalized()))
	}
	of(bySlices)
	out.Figure(file+r.file, title, figure).Table(file+r.file, t)
}

// percents are values in percent as numbers and in words.
func percents(values []int) (numbers []float64, words []string) {
	for _, v := range values {
		numbers, words = append(numbers, float64(v)), append(words, fmt.Sprintf("%d %%", v))
	}
	return numbers, words
}
