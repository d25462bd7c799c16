package hierarchical

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/portable"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// rivals returns the paper's methods that the agent is compared with.
func rivals(d *figures.Data, dataset string) []method {
	best := bestDefault(d, dataset)
	best.title = defaultTitle
	return []method{migShared, migPrivate, mpsOnly, best}
}

// rivalTitles are the titles of [rivals].
var rivalTitles = []string{migShared.title, migPrivate.title, mpsOnly.title, defaultTitle}

// A row is a method's metric by queue or by draw.
type row struct {
	title  string
	values []float64
}

func (r row) mean() float64 { return figures.Mean(r.values) }

// rowsByQueue returns a metric on Q1 to Q12, the mean over datasets, of the rivals, the agent, the optimum and more.
func rowsByQueue(d *figures.Data, data []string, metric string, more ...method) []row {
	var out []row
	for _, dataset := range data {
		for i, m := range slices.Concat(rivals(d, dataset), []method{agent, exact}, more) {
			if len(out) <= i {
				out = append(out, row{m.title, make([]float64, len(queueNames))})
			}
			portable.AddScaled(out[i].values, 1/float64(len(data)), m.onQueues(d, dataset, metric))
		}
	}
	return out
}

// eachRun calls value for each training run of a method and each dataset, and returns the results by run and dataset.
func eachRun(m method, data []string, value func(run method, dataset string) float64) [][]float64 {
	return figures.Map(m.runs(), func(r method) []float64 {
		return figures.Map(data, func(dataset string) float64 { return value(r, dataset) })
	})
}

// measured returns the mean of values from [eachRun] and its interval, which is over draws, and over training runs as
// well if the method has some.
func (m method) measured(d *figures.Data, values [][]float64) figures.Measurement {
	if m.trained {
		return d.Crossed(values)
	}
	return d.MeanOf(values[0], verdict.Draws, 0)
}

// meanAndLead measures a method's mean throughput on Q1 to Q12 of datasets, and its [lead].
func (m method) meanAndLead(d *figures.Data, data []string) (mean, ahead figures.Measurement) {
	value := func(r method, dataset string) float64 { return r.throughput(d, dataset) }
	return m.measured(d, eachRun(m, data, value)), m.measured(d, lead(d, m, data))
}

// lead returns by how much a method's mean throughput on Q1 to Q12 exceeds the best rival's, by training run and
// dataset.
func lead(d *figures.Data, m method, data []string) [][]float64 {
	return eachRun(m, data, func(r method, dataset string) float64 {
		others := figures.Map(rivals(d, dataset), func(o method) float64 { return o.throughput(d, dataset) })
		return r.throughput(d, dataset) - slices.Max(others)
	})
}

// The claims about Q1 to Q12, and further values for conclusions.
var (
	meanThroughput = claim.Of("mean throughput of the agent")
	bestThroughput = claim.Of("best throughput of the agent")
	agentLead      = claim.Of("mean throughput of the agent less that of the best other method")
	migLead        = claim.Of("mean throughput of MIG Only less that of the least other method")
	firstQueues    = claim.Of("queues on which the agent is first")
	meanSlowdown   = claim.Of("mean slowdown under the agent")
	bestSlowdown   = claim.Of("least slowdown of a queue under the agent")
	migSlowdown    = claim.Of("mean slowdown under MIG Only less that under the best other method")
)

// Prefixes of values for conclusions about Q1 to Q12. The title of another method follows.
const (
	aheadOf      = "mean throughput of the agent less that of "
	fairnessOver = "mean fairness of the agent over that of "
)

// throughputs measures what the text says about throughput, over the draws in data. MIG Only counts with its better
// option.
func throughputs(d *figures.Data, data []string) figures.Values {
	const metric = track.MetricThroughput
	out := figures.Values{
		meanThroughput: agentStatistic(d, data, metric, figures.Mean),
		bestThroughput: agentStatistic(d, data, metric, slices.Max[[]float64]),
		agentLead:      d.Crossed(lead(d, agent, data)),
		firstQueues:    agent.against(d, data, metric, first),
		migLead:        migOverOthers(d, data, metric),
	}
	for i, title := range rivalTitles {
		if title == mpsOnly.title || title == defaultTitle {
			ahead := func(own []float64, others [][]float64) float64 {
				return figures.Mean(own) - figures.Mean(others[i])
			}
			out[claim.Of(aheadOf+title)] = agent.against(d, data, metric, ahead)
		}
	}
	return out
}

// slowdowns measures what the text says about slowdowns, over the draws in data. MIG Only counts with its worse option.
func slowdowns(d *figures.Data, data []string) figures.Values {
	const metric = track.MetricSlowdownMean
	return figures.Values{
		meanSlowdown: agentStatistic(d, data, metric, figures.Mean),
		bestSlowdown: agentStatistic(d, data, metric, slices.Min[[]float64]),
		migSlowdown:  migOverOthers(d, data, metric),
	}
}

// migOverOthers returns the higher mean of a metric of the two options of MIG Only, less the lowest mean of MPS Only,
// MIG+MPS Default and the agent.
func migOverOthers(d *figures.Data, data []string, metric string) figures.Measurement {
	return d.MeanOf(figures.Map(data, func(dataset string) float64 {
		means := figures.Map(rowsByQueue(d, []string{dataset}, metric), row.mean)
		return slices.Max(means[:2]) - slices.Min(means[2:5]) // the sixth is the optimum
	}), verdict.Draws, 0)
}

// fairness compares the agent's fairness with each rival's, over the draws in data.
func fairness(d *figures.Data, data []string) figures.Values {
	out := figures.Values{}
	for i, title := range rivalTitles {
		ratio := func(own []float64, others [][]float64) float64 {
			return figures.Mean(own) / figures.Mean(others[i])
		}
		out[claim.Of(fairnessOver+title)] = agent.against(d, data, track.MetricFairness, ratio)
	}
	return out
}

// first counts the queues on which all other methods are below its value. Equal plans may differ by rounding.
func first(own []float64, others [][]float64) float64 {
	n := 0
	for i := range own {
		if !slices.ContainsFunc(others, func(o []float64) bool { return o[i] > own[i]-1e-9 }) {
			n++
		}
	}
	return float64(n)
}

// agentStatistic measures a statistic of the agent's metric over the queues. It has a value for each training run and
// draw. The paper's number is of one run on one draw.
func agentStatistic(d *figures.Data, data []string, metric string,
	statistic func([]float64) float64,
) figures.Measurement {
	values := eachRun(agent, data, func(r method, dataset string) float64 {
		return statistic(r.onQueues(d, dataset, metric))
	})
	m := d.Crossed(values)
	m.PrintSE = d.Summarize(slices.Concat(values...)).StdDev
	return m
}

// against measures a statistic of a metric of a method and its rivals over the queues. It has a value for each training
// run and draw.
func (m method) against(d *figures.Data, data []string, metric string,
	statistic func(own []float64, others [][]float64) float64,
) figures.Measurement {
	return m.measured(d, eachRun(m, data, func(r method, dataset string) float64 {
		others := figures.Map(rivals(d, dataset), func(o method) []float64 { return o.onQueues(d, dataset, metric) })
		return statistic(r.onQueues(d, dataset, metric), others)
	}))
}

// The constants of the model and the agents' setups and settings were chosen by draws 1 to 20 of the programs,
// the number of training steps by draws 101 to 120, and the number of reported draws by draws 121 to 140.
// Results are reported on draws that decided no choice.
const (
	firstReported = 141
	manyDraws     = 100
	// fewDraws is for variations of the model, for sweeps, and for the tables of seen and unseen programs.
	fewDraws = 20
)

// reportedDraws lists Q1 to Q12 for each of the reported draws.
func reportedDraws(s figures.Scale) []string { return drawsOf(queues, countFor(s, manyDraws), "") }

// drawsOf lists a dataset for the first n reported draws, with parameters of the model, for example "&kappa=0.2".
func drawsOf(dataset string, n int, parameters string) (out []string) {
	for i := range n {
		out = append(out, figures.Dataset(fmt.Sprintf("%s?draw=%d%s", dataset, firstReported+i, parameters)))
	}
	return out
}

// A variation is a reading of the model, on the first of the reported draws.
type variation struct {
	name, parameters string
	draws            int
}

func (v variation) String() string { return v.name }

// The readings with a kappa that was chosen from public times under MPS alone.
var (
	blind = variation{
		fmt.Sprintf("kappa = %g, blind", datasets.MeasuredKappa()),
		fmt.Sprintf("&kappa=%g", datasets.MeasuredKappa()), fewDraws,
	}
	blindDelta = variation{
		fmt.Sprintf("kappa = %g and delta = 0, blind", datasets.MeasuredKappa()), blind.parameters + "&delta=0",
		fewDraws,
	}
)

var variations = []variation{
	{"", "", manyDraws},
	{"kappa = 0.2", "&kappa=0.2", fewDraws},
	{"kappa = 0.3", "&kappa=0.3", fewDraws},
	{"shares of ended jobs freed", "&release=true", fewDraws},
	blind,
	blindDelta,
}

// A queueFigure compares the methods by queue.
type queueFigure struct {
	name, metric, label string
	// title and notes are the table's.
	title string
	notes []string
	more  []method
	// measure measures claims over the draws in data.
	measure func(d *figures.Data, data []string) figures.Values
	mean    claim.Cell // the claim that prints the agent's mean; the zero cell if the paper prints no mean
}

var (
	figure8 = queueFigure{
		name: "figure8", title: "Fig. 8. Relative throughput by queue, simulated",
		metric: track.MetricThroughput, label: overTimeSharing.Label,
		more: []method{ownAgent}, measure: throughputs, mean: meanThroughput,
		notes: []string{
			"Time Sharing is 1; MIG+MPS Default has the partition with the highest mean on each draw",
			rebuilt,
		},
	}
	figure11 = queueFigure{
		name: "figure11", title: "Fig. 11. Mean slowdown by queue, simulated",
		metric: track.MetricSlowdownMean, label: "Time in the group / solo time",
		measure: slowdowns, mean: meanSlowdown,
		notes: []string{"a job's time in its group over its time alone, the mean over the queue; Time Sharing is 1"},
	}
	figure12 = queueFigure{
		name: "figure12", title: "Fig. 12. Fairness by queue, simulated", metric: track.MetricFairness,
		label: "Least slowdown / largest", measure: fairness,
		notes: []string{"the least slowdown of the queue over the largest; Time Sharing is 1"},
	}
)

// build shows the metric on Q1 to Q12 and its mean, and measures the claims under each variation of the model.
func (f queueFigure) build(d *figures.Data) {
	for v, values := range figures.Under(d, variations) {
		maps.Copy(values, f.measure(d, drawsOf(queues, countFor(d.Scale, v.draws), v.parameters)))
	}
	data := reportedDraws(d.Scale)
	notes := []string{"AM: arithmetic mean", simulated(), fmt.Sprintf("means over %d draws of the programs", len(data))}
	t := d.Table(f.name, f.title, reports.Left("queue"), append(notes, f.notes...)...)
	chart := reports.Bars{
		Title: onChart(t), X: reports.Axis{Label: "Queue, AM: arithmetic mean"}, Y: reports.Axis{Label: f.label},
		Categories: append(slices.Clone(queueNames), "AM"), Dots: true,
	}
	t.Rows = figures.Map(chart.Categories, func(name string) []string { return []string{name} })
	for _, r := range rowsByQueue(d, data, f.metric, f.more...) {
		g := reports.BarGroup{Name: r.title, Values: append(slices.Clone(r.values), figures.Mean(r.values))}
		t.Columns = t.Columns.Right(r.title)
		for i, v := range g.Values {
			t.Rows[i] = append(t.Rows[i], reports.Fixed(v, 3))
		}
		if f.mean != (claim.Cell{}) {
			printed := math.NaN()
			if r.title == agent.title {
				printed = d.Claims.Published(f.name, f.mean)
			}
			g.Values = append(g.Values, printed)
		}
		chart.Groups = append(chart.Groups, g)
	}
	if f.mean != (claim.Cell{}) {
		chart.Categories = append(chart.Categories, "print")
		chart.X.Label += ", print: the paper's mean"
	}
	d.Figure(f.name, chart.Title, chart)
}

// onChart returns the title of a table as its figure has it.
func onChart(t *figures.Table) string {
	return strings.Replace(t.Title, ", simulated", " (simulated)", 1)
}

// The datasets of queues of programs that the paper's agent was trained on, and of those that it was not.
const (
	seenPrograms   = "corun/seen"
	unseenPrograms = "corun/unseen"
)

var aheadUnseen = claim.Of("mean throughput of the agent less that of the best other method, unseen programs")

// unseen compares the methods on queues of programs that the paper's agent was trained on, and of programs that it was
// not. Its claim is about the latter.
func unseen(d *figures.Data) {
	n := countFor(d.Scale, fewDraws)
	for v, values := range figures.Under(d, variations) {
		values[aheadUnseen] = d.Crossed(lead(d, agent, drawsOf(unseenPrograms, n, v.parameters)))
	}
	t := d.Table("unseen", "Mean throughput on queues of seen and of unseen programs, simulated",
		reports.Left("method").PlusMinus("18 programs of the training", "less the best other method",
			"9 unseen programs", "unseen, less the best other method"),
		fmt.Sprintf("means over %d draws of the programs, each of %d queues of 12 jobs with four of each class; ± "+
			"is half the 95 %% interval over the draws", n, len(queueNames)),
		"less the best other method: on each draw, the best of the paper's other methods; only for the agent and the "+
			"optimum (for the others see the table ceiling). The agent's interval is over its training runs as well",
		"the paper's agent learned from its 18 programs, which are not public; ours learned from newly drawn "+
			"programs and has seen none of either",
		simulated())
	for i, dataset := range []string{seenPrograms, unseenPrograms} {
		data := drawsOf(dataset, n, "")
		for k, r := range throughputRows(d, data...) {
			if i == 0 {
				t.Row(r.title)
			}
			t.Rows[k] = append(t.Rows[k], figures.PlusMinus(d.MeanOf(r.values, verdict.Draws, 0), 3)...)
			ahead := []string{"", ""}
			for _, m := range []method{agent, exact} {
				if m.title == r.title {
					ahead = figures.PlusMinus(m.measured(d, lead(d, m, data)), 4)
				}
			}
			t.Rows[k] = append(t.Rows[k], ahead...)
		}
	}
}

// throughputRows returns the mean throughputs of the methods over all queues, with one value for each dataset.
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
