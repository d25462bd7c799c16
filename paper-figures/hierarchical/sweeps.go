package hierarchical

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// categories are the datasets of queues of the paper's four categories, for any W.
var categories = []string{"ci-dominant", "mi-dominant", "us-dominant", "balanced"}

// generated is the number of queues of each category in Fig. 9. The paper has three.
const generated = 12

// ofCategories lists the datasets of queues of all categories, with further parameters, for example "&draw=101".
func ofCategories(w int, parameters string) []string {
	return figures.Map(categories, func(c string) string {
		return figures.Dataset(fmt.Sprintf("corun/%s?w=%d%s", c, w, parameters))
	})
}

// scaled returns all values, or the quick ones in a quick run.
func scaled[T any](s figures.Scale, values []T, quick ...T) []T {
	if s.Quick {
		return quick
	}
	return values
}

// countFor returns how many of n queues or draws a run takes.
func countFor(s figures.Scale, n int) int { return scaled(s, []int{n}, 2)[0] }

// A sweep is the mean throughput of methods against a parameter.
type sweep struct {
	// symbol is the paper's, and axis is the label of the chart.
	name, symbol, axis string
	// title and notes are the table's.
	title  string
	notes  []string
	values []int
	// data lists the datasets at a value, with more parameters, and count how many queues each has.
	data  func(value int, parameters string) []string
	count int
	// The claim is about the agent's throughput at the value more, less that at the value less.
	more, less int
}

// on returns the throughputs of a method at a value.
func (f *sweep) on(d *figures.Data, m method, value int, parameters string) (out []float64) {
	for _, data := range f.data(value, parameters) {
		out = append(out, m.values(d, data, f.count, track.MetricThroughput)...)
	}
	return out
}

// build draws the figure and measures its claim, over the agent's training runs and the reported draws.
func (f *sweep) build(d *figures.Data) (*figures.Output, error) {
	step := fmt.Sprintf("mean throughput of the agent with %[1]s = %[2]d less that with %[1]s = %[3]d", f.symbol,
		f.more, f.less)
	t := figures.NewTable(f.name, f.title, reports.Right(f.symbol), append(f.notes, simulated())...)
	chart := reports.Bars{
		Title: onChart(t), X: reports.Axis{Label: f.axis}, Y: overTimeSharing,
		Categories: figures.Map(f.values, strconv.Itoa), Dots: true,
	}
	t.Rows = figures.Map(chart.Categories, func(value string) []string { return []string{value} })
	for _, m := range []method{migShared, mpsOnly, agent, exact} {
		t.Columns = t.Columns.PlusMinus(m.title)
		dots := reports.BarGroup{Name: m.title}
		for i, value := range f.values {
			if m == agent && value > windowSize { // more jobs than its network takes
				t.Rows[i] = append(t.Rows[i], reports.Missing, "")
				dots.Add(math.NaN(), math.NaN(), math.NaN())
				continue
			}
			v := d.Summarize(f.on(d, m, value, ""))
			t.Rows[i] = append(t.Rows[i], reports.Cells(3, v.Mean, v.High-v.Mean)...)
			dots.Add(v.Mean, v.Low, v.High)
		}
		chart.Groups = append(chart.Groups, dots)
	}
	reading := func(v variation) figures.Reading {
		var numbers []string
		for i := range countFor(d.Scale, fewDraws) {
			numbers = append(numbers, fmt.Sprintf("&draw=%d%s", firstReported+i, v.parameters))
		}
		steps := eachRun(agent, numbers, func(r method, draw string) float64 {
			return figures.Mean(f.on(d, r, f.more, draw)) - figures.Mean(f.on(d, r, f.less, draw))
		})
		return figures.Reading{Name: v.name, Values: figures.Values{claim.Of(step): d.Crossed(steps)}}
	}
	return figures.Read(reading(variations[0]), reading(blind)).Table(t).Figure(f.name, chart.Title, chart), nil
}

// figure9 draws throughput against W. Queues of other lengths than 12 are generated as the paper says (V-A2).
func figure9(d *figures.Data) (*figures.Output, error) {
	f := sweep{
		name: "figure9", symbol: "W", axis: "Window size W [jobs]",
		title: "Fig. 9. Relative throughput against the window size W, simulated",
		notes: []string{
			fmt.Sprintf("means over %d generated queues of each of the four categories; ± is half the 95 %% interval",
				countFor(d.Scale, generated)),
			fmt.Sprintf("a shorter queue has jobs of the longer one; the agent's network takes %d jobs at most",
				windowSize),
		},
		values: scaled(d.Scale, []int{4, 6, 8, 10, 12, 14, 16}, 4, windowSize), data: ofCategories,
		count: countFor(d.Scale, generated), more: windowSize, less: 4,
	}
	return f.build(d)
}

var figure10 = sweep{
	name: "figure10", symbol: "Cmax", axis: "Cmax [jobs]",
	title: "Fig. 10. Relative throughput against the concurrency Cmax, simulated",
	notes: []string{
		"means over Q1 to Q12; ± is half the 95 % interval over the queues",
		fmt.Sprintf("the agent is trained with Cmax = %d; MIG Only has groups of two at most", concurrency),
	},
	values: []int{1, 2, 3, 4}, count: len(queueNames),
	data: func(cmax int, parameters string) []string { return []string{queuesWith("cmax=%d%s", cmax, parameters)} },
	more: concurrency, less: 2,
}

// throughputRows returns the mean throughputs of the methods on Q1 to Q12, one value for each dataset.
func throughputRows(d *figures.Data, data ...string) (out []row) {
	for _, dataset := range data {
		for i, r := range rowsByQueue(d, []string{dataset}, track.MetricThroughput) {
			if len(out) <= i {
				out = append(out, row{title: r.title})
			}
			out[i].values = append(out[i].values, r.mean())
		}
	}
	return out
}

// sensitivity shows the throughput and the order of the methods for other constants of the model and other draws.
func sensitivity(d *figures.Data) (*figures.Output, error) {
	t := figures.NewTable("sensitivity", "Mean throughput on Q1 to Q12 by what the model assumes, simulated",
		reports.Left("setting"),
		"order: the methods with a choice of partitions, the highest mean first; MIG+MPS Default has the best "+
			"partition of each setting",
		"draws: the programs without public times drawn again; the interval is over the draws",
		simulated())
	chart := reports.Panels{Title: "Mean throughput on Q1 to Q12 by the model's constants (simulated)", Columns: 2}
	add := func(name string, rows []row) {
		cells := figures.Map(rows, func(r row) []string { return []string{reports.Fixed(r.mean(), 3), ""} })
		t.Row(name, cells, order(rows))
	}
	var panels []reports.Lines
	m := shippedModel()
	for _, x := range []struct {
		name, label, title string
		values             []float64
	}{
		{
			"kappa", "kappa: how much jobs that share memory slow each other", fmt.Sprintf("delta = %g", m.Delta),
			scaled(d.Scale, []float64{0.2, 0.225, 0.25, 0.275, 0.3}, 0.2, 0.3),
		},
		{
			"delta", "delta: what MPS without percentages costs", fmt.Sprintf("kappa = %g", m.Kappa),
			scaled(d.Scale, []float64{0.1, 0.2, 0.3, 0.4, 0.5}, 0.1, 0.5),
		},
	} {
		panel := reports.Lines{Title: x.title, X: reports.Axis{Label: x.label, Ticks: x.values}, Y: overTimeSharing}
		for _, v := range x.values {
			rows := throughputRows(d, queuesWith("%s=%g", x.name, v))
			add(fmt.Sprintf("%s = %g", x.name, v), rows)
			for i, r := range rows {
				if len(panel.Series) <= i {
					panel.Series = append(panel.Series, reports.Series{Name: r.title, X: x.values, Markers: true})
				}
				panel.Series[i].Y = append(panel.Series[i].Y, r.mean())
			}
		}
		panels = append(panels, panel)
	}
	chart.Charts = aligned(panels, 1)
	add("shares of ended jobs freed", throughputRows(d, queuesWith("release=true")))
	addDraws(d, t)
	return new(figures.Output).Table(t).Figure("sensitivity", chart.Title, chart), nil
}

// order lists the methods except the optimum by their means, best first.
func order(rows []row) string {
	rows = slices.Clone(rows[:len(rows)-1])
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.mean(), a.mean()) })
	return strings.Join(figures.Map(rows, func(r row) string { return r.title }), " > ")
}

// addDraws adds the methods' columns, the mean over all draws, their range, and how often each order occurs.
func addDraws(d *figures.Data, t *figures.Table) {
	data := reported(d.Scale)
	over, n := throughputRows(d, data...), len(data)
	orders := map[string]int{}
	for i := range n {
		orders[order(figures.Map(over, func(r row) row { return row{r.title, r.values[i : i+1]} }))]++
	}
	var means, low, high []string
	for _, r := range over {
		t.Columns = t.Columns.PlusMinus(r.title)
		s := d.Summarize(r.values)
		means = append(means, reports.Cells(3, s.Mean, s.High-s.Mean)...)
		low, high = append(low, reports.Fixed(s.Min, 3), ""), append(high, reports.Fixed(s.Max, 3), "")
	}
	t.Columns = t.Columns.Left("order")
	t.Row(fmt.Sprintf("%d draws, mean", n), means, order(over))
	t.Row("lowest draw", low, "")
	t.Row("highest draw", high, "")
	byNumber := func(a, b string) int { return cmp.Or(cmp.Compare(orders[b], orders[a]), cmp.Compare(a, b)) }
	for _, o := range slices.SortedFunc(maps.Keys(orders), byNumber) {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d draws: %s", orders[o], n, o))
	}
}
