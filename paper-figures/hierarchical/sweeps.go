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

// windows are the W of Fig. 9, concurrencies the Cmax of Fig. 10.
var (
	windows       = []int{4, 6, 8, 10, 12, 14, 16}
	concurrencies = []int{1, 2, 3, 4}
)

// ofCategory is the dataset of queues of a category.
func ofCategory(category string, w int) string {
	return figures.Dataset(fmt.Sprintf("corun/%s?w=%d", category, w))
}

// replicates is how many of the generated queues a run takes.
func replicates(s figures.Scale) int {
	if s.Quick {
		return 2
	}
	return generated
}

// swept are the methods of Figs. 9 and 10.
var swept = []method{migShared, mpsOnly, agent, exact}

// A sweepFigure draws the mean throughput of methods against a parameter.
type sweepFigure struct {
	number int
	// what is the parameter in the title, symbol in the table and axis below the chart.
	what, symbol, axis string
	// values are those of the parameter.
	values func(figures.Scale) []int
	// queues lists the datasets of the queues at a value, and count how many each has.
	queues func(value int) []string
	count  func(figures.Scale) int
	// takes reports whether a method takes a value; nil where all do.
	takes func(m method, value int) bool
	// claim is about the agent's throughput at the value more, less that at the value less.
	claim      string
	more, less int
	// drawn lists the datasets at a value for a draw of the programs.
	drawn func(value, draw int) []string
	notes func(figures.Scale) []string
}

// on returns the throughputs of a method at a value.
func (f sweepFigure) on(d *figures.Data, m method, value int) (out []float64) {
	for _, data := range f.queues(value) {
		out = append(out, d.Values(m.on(data), f.count(d.Scale), track.MetricThroughput)...)
	}
	return out
}

// has reports whether the figure has a method at a value.
func (f sweepFigure) has(m method, value int) bool { return f.takes == nil || f.takes(m, value) }

func (f sweepFigure) artefact() figures.Artefact {
	name := fmt.Sprintf("figure%d", f.number)
	return figures.Artefact{
		Name: name, Title: "relative throughput against the " + f.what + " (simulated)",
		Build: func(d *figures.Data) (*figures.Output, error) {
			title := fmt.Sprintf("Fig. %d. Relative throughput against the %s", f.number, f.what)
			t := reports.Table{Title: title + ", simulated", Columns: reports.Right(f.symbol), Notes: append(f.notes(d.Scale), simulated())}
			chart := reports.Lines{Title: title + " (simulated)", X: reports.Axis{Label: f.axis}, Y: reports.Axis{Label: "Throughput / time sharing"}}
			for _, value := range f.values(d.Scale) {
				t.Rows = append(t.Rows, []string{strconv.Itoa(value)})
				chart.X.Ticks = append(chart.X.Ticks, float64(value))
			}
			for _, m := range swept {
				t.Columns = t.Columns.PlusMinus(m.title)
				line := reports.Series{Name: m.title, Markers: true}
				for i, value := range f.values(d.Scale) {
					if !f.has(m, value) {
						t.Rows[i] = append(t.Rows[i], reports.Missing, "")
						continue
					}
					v := d.Summarize(f.on(d, m, value))
					t.Rows[i] = append(t.Rows[i], reports.PlusMinus(v.Mean, v.High-v.Mean, 3)...)
					line.Add(float64(value), v.Mean, v.Low, v.High)
				}
				chart.Series = append(chart.Series, line)
			}
			return f.read(d).Table(name, t).Figure(name, chart.Title, chart), nil
		},
	}
}

// read measures the claim about the agent over the reported draws of the programs. It has one
// training run.
func (f sweepFigure) read(d *figures.Data) *figures.Output {
	var steps []float64
	for i := range reported(d.Scale, "") {
		mean := func(value int) float64 {
			var all []float64
			for _, data := range f.drawn(value, firstReported+i) {
				all = append(all, d.Values(agent.on(data), f.count(d.Scale), track.MetricThroughput)...)
			}
			return figures.Mean(all)
		}
		steps = append(steps, mean(f.more)-mean(f.less))
	}
	return figures.Read(figures.Reading{
		Basis:  "the model with kappa = 0.25 and delta = 0.3, chosen on other draws",
		Values: figures.Values{f.claim: d.Crossed([][]float64{steps})},
	})
}

// figure9 draws throughput against W. The paper's queues have 12 jobs, so that those of other
// lengths are generated as it says (V-A2).
func figure9() figures.Artefact {
	return sweepFigure{
		number: 9, what: "window size W", symbol: "W", axis: "Window size W [jobs]",
		values: func(s figures.Scale) []int { return scaled(s, windows, windows[0], windowSize) },
		queues: func(w int) (out []string) {
			for _, c := range categories {
				out = append(out, ofCategory(c, w))
			}
			return out
		},
		drawn: func(w, draw int) (out []string) {
			for _, c := range categories {
				out = append(out, figures.Dataset(fmt.Sprintf("corun/%s?w=%d&draw=%d", c, w, draw)))
			}
			return out
		},
		claim: "mean throughput of the agent with W = 12 less that with W = 4",
		count: replicates,
		// The agent's network is for the paper's W at most.
		takes: func(m method, w int) bool { return m != agent || w <= windowSize },
		more:  windowSize, less: windows[0],
		notes: func(s figures.Scale) []string {
			return []string{
				fmt.Sprintf("means over %d generated queues of each of the four categories; ± is half the 95 %% interval", replicates(s)),
				fmt.Sprintf("a shorter queue has jobs of the longer one; the agent's network takes %d jobs at most", windowSize),
			}
		},
	}.artefact()
}

// figure10 draws throughput against Cmax.
func figure10() figures.Artefact {
	return sweepFigure{
		number: 10, what: "concurrency Cmax", symbol: "Cmax", axis: "Cmax [jobs]",
		values: func(figures.Scale) []int { return concurrencies },
		queues: func(cmax int) []string { return []string{queuesWith("cmax=%d", cmax)} },
		drawn:  func(cmax, draw int) []string { return []string{queuesWith("cmax=%d&draw=%d", cmax, draw)} },
		claim:  "mean throughput of the agent with Cmax = 4 less that with Cmax = 2",
		count:  func(figures.Scale) int { return len(queueNames) },
		more:   concurrency, less: 2,
		notes: func(figures.Scale) []string {
			return []string{
				"means over Q1 to Q12; ± is half the 95 % interval over the queues",
				fmt.Sprintf("the agent is trained with Cmax = %d; MIG Only has groups of two at most", concurrency),
			}
		},
	}.artefact()
}
