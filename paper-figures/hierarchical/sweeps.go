package hierarchical

import (
	"fmt"
	"strconv"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// categories are the datasets of queues of the paper's four categories, for any W.
var categories = []string{"ci-dominant", "mi-dominant", "us-dominant", "balanced"}

// generated is the number of queues of each category in Fig. 9. The paper has three.
const generated = 12

// windows are the W of Fig. 9.
var windows = []int{4, 6, 8, 10, 12, 14, 16}

// ofCategories lists the datasets of queues of all categories. Parameters may be added, for example
// "&draw=101".
func ofCategories(w int, parameters string) (out []string) {
	for _, c := range categories {
		out = append(out, figures.Dataset(fmt.Sprintf("corun/%s?w=%d%s", c, w, parameters)))
	}
	return out
}

// few returns how many of n queues or draws a run takes.
func few(s figures.Scale, n int) int {
	if s.Quick {
		return 2
	}
	return n
}

// A sweep is the mean throughput of methods against a parameter.
type sweep struct {
	number int
	// what is the parameter in the title, symbol in the table and axis below the chart.
	what, symbol, axis string
	values             []int
	// data lists the datasets at a value, with more parameters, and count how many queues each has.
	data  func(value int, parameters string) []string
	count int
	// claim is about the agent's throughput at the value more, less that at the value less.
	claim      string
	more, less int
	notes      []string
}

// on returns the throughputs of a method at a value.
func (f *sweep) on(d *figures.Data, m method, value int, parameters string) (out []float64) {
	for _, data := range f.data(value, parameters) {
		out = append(out, d.Values(m.on(data), f.count, track.MetricThroughput)...)
	}
	return out
}

// build draws the figure and measures its claim.
func (f *sweep) build(d *figures.Data) (*figures.Output, error) {
	title := fmt.Sprintf("Fig. %d. Relative throughput against the %s", f.number, f.what)
	t := reports.Table{Title: title + ", simulated", Columns: reports.Right(f.symbol), Notes: append(f.notes, simulated())}
	chart := reports.Lines{Title: title + " (simulated)", X: reports.Axis{Label: f.axis}, Y: reports.Axis{Label: "Throughput / time sharing"}}
	for _, value := range f.values {
		t.Rows = append(t.Rows, []string{strconv.Itoa(value)})
		chart.X.Ticks = append(chart.X.Ticks, float64(value))
	}
	for _, m := range []method{migShared, mpsOnly, agent, exact} {
		t.Columns = t.Columns.PlusMinus(m.title)
		line := reports.Series{Name: m.title, Markers: true}
		for i, value := range f.values {
			if m == agent && value > windowSize { // more jobs than its network takes
				t.Rows[i] = append(t.Rows[i], reports.Missing, "")
				continue
			}
			v := d.Summarize(f.on(d, m, value, ""))
			t.Rows[i] = append(t.Rows[i], reports.PlusMinus(v.Mean, v.High-v.Mean, 3)...)
			line.Add(float64(value), v.Mean, v.Low, v.High)
		}
		chart.Series = append(chart.Series, line)
	}
	name := fmt.Sprintf("figure%d", f.number)
	return f.read(d).Table(name, t).Figure(name, chart.Title, chart), nil
}

// read measures the claim about the agent over the reported draws of the programs. It has one
// training run.
func (f *sweep) read(d *figures.Data) *figures.Output {
	var steps []float64
	for i := range reported(d.Scale, "") {
		draw := fmt.Sprintf("&draw=%d", firstReported+i)
		steps = append(steps, figures.Mean(f.on(d, agent, f.more, draw))-figures.Mean(f.on(d, agent, f.less, draw)))
	}
	return figures.Read(figures.Reading{
		Basis:  "the model with kappa = 0.25 and delta = 0.3, chosen on other draws",
		Values: figures.Values{f.claim: d.Crossed([][]float64{steps})},
	})
}

// figure9 draws throughput against W. The paper's queues have 12 jobs, so that those of other
// lengths are generated as it says (V-A2).
func figure9(d *figures.Data) (*figures.Output, error) {
	n := few(d.Scale, generated)
	f := sweep{
		number: 9, what: "window size W", symbol: "W", axis: "Window size W [jobs]",
		values: scaled(d.Scale, windows, windows[0], windowSize), data: ofCategories, count: n,
		claim: "mean throughput of the agent with W = 12 less that with W = 4", more: windowSize, less: windows[0],
		notes: []string{
			fmt.Sprintf("means over %d generated queues of each of the four categories; ± is half the 95 %% interval", n),
			fmt.Sprintf("a shorter queue has jobs of the longer one; the agent's network takes %d jobs at most", windowSize),
		},
	}
	return f.build(d)
}

// figure10 draws throughput against Cmax.
func figure10(d *figures.Data) (*figures.Output, error) {
	f := sweep{
		number: 10, what: "concurrency Cmax", symbol: "Cmax", axis: "Cmax [jobs]",
		values: []int{1, 2, 3, 4}, count: len(queueNames),
		data:  func(cmax int, parameters string) []string { return []string{queuesWith("cmax=%d%s", cmax, parameters)} },
		claim: "mean throughput of the agent with Cmax = 4 less that with Cmax = 2", more: concurrency, less: 2,
		notes: []string{
			"means over Q1 to Q12; ± is half the 95 % interval over the queues",
			fmt.Sprintf("the agent is trained with Cmax = %d; MIG Only has groups of two at most", concurrency),
		},
	}
	return f.build(d)
}
