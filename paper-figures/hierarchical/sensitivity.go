package hierarchical

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// The constants of the model that are varied, one at a time.
var (
	kappas = []float64{0.2, 0.225, 0.25, 0.275, 0.3}
	deltas = []float64{0.1, 0.2, 0.3, 0.4, 0.5}
)

// scaled returns the values of a sweep, or fewer in a quick run.
func scaled[T any](s figures.Scale, values []T, quick ...T) []T {
	if s.Quick {
		return quick
	}
	return values
}

func withKappa(kappa float64) string { return queuesWith("kappa=%g", kappa) }
func withDelta(delta float64) string { return queuesWith("delta=%g", delta) }

// sensitivity shows how the throughput and the order of the methods depend on the assumptions
// of the model.
func sensitivity(d *figures.Data) (*figures.Output, error) {
	t := reports.Table{
		Title:   "Mean throughput on Q1 to Q12 by what the model assumes, simulated",
		Columns: reports.Left("setting"),
		Notes: []string{
			"order: the methods with a choice of partitions, the highest mean first; " + defaultTitle + " has the best partition of each setting",
			"draws: the programs without public times drawn again; the interval is over the draws",
			simulated(),
		},
	}
	for _, r := range onQueues(d, []string{queues}, track.MetricThroughput) {
		t.Columns = t.Columns.PlusMinus(r.title)
	}
	t.Columns = t.Columns.Left("order")
	add := func(name, data string) []row {
		rows := onQueues(d, []string{data}, track.MetricThroughput)
		cells := []string{name}
		for _, r := range rows {
			cells = append(cells, reports.Fixed(figures.Mean(r.values), 3), "")
		}
		t.Rows = append(t.Rows, append(cells, order(rows)))
		return rows
	}
	chart := reports.Panels{Title: "Mean throughput on Q1 to Q12 by the model's constants (simulated)", Columns: 2}
	var panels []reports.Lines
	m := shippedModel()
	for _, x := range []struct {
		name, title string
		values      []float64
		data        func(float64) string
	}{
		{"kappa", fmt.Sprintf("delta = %g", m.Delta), scaled(d.Scale, kappas, 0.2, 0.3), withKappa},
		{"delta", fmt.Sprintf("kappa = %g", m.Kappa), scaled(d.Scale, deltas, 0.1, 0.5), withDelta},
	} {
		panel := reports.Lines{Title: x.title, X: reports.Axis{Label: x.name, Ticks: x.values}, Y: reports.Axis{Label: "Throughput / time sharing"}}
		for _, v := range x.values {
			rows := add(fmt.Sprintf("%s = %g", x.name, v), x.data(v))
			for i, r := range rows {
				if len(panel.Series) <= i {
					panel.Series = append(panel.Series, reports.Series{Name: r.title, Markers: true})
				}
				s := &panel.Series[i]
				s.X, s.Y = append(s.X, v), append(s.Y, figures.Mean(r.values))
			}
		}
		panels = append(panels, panel)
	}
	chart.Charts = aligned(panels, 1)
	add("shares of ended jobs freed", queuesWith("release=true"))
	addDraws(d, &t)
	return new(figures.Output).Table("sensitivity", t).Figure("sensitivity", chart.Title, chart), nil
}

// order lists the methods by their means, best first, the optimum left out.
func order(rows []row) string {
	rows = slices.Clone(rows[:len(rows)-1])
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(figures.Mean(b.values), figures.Mean(a.values)) })
	var names []string
	for _, r := range rows {
		names = append(names, r.title)
	}
	return strings.Join(names, " > ")
}

// addDraws adds the mean over all draws, their range, and how often each order occurs.
func addDraws(d *figures.Data, t *reports.Table) {
	data := reported(d.Scale, "")
	var over []row
	orders := map[string]int{}
	for _, one := range data {
		rows := onQueues(d, []string{one}, track.MetricThroughput)
		orders[order(rows)]++
		for i, r := range rows {
			if len(over) <= i {
				over = append(over, row{title: r.title})
			}
			over[i].values = append(over[i].values, figures.Mean(r.values))
		}
	}
	means, low, high := []string{fmt.Sprintf("%d draws, mean", len(data))}, []string{"lowest draw"}, []string{"highest draw"}
	for _, r := range over {
		s := d.Summarize(r.values)
		means = append(means, reports.PlusMinus(s.Mean, s.High-s.Mean, 3)...)
		low, high = append(low, reports.Fixed(s.Min, 3), ""), append(high, reports.Fixed(s.Max, 3), "")
	}
	t.Rows = append(t.Rows, append(means, order(over)), append(low, ""), append(high, ""))
	byNumber := func(a, b string) int { return cmp.Or(cmp.Compare(orders[b], orders[a]), cmp.Compare(a, b)) }
	for _, o := range slices.SortedFunc(maps.Keys(orders), byNumber) {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d draws: %s", orders[o], len(data), o))
	}
}
