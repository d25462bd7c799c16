package hierarchical

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// compared are the methods that the agent is compared with on Q1 to Q12, without MIG+MPS
// Default, whose partition depends on the results.
var compared = []method{migShared, migPrivate, mpsOnly}

// A row is a method's metric by queue.
type row struct {
	title  string
	values []float64
}

// onQueues returns a metric of all methods on Q1 to Q12, the mean over some datasets of them,
// the agent and the exact optimum last. MIG+MPS Default has the partition that is best on each.
func onQueues(d *figures.Data, data []string, metric string) []row {
	var out []row
	for _, dataset := range data {
		best := bestDefault(d, dataset)
		best.title = defaultTitle
		for i, m := range append(slices.Clone(compared), best, agent, exact) {
			if len(out) <= i {
				out = append(out, row{m.title, make([]float64, len(queueNames))})
			}
			floats.AddScaled(out[i].values, 1/float64(len(data)), m.values(d, dataset, metric))
		}
	}
	return out
}

// The claims about Q1 to Q12.
const (
	meanThroughput  = "mean throughput of the agent"
	bestThroughput  = "best throughput of the agent"
	aheadThroughput = "mean throughput of the agent less that of the best other method"
	meanSlowdown    = "mean slowdown under the agent"
	bestSlowdown    = "least slowdown of a queue under the agent"
	aheadSlowdown   = "mean slowdown under MIG Only less that under the best other method"
)

// byDraw are the values of a claim, one for each draw.
type byDraw map[string][]float64

// throughputs measures what the text says about throughput on Q1 to Q12 of each dataset.
func throughputs(d *figures.Data, data []string) byDraw {
	out := byDraw{}
	for _, dataset := range data {
		rows := onQueues(d, []string{dataset}, track.MetricThroughput)
		own, others := rows[len(rows)-2].values, 0.0
		for _, r := range rows[:len(rows)-2] {
			others = max(others, figures.Mean(r.values))
		}
		out[meanThroughput] = append(out[meanThroughput], figures.Mean(own))
		out[bestThroughput] = append(out[bestThroughput], slices.Max(own))
		out[aheadThroughput] = append(out[aheadThroughput], figures.Mean(own)-others)
	}
	return out
}

// slowdowns measures what the text says about slowdowns on Q1 to Q12 of each dataset. For MIG
// Only it takes the worse option.
func slowdowns(d *figures.Data, data []string) byDraw {
	out := byDraw{}
	for _, dataset := range data {
		rows := onQueues(d, []string{dataset}, track.MetricSlowdownMean)
		own, migOnly, others := rows[len(rows)-2].values, 0.0, math.Inf(1)
		for i, r := range rows[:len(rows)-1] {
			if m := figures.Mean(r.values); i < 2 {
				migOnly = max(migOnly, m)
			} else {
				others = min(others, m)
			}
		}
		out[meanSlowdown] = append(out[meanSlowdown], figures.Mean(own))
		out[bestSlowdown] = append(out[bestSlowdown], slices.Min(own))
		out[aheadSlowdown] = append(out[aheadSlowdown], migOnly-others)
	}
	return out
}

// The constants of the model and the agent's settings were chosen by looking at draw 1 of the
// programs and at the draws up to 20. Results are reported on others.
const (
	firstReported = 101
	draws         = 20
)

// reported lists Q1 to Q12 for each of the reported draws. Parameters of the model may be added,
// for example "&kappa=0.2".
func reported(s figures.Scale, parameters string) (out []string) {
	n := draws
	if s.Quick {
		n = 2
	}
	for i := range n {
		out = append(out, queuesWith("draw=%d%s", firstReported+i, parameters))
	}
	return out
}

// variations are readings of the model.
var variations = []struct{ name, basis, parameters string }{
	{"", "kappa = 0.25, delta = 0.3, chosen on other draws", ""},
	{"kappa = 0.2", "less interference between jobs that share memory", "&kappa=0.2"},
	{"kappa = 0.3", "more interference between jobs that share memory", "&kappa=0.3"},
	{"shares of ended jobs freed", "jobs that still run get the shares of those that have ended", "&release=true"},
}

// read measures claims about Q1 to Q12 over the draws, under each variation of the model. Claims
// about the agent's lead are replicated by training runs, of which there is one.
func read(d *figures.Data, measure func(d *figures.Data, data []string) byDraw) *figures.Output {
	o := &figures.Output{Missing: map[string]string{}}
	for _, v := range variations {
		values := figures.Values{}
		for claim, x := range measure(d, reported(d.Scale, v.parameters)) {
			switch claim {
			case aheadThroughput:
				values[claim] = d.Crossed([][]float64{x})
			case aheadSlowdown:
				values[claim] = d.MeanOf(x, verdict.Draws, 0)
			default:
				values[claim] = d.MeanOf(x, verdict.Draws, 0)
				o.Missing[claim] = unpublishedJobs()
			}
		}
		o.Readings = append(o.Readings, figures.Reading{Name: v.name, Basis: v.basis, Values: values})
	}
	return o
}

// byQueue is a table and a chart of a metric on Q1 to Q12 and their arithmetic mean.
func byQueue(rows []row, title, label string, published float64) (reports.Table, reports.Bars) {
	t := reports.Table{Title: title + ", simulated", Columns: reports.Left("queue"), Notes: []string{"AM: arithmetic mean", simulated()}}
	chart := reports.Bars{
		Title: title + " (simulated)", X: reports.Axis{Label: "Queue (AM: arithmetic mean)"}, Y: reports.Axis{Label: label},
		Categories: append(slices.Clone(queueNames), "AM"),
	}
	for i, name := range chart.Categories {
		t.Rows = append(t.Rows, []string{name})
		for _, r := range rows {
			t.Rows[i] = append(t.Rows[i], reports.Fixed(append(slices.Clone(r.values), figures.Mean(r.values))[i], 3))
		}
	}
	for _, r := range rows {
		t.Columns = t.Columns.Right(r.title)
		g := reports.BarGroup{Name: r.title, Values: append(slices.Clone(r.values), figures.Mean(r.values))}
		if r.title == agent.title && !math.IsNaN(published) {
			g.Published = append(slices.Repeat([]float64{math.NaN()}, len(r.values)), published)
		}
		chart.Groups = append(chart.Groups, g)
	}
	return t, chart
}

// A queueFigure compares the methods by queue.
type queueFigure struct {
	number         int
	title, heading string
	metric, label  string
	notes          func(*figures.Data) []string
	// measure measures the claims of the text about the figure; nil where there are none.
	measure func(d *figures.Data, data []string) byDraw
	// published is the agent's mean in print; NaN where there is none.
	published float64
}

func (f queueFigure) artefact() figures.Artefact {
	name := fmt.Sprintf("figure%d", f.number)
	return figures.Artefact{
		Name: name, Title: f.title + " on Q1 to Q12 (simulated)",
		Build: func(d *figures.Data) (*figures.Output, error) {
			t, chart := byQueue(onQueues(d, reported(d.Scale, ""), f.metric), fmt.Sprintf("Fig. %d. %s by queue", f.number, f.heading), f.label, f.published)
			t.Notes = append(t.Notes, fmt.Sprintf("means over %d draws of the programs", len(reported(d.Scale, ""))))
			t.Notes = append(t.Notes, f.notes(d)...)
			out := new(figures.Output)
			if f.measure != nil {
				out = read(d, f.measure)
			}
			return out.Table(name, t).Figure(name, chart.Title, chart), nil
		},
	}
}

func figure8(claims *figures.Claims) figures.Artefact {
	return queueFigure{
		number: 8, title: "relative throughput", heading: "Relative throughput", metric: track.MetricThroughput, label: "Throughput / time sharing",
		notes: func(*figures.Data) []string {
			return []string{"Time Sharing is 1; " + defaultTitle + " has the partition with the highest mean on each draw", rebuilt}
		},
		measure: throughputs, published: claims.Published("figure8", meanThroughput),
	}.artefact()
}

func figure11(claims *figures.Claims) figures.Artefact {
	return queueFigure{
		number: 11, title: "mean slowdown", heading: "Mean slowdown", metric: track.MetricSlowdownMean, label: "Time in the group / solo time",
		notes: func(*figures.Data) []string {
			return []string{"a job's time in its group over its time alone, the mean over the queue; Time Sharing is 1"}
		},
		measure: slowdowns, published: claims.Published("figure11", meanSlowdown),
	}.artefact()
}

// figure12 has no claims: the text prints no numbers of fairness.
func figure12() figures.Artefact {
	return queueFigure{
		number: 12, title: "fairness", heading: "Fairness", metric: track.MetricFairness, label: "Least slowdown / largest",
		notes: func(*figures.Data) []string {
			return []string{"the least slowdown of the queue over the largest; Time Sharing is 1"}
		},
		published: math.NaN(),
	}.artefact()
}
