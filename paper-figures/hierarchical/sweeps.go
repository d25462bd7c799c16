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

// categories names the paper's categories of queues (V-A2). Package datasets has a dataset for each.
var categories = []string{"ci-dominant", "mi-dominant", "us-dominant", "balanced"}

// queuesPerCategory is the number of queues of each category in Fig. 9. The paper has three.
const queuesPerCategory = 12

// categoryQueues lists the datasets of queues of w jobs, one for each category, with further parameters.
func categoryQueues(w int, parameters string) []string {
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

// A sweep compares the mean throughputs of methods over the values of a parameter. Its claim is how much the agent
// gains from the parameter's value low to the value high.
type sweep struct {
	// symbol is the paper's name of the parameter, and axis labels the chart.
	name, symbol, axis string
	// title and notes are the table's.
	title     string
	notes     []string
	values    []int
	low, high int
	// datasets lists the datasets at a value, with further parameters, for example "&draw=101".
	datasets func(value int, parameters string) []string
	// count is the number of queues of each dataset.
	count int
}

// throughputs returns a method's throughputs at a value, one for each queue of the datasets.
func (f *sweep) throughputs(d *figures.Data, m method, value int, parameters string) (out []float64) {
	for _, dataset := range f.datasets(value, parameters) {
		out = append(out, m.values(d, dataset, f.count, track.MetricThroughput)...)
	}
	return out
}

// build shows the table and the chart, and measures the claim.
func (f *sweep) build(d *figures.Data) {
	f.show(d)
	f.measure(d)
}

func (f *sweep) show(d *figures.Data) {
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
	d.Figure(f.name, chart.Title, chart)
}

// measure measures the claim under the paper's model and the blind one, over the agent's training runs and the first
// [fewDraws] reported draws.
func (f *sweep) measure(d *figures.Data) {
	gain := claim.Of(fmt.Sprintf("mean throughput of the agent with %[1]s = %[2]d less that with %[1]s = %[3]d",
		f.symbol, f.high, f.low))
	for v, values := range figures.Under(d, []variation{variations[0], blind}) {
		var draws []string // parameters of the datasets
		for i := range countFor(d.Scale, fewDraws) {
			draws = append(draws, fmt.Sprintf("&draw=%d%s", firstReported+i, v.parameters))
		}
		values[gain] = d.Crossed(eachRun(agent, draws, func(r method, draw string) float64 {
			return figures.Mean(f.throughputs(d, r, f.high, draw)) - figures.Mean(f.throughputs(d, r, f.low, draw))
		}))
	}
}

// figure9 shows throughput against W. All its queues are generated as V-A2 says, also those of 12 jobs.
func figure9(d *figures.Data) {
	f := sweep{
		name: "figure9", symbol: "W", axis: "Window size W [jobs]",
		title: "Fig. 9. Relative throughput against the window size W, simulated",
		notes: []string{
			fmt.Sprintf("means over %d generated queues of each of the four categories; ± is half the 95 %% interval",
				countFor(d.Scale, queuesPerCategory)),
			fmt.Sprintf("a shorter queue has jobs of the longer one; the agent's network takes %d jobs at most",
				windowSize),
		},
		values: scaled(d.Scale, []int{4, 6, 8, 10, 12, 14, 16}, 4, windowSize), low: 4, high: windowSize,
		datasets: categoryQueues, count: countFor(d.Scale, queuesPerCategory),
	}
	f.build(d)
}

// figure10 shows throughput against Cmax on Q1 to Q12.
var figure10 = sweep{
	name: "figure10", symbol: "Cmax", axis: "Cmax [jobs]",
	title: "Fig. 10. Relative throughput against the concurrency Cmax, simulated",
	notes: []string{
		"means over Q1 to Q12; ± is half the 95 % interval over the queues",
		fmt.Sprintf("the agent is trained with Cmax = %d; MIG Only has groups of two at most", concurrency),
	},
	values: []int{1, 2, 3, 4}, low: 2, high: concurrency, count: len(queueNames),
	datasets: func(cmax int, parameters string) []string {
		return []string{figures.Dataset(fmt.Sprintf("%s?cmax=%d%s", queues, cmax, parameters))}
	},
}
