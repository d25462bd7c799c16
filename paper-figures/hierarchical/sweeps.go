package hierarchical

import (
	"fmt"
	"math"
	"strconv"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// categories are the names of the paper's four categories of queues (V-A2). Package datasets has a dataset for each.
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

// countFor returns how many of n queues or draws a run takes: n, or 2 in a quick run. n is at least 2.
func countFor(s figures.Scale, n int) int { return scaled(s, []int{n}, 2)[0] }

// A sweep is the mean throughput of methods against a parameter.
type sweep struct {
	// symbol is the paper's name of the parameter, and axis labels the chart.
	name, symbol, axis string
	// title and notes are the table's.
	title  string
	notes  []string
	values []int
	// datasets lists the datasets at a value, with further parameters, for example "&draw=101".
	datasets func(value int, parameters string) []string
	// count is the number of queues of each dataset.
	count int
	// The claim is the agent's mean throughput at the value more minus its mean throughput at the value less.
	more, less int
}

// throughputs returns the throughputs of a method at a value, of each queue of the datasets.
func (f *sweep) throughputs(d *figures.Data, m method, value int, parameters string) (out []float64) {
	for _, dataset := range f.datasets(value, parameters) {
		out = append(out, m.values(d, dataset, f.count, track.MetricThroughput)...)
	}
	return out
}

// build draws the figure and measures its claim, over the agent's training runs and the first
// [fewDraws] reported draws.
func (f *sweep) build(d *figures.Data) {
	step := fmt.Sprintf("mean throughput of the agent with %[1]s = %[2]d less that with %[1]s = %[3]d", f.symbol,
		f.more, f.less)
	t := d.Table(f.name, f.title, reports.Right(f.symbol), append(f.notes, simulated())...)
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
			v := d.Summarize(f.throughputs(d, m, value, ""))
			t.Rows[i] = append(t.Rows[i], reports.Cells(3, v.Mean, v.High-v.Mean)...)
			dots.Add(v.Mean, v.Low, v.High)
		}
		chart.Groups = append(chart.Groups, dots)
	}
	for v, values := range figures.Under(d, []variation{variations[0], blind}) {
		var draws []string // parameters of the datasets
		for i := range countFor(d.Scale, fewDraws) {
			draws = append(draws, fmt.Sprintf("&draw=%d%s", firstReported+i, v.parameters))
		}
		steps := eachRun(agent, draws, func(r method, draw string) float64 {
			return figures.Mean(f.throughputs(d, r, f.more, draw)) - figures.Mean(f.throughputs(d, r, f.less, draw))
		})
		values[claim.Of(step)] = d.Crossed(steps)
	}
	d.Figure(f.name, chart.Title, chart)
}

// figure9 draws throughput against W. All its queues are generated as the paper says (V-A2), also those of 12 jobs.
func figure9(d *figures.Data) {
	f := sweep{
		name: "figure9", symbol: "W", axis: "Window size W [jobs]",
		title: "Fig. 9. Relative throughput against the window size W, simulated",
		notes: []string{
			fmt.Sprintf("means over %d generated queues of each of the four categories; ± is half the 95 %% interval",
				countFor(d.Scale, generated)),
			fmt.Sprintf("a shorter queue has jobs of the longer one; the agent's network takes %d jobs at most",
				windowSize),
		},
		values: scaled(d.Scale, []int{4, 6, 8, 10, 12, 14, 16}, 4, windowSize), datasets: ofCategories,
		count: countFor(d.Scale, generated), more: windowSize, less: 4,
	}
	f.build(d)
}

// figure10 draws throughput against Cmax on Q1 to Q12.
var figure10 = sweep{
	name: "figure10", symbol: "Cmax", axis: "Cmax [jobs]",
	title: "Fig. 10. Relative throughput against the concurrency Cmax, simulated",
	notes: []string{
		"means over Q1 to Q12; ± is half the 95 % interval over the queues",
		fmt.Sprintf("the agent is trained with Cmax = %d; MIG Only has groups of two at most", concurrency),
	},
	values: []int{1, 2, 3, 4}, count: len(queueNames),
	datasets: func(cmax int, parameters string) []string { return []string{queuesWith("cmax=%d%s", cmax, parameters)} },
	more:     concurrency, less: 2,
}

// throughputRows returns the mean throughputs of the methods on Q1 to Q12, one value for each dataset.
func throughputRows(d *figures.Data, datasets ...string) (out []row) {
	for _, dataset := range datasets {
		for i, r := range rowsByQueue(d, []string{dataset}, track.MetricThroughput) {
			if len(out) <= i {
				out = append(out, row{title: r.title})
			}
			out[i].values = append(out[i].values, r.mean())
		}
	}
	return out
}
