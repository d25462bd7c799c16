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

func (r row) mean() float64 { return figures.Mean(r.values) }

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

// onEach measures claims on Q1 to Q12 of each dataset. measure takes the agent's values by queue
// and the means of the methods of [onQueues], and returns a value for each claim.
func onEach(d *figures.Data, data []string, metric string, measure func(own, means []float64) map[string]float64) byDraw {
	out := byDraw{}
	for _, dataset := range data {
		rows := onQueues(d, []string{dataset}, metric)
		means := figures.Map(rows, row.mean)
		for claim, v := range measure(rows[len(rows)-2].values, means) {
			out[claim] = append(out[claim], v)
		}
	}
	return out
}

// throughputs measures what the text says about throughput on Q1 to Q12 of each dataset.
func throughputs(d *figures.Data, data []string) byDraw {
	return onEach(d, data, track.MetricThroughput, func(own, means []float64) map[string]float64 {
		return map[string]float64{
			meanThroughput: figures.Mean(own), bestThroughput: slices.Max(own),
			aheadThroughput: figures.Mean(own) - slices.Max(means[:len(means)-2]),
		}
	})
}

// slowdowns measures what the text says about slowdowns on Q1 to Q12 of each dataset. For MIG
// Only it takes the worse option.
func slowdowns(d *figures.Data, data []string) byDraw {
	return onEach(d, data, track.MetricSlowdownMean, func(own, means []float64) map[string]float64 {
		return map[string]float64{
			meanSlowdown: figures.Mean(own), bestSlowdown: slices.Min(own),
			aheadSlowdown: slices.Max(means[:2]) - slices.Min(means[2:len(means)-2]),
		}
	})
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
	for i := range few(s, draws) {
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
			values[claim] = d.MeanOf(x, verdict.Draws, 0)
			switch claim {
			case aheadThroughput:
				values[claim] = d.Crossed([][]float64{x})
			case aheadSlowdown:
			default:
				o.Missing[claim] = unpublishedJobs()
			}
		}
		o.Readings = append(o.Readings, figures.Reading{Name: v.name, Basis: v.basis, Values: values})
	}
	return o
}

// A queueFigure compares the methods by queue.
type queueFigure struct {
	number                 int
	heading, metric, label string
	// published is the agent's mean in print; 0 where there is none.
	published float64
	notes     []string
}

// draw adds a table and a chart of the metric on Q1 to Q12 and of its arithmetic mean.
func (f queueFigure) draw(d *figures.Data, out *figures.Output) (*figures.Output, error) {
	data := reported(d.Scale, "")
	title := fmt.Sprintf("Fig. %d. %s by queue", f.number, f.heading)
	t := reports.Table{
		Title: title + ", simulated", Columns: reports.Left("queue"),
		Notes: append([]string{"AM: arithmetic mean", simulated(), fmt.Sprintf("means over %d draws of the programs", len(data))}, f.notes...),
	}
	chart := reports.Bars{
		Title: title + " (simulated)", X: reports.Axis{Label: "Queue (AM: arithmetic mean)"}, Y: reports.Axis{Label: f.label},
		Categories: append(slices.Clone(queueNames), "AM"),
	}
	for _, name := range chart.Categories {
		t.Rows = append(t.Rows, []string{name})
	}
	for _, r := range onQueues(d, data, f.metric) {
		g := reports.BarGroup{Name: r.title, Values: append(slices.Clone(r.values), figures.Mean(r.values))}
		if r.title == agent.title && f.published != 0 {
			g.Published = append(slices.Repeat([]float64{math.NaN()}, len(r.values)), f.published)
		}
		chart.Groups = append(chart.Groups, g)
		t.Columns = t.Columns.Right(r.title)
		for i, v := range g.Values {
			t.Rows[i] = append(t.Rows[i], reports.Fixed(v, 3))
		}
	}
	name := fmt.Sprintf("figure%d", f.number)
	return out.Table(name, t).Figure(name, chart.Title, chart), nil
}

func figure8(d *figures.Data) (*figures.Output, error) {
	return queueFigure{
		8, "Relative throughput", track.MetricThroughput, "Throughput / time sharing", d.Claims.Published("figure8", meanThroughput),
		[]string{"Time Sharing is 1; " + defaultTitle + " has the partition with the highest mean on each draw", rebuilt},
	}.draw(d, read(d, throughputs))
}

func figure11(d *figures.Data) (*figures.Output, error) {
	return queueFigure{
		11, "Mean slowdown", track.MetricSlowdownMean, "Time in the group / solo time", d.Claims.Published("figure11", meanSlowdown),
		[]string{"a job's time in its group over its time alone, the mean over the queue; Time Sharing is 1"},
	}.draw(d, read(d, slowdowns))
}

// figure12 has no claims: the text prints no numbers of fairness.
func figure12(d *figures.Data) (*figures.Output, error) {
	return queueFigure{
		12, "Fairness", track.MetricFairness, "Least slowdown / largest", 0,
		[]string{"the least slowdown of the queue over the largest; Time Sharing is 1"},
	}.draw(d, new(figures.Output))
}
