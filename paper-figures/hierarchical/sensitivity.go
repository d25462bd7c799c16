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

// scaled returns the values of a sweep, or fewer in a quick run.
func scaled[T any](s figures.Scale, values []T, quick ...T) []T {
	if s.Quick {
		return quick
	}
	return values
}

// meansBy returns the methods' mean throughput on Q1 to Q12, one for each dataset.
func meansBy(d *figures.Data, data []string) (out []row) {
	for _, dataset := range data {
		for i, r := range onQueues(d, []string{dataset}, track.MetricThroughput) {
			if len(out) <= i {
				out = append(out, row{title: r.title})
			}
			out[i].values = append(out[i].values, r.mean())
		}
	}
	return out
}

// at has one value of each row.
func at(rows []row, i int) []row {
	return figures.Map(rows, func(r row) row { return row{r.title, r.values[i : i+1]} })
}

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
	add := func(name string, rows []row) {
		cells := []string{name}
		for _, r := range rows {
			cells = append(cells, reports.Fixed(r.mean(), 3), "")
		}
		t.Rows = append(t.Rows, append(cells, order(rows)))
	}
	chart := reports.Panels{Title: "Mean throughput on Q1 to Q12 by the model's constants (simulated)", Columns: 2}
	var panels []reports.Lines
	m := shippedModel()
	for _, x := range []struct {
		name, title string
		values      []float64
	}{
		{"kappa", fmt.Sprintf("delta = %g", m.Delta), scaled(d.Scale, []float64{0.2, 0.225, 0.25, 0.275, 0.3}, 0.2, 0.3)},
		{"delta", fmt.Sprintf("kappa = %g", m.Kappa), scaled(d.Scale, []float64{0.1, 0.2, 0.3, 0.4, 0.5}, 0.1, 0.5)},
	} {
		panel := reports.Lines{Title: x.title, X: reports.Axis{Label: x.name, Ticks: x.values}, Y: reports.Axis{Label: "Throughput / time sharing"}}
		rows := meansBy(d, figures.Map(x.values, func(v float64) string { return queuesWith("%s=%g", x.name, v) }))
		for i, v := range x.values {
			add(fmt.Sprintf("%s = %g", x.name, v), at(rows, i))
		}
		for _, r := range rows {
			panel.Series = append(panel.Series, reports.Series{Name: r.title, X: x.values, Y: r.values, Markers: true})
		}
		panels = append(panels, panel)
	}
	chart.Charts = aligned(panels, 1)
	add("shares of ended jobs freed", meansBy(d, []string{queuesWith("release=true")}))
	addDraws(d, &t)
	return new(figures.Output).Table("sensitivity", t).Figure("sensitivity", chart.Title, chart), nil
}

// order lists the methods by their means, best first, the optimum left out.
func order(rows []row) string {
	rows = slices.Clone(rows[:len(rows)-1])
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.mean(), a.mean()) })
	return strings.Join(figures.Map(rows, func(r row) string { return r.title }), " > ")
}

// addDraws adds the mean over all draws, their range, and how often each order occurs.
func addDraws(d *figures.Data, t *reports.Table) {
	data := reported(d.Scale, "")
	over := meansBy(d, data)
	orders := map[string]int{}
	for i := range data {
		orders[order(at(over, i))]++
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
