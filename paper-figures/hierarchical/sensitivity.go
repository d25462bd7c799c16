package hierarchical

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"miglab/harness/track"

	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// The constants of the model that are tried, each with the other one as shipped.
var (
	kappas = []float64{0.2, 0.225, 0.25, 0.275, 0.3}
	deltas = []float64{0.1, 0.2, 0.3, 0.4, 0.5}
)

// scaled returns the values of a sweep, few of them in a quick run.
func scaled[T any](s figures.Scale, values []T, quick ...T) []T {
	if s.Quick {
		return quick
	}
	return values
}

func withKappa(kappa float64) string { return dataset("%s?kappa=%g", queues, kappa) }
func withDelta(delta float64) string { return dataset("%s?delta=%g", queues, delta) }

// sensitivity says how the methods' throughput, and their order, move with what the model
// assumes.
func sensitivity() figures.Artefact {
	freed := dataset("%s?release=true", queues)
	return figures.Artefact{
		Name: "sensitivity", Title: "how results move with the model (simulated)",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, k := range scaled(s, kappas, 0.2, 0.3) {
				out = append(out, needQueues(withKappa(k))...)
			}
			for _, x := range scaled(s, deltas, 0.1, 0.5) {
				out = append(out, needQueues(withDelta(x))...)
			}
			out = append(out, needQueues(freed)...)
			for _, data := range drawn(s) {
				out = append(out, needQueues(data)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title:   "Mean throughput on Q1 to Q12 by what the model assumes, simulated",
				Columns: []reports.Column{{Name: "setting"}},
				Notes: []string{
					"order: the methods with a choice of partitions, the highest mean first; " + defaultTitle + " has the best partition of each setting",
					"draws: the programs without public times drawn anew; the interval is over the draws",
					simulated(),
				},
			}
			shipped, err := onQueues(d, queues, track.MetricThroughput)
			if err != nil {
				return nil, err
			}
			for _, r := range shipped {
				t.Columns = append(t.Columns, reports.Column{Name: r.title, Right: true})
			}
			t.Columns = append(t.Columns, reports.Column{Name: "order"})
			add := func(name, data string) ([]row, error) {
				rows, err := onQueues(d, data, track.MetricThroughput)
				if err != nil {
					return nil, err
				}
				cells := []string{name}
				for _, r := range rows {
					cells = append(cells, reports.Fixed(mean(r.values), 3))
				}
				t.Rows = append(t.Rows, append(cells, order(rows)))
				return rows, nil
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
					rows, err := add(fmt.Sprintf("%s = %g", x.name, v), x.data(v))
					if err != nil {
						return nil, err
					}
					for i, r := range rows {
						if len(panel.Series) <= i {
							panel.Series = append(panel.Series, reports.Series{Name: r.title, Markers: true})
						}
						s := &panel.Series[i]
						s.X, s.Y = append(s.X, v), append(s.Y, mean(r.values))
					}
				}
				panels = append(panels, panel)
			}
			chart.Charts = aligned(panels, 1)
			if _, err := add("shares of ended jobs freed", freed); err != nil {
				return nil, err
			}
			if err := addDraws(d, &t); err != nil {
				return nil, err
			}
			return &figures.Output{
				Tables:  []figures.Table{{File: "sensitivity", Table: t}},
				Figures: []figures.Figure{{File: "sensitivity", Title: chart.Title, Figure: chart}},
			}, nil
		},
	}
}

// order lists the methods by their means, best first, the optimum left out.
func order(rows []row) string {
	rows = slices.Clone(rows[:len(rows)-1])
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(mean(b.values), mean(a.values)) })
	var names []string
	for _, r := range rows {
		names = append(names, r.title)
	}
	return strings.Join(names, " > ")
}

// addDraws adds the mean over all draws, their range, and how often each order comes.
func addDraws(d *figures.Data, t *reports.Table) error {
	data := drawn(d.Scale)
	var over []row
	orders := map[string]int{}
	for _, one := range data {
		rows, err := onQueues(d, one, track.MetricThroughput)
		if err != nil {
			return err
		}
		orders[order(rows)]++
		for i, r := range rows {
			if len(over) <= i {
				over = append(over, row{title: r.title})
			}
			over[i].values = append(over[i].values, mean(r.values))
		}
	}
	means, low, high := []string{fmt.Sprintf("%d draws, mean", len(data))}, []string{"lowest draw"}, []string{"highest draw"}
	for _, r := range over {
		s, err := stats.Summarize(r.values)
		if err != nil {
			return err
		}
		means = append(means, reports.PlusMinus(s.Mean, s.High-s.Mean, 3))
		low, high = append(low, reports.Fixed(s.Min, 3)), append(high, reports.Fixed(s.Max, 3))
	}
	t.Rows = append(t.Rows, append(means, order(over)), append(low, ""), append(high, ""))
	byNumber := func(a, b string) int { return cmp.Or(cmp.Compare(orders[b], orders[a]), cmp.Compare(a, b)) }
	for _, o := range slices.SortedFunc(maps.Keys(orders), byNumber) {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d draws: %s", orders[o], len(data), o))
	}
	return nil
}
