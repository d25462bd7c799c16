package mfi

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// A quantity is one of the metrics of VI.
type quantity struct {
	metric, title string
	// scale brings it to the unit of the tables.
	scale float64
	unit  string
	// step is the unit of differences.
	step string
}

// quantities are the panels of Figs. 4 and 5. The last one is in tables only, because the paper counts workloads.
var quantities = []quantity{
	{"accepted", "Allocated workloads", 1, "", "workloads"},
	{"acceptance", "Acceptance rate", 100, " [%]", "points"},
	{"utilisation", "Resource utilization", 100, " [%]", "points"},
	{"active_gpus", "Active GPUs", 1, "", "GPUs"},
	{"acceptance_slices", "Acceptance rate by memory slices", 100, " [%]", "points"},
}

// A grid is the mean of a metric by scheme and place: a load or a distribution.
type grid [][]figures.Measurement

// gridOf returns the means of values for each name, such as a scheme, at each place, times scale.
func gridOf(d *figures.Data, names, places []string, scale float64, of func(name, place string) []float64) grid {
	return figures.Map(names, func(name string) []figures.Measurement {
		return figures.Map(places, func(place string) figures.Measurement {
			m := d.MeanOf(of(name, place), verdict.Simulations, 0) // 0: it is not compared with the paper
			return m.Affine(scale, 0)
		})
	})
}

// grid measures a quantity of all schemes on some streams.
func (r reading) grid(d *figures.Data, q quantity, data []string) grid {
	return gridOf(d, schemes, data, q.scale, func(scheme, dataset string) []float64 {
		return r.values(d, scheme, dataset, q.metric)
	})
}

// gaps measures by how much a quantity of each baseline exceeds MFI's on the same streams.
func (r reading) gaps(d *figures.Data, q quantity, data []string) grid {
	return gridOf(d, baselines, data, q.scale, func(scheme, dataset string) []float64 {
		return differences(r.values(d, scheme, dataset, q.metric), r.values(d, "MFI", dataset, q.metric), 1)
	})
}

// normalized divides by the largest mean, as the paper does.
func (g grid) normalized() grid {
	largest := slices.MaxFunc(slices.Concat(g...), func(a, b figures.Measurement) int {
		return cmp.Compare(a.Value, b.Value)
	}).Value
	return figures.Map(g, func(row []figures.Measurement) []figures.Measurement {
		return figures.Map(row, func(m figures.Measurement) figures.Measurement { return m.Affine(1/largest, 0) })
	})
}

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
func (g grid) rows(t *figures.Table, quantity string, places []string, decimals int) {
	for j, place := range places {
		t.Row(quantity, place, figures.Map(g, func(by []figures.Measurement) []string {
			return figures.PlusMinus(by[j], decimals)
		}))
	}
}

// halfWidth is a note of tables of means.
const halfWidth = "mean ± half of the 95 % confidence interval"

// inFigures is the reading that tables and figures show, the default. claims.csv has the others.
const inFigures = "VI: FF and RR strict, F start-free"

// panels adds a figure and a table of all quantities under the default reading. places names the datasets in data,
// place the column of the table that has them, and charts draws the panels of a quantity.
func panels(d *figures.Data, number int, what, place string, data, places []string,
	charts func(q quantity, g grid) []reports.Chart,
) {
	t := d.Table(fmt.Sprint("figure", number), fmt.Sprintf("Figure %d, not normalized; %s", number, inFigures),
		reports.Left("quantity", place).PlusMinus(schemes...), halfWidth)
	figure := reports.Panels{Title: fmt.Sprintf("Fig. %d. %s; %s", number, what, inFigures)}
	for i, q := range quantities {
		g := readings[0].grid(d, q, data)
		g.rows(t, q.title+q.unit, places, 2)
		if i < len(quantities)-1 {
			q.title = fmt.Sprintf("(%c) %s", 'a'+i, q.title)
			figure.Charts = append(figure.Charts, charts(q, g.normalized())...)
		}
	}
	d.Figure(t.File, figure.Title, figure)
}

// percents returns values in percent as numbers and in words.
func percents(values []int) (numbers []float64, words []string) {
	for _, v := range values {
		numbers, words = append(numbers, float64(v)), append(words, fmt.Sprintf("%d %%", v))
	}
	return numbers, words
}

// eachInstance applies a function to the values of every instance.
func eachInstance(f func(v []float64) float64, columns ...[]float64) []float64 {
	out := make([]float64, len(columns[0]))
	row := make([]float64, len(columns))
	for i := range out {
		for j := range columns {
			row[j] = columns[j][i]
		}
		out[i] = f(row)
	}
	return out
}

// differences returns scale times the paired differences a - b.
func differences(a, b []float64, scale float64) []float64 {
	return eachInstance(func(v []float64) float64 { return scale * (v[0] - v[1]) }, a, b)
}

// highest and lowest return the sample with the highest and the lowest mean.
func highest(columns ...[]float64) []float64 {
	return slices.MaxFunc(columns, compareMeans)
}

func lowest(columns ...[]float64) []float64 {
	return slices.MinFunc(columns, compareMeans)
}

func compareMeans(a, b []float64) int { return cmp.Compare(figures.Mean(a), figures.Mean(b)) }

// A measured collects the values of a reading.
type measured struct {
	reading
	d      *figures.Data
	values figures.Values
	// runs is the number of simulations here, and paper the paper's, 0 for numbers that are not in the paper.
	runs, paper int
}

// at returns a metric of a scheme on a stream, by simulation.
func (m *measured) at(scheme, dataset, metric string) []float64 {
	return m.d.Values(m.series(scheme, dataset), m.runs, metric)
}

// gains returns, by simulation, by how many percent a metric of MFI exceeds the mean of the baselines.
func (m *measured) gains(dataset, metric string) []float64 {
	columns := figures.Map(baselines, func(scheme string) []float64 { return m.at(scheme, dataset, metric) })
	return eachInstance(gain, slices.Insert(columns, 0, m.at("MFI", dataset, metric))...)
}

// gain returns by how many percent the first value exceeds the mean of the others.
func gain(v []float64) float64 { return 100 * (v[0]/figures.Mean(v[1:]) - 1) }

// mean sets a cell to the mean of a sample.
func (m *measured) mean(cell claim.Cell, values []float64) {
	m.values[cell] = m.d.MeanOf(values, verdict.Simulations, m.paper)
}

// A pair has two samples by simulation, of which the paper says that more is larger.
type pair struct{ more, fewer []float64 }

// sign returns 1 or -1 if the first mean is surely larger or smaller than the second, or else 0.
func (m *measured) sign(p pair) int {
	switch v := m.d.MeanOf(differences(p.more, p.fewer, 1), verdict.Simulations, m.paper); {
	case v.Low > 0:
		return 1
	case v.High < 0:
		return -1
	}
	return 0
}

// nearest sets a cell to scale times the paired difference of the pair in which it is least sure to lie above zero.
func (m *measured) nearest(cell claim.Cell, scale float64, pairs []pair) {
	sure := math.Inf(1)
	for _, p := range pairs {
		v := m.d.MeanOf(differences(p.more, p.fewer, scale), verdict.Simulations, m.paper)
		if t := v.Value / math.Max(v.StdErr, 1e-12); t < sure {
			sure, m.values[cell] = t, v
		}
	}
}
