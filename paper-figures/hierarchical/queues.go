package hierarchical

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// compared are the methods that the agent is compared with on Q1 to Q12, without MIG+MPS
// Default, whose partition depends on the results.
var compared = []method{migShared, migPrivate, mpsOnly}

// needQueues lists what [onQueues] reads.
func needQueues(dataset string) []figures.Need {
	return paperQueues(dataset, append(append(compared, partitions...), agent, exact)...)
}

// A row is a method's metric by queue.
type row struct {
	title  string
	values []float64
}

// onQueues returns a metric of all methods on Q1 to Q12, the agent and the exact optimum last.
// MIG+MPS Default has the partition that is best there.
func onQueues(d *figures.Data, dataset, metric string) []row {
	best := bestDefault(d, dataset)
	best.title = defaultTitle
	var out []row
	for _, m := range append(slices.Clone(compared), best, agent, exact) {
		v := d.Values(m.on(dataset), metric)
		out = append(out, row{m.title, v})
	}
	return out
}

// The claims about Q1 to Q12.
const (
	meanThroughput  = "mean throughput of the agent, simulated"
	bestThroughput  = "best throughput of the agent, simulated"
	aheadThroughput = "mean throughput of the agent less that of the best other method, simulated"
	meanSlowdown    = "mean slowdown under the agent, simulated"
	bestSlowdown    = "least slowdown of a queue under the agent, simulated"
	aheadSlowdown   = "mean slowdown under MIG Only less that under the best other method, simulated"
)

// throughputs measures what the text says about throughput on Q1 to Q12.
func throughputs(d *figures.Data, dataset string) map[string]float64 {
	rows := onQueues(d, dataset, track.MetricThroughput)
	own, others := rows[len(rows)-2].values, 0.0
	for _, r := range rows[:len(rows)-2] {
		others = max(others, figures.Mean(r.values))
	}
	return map[string]float64{meanThroughput: figures.Mean(own), bestThroughput: slices.Max(own), aheadThroughput: figures.Mean(own) - others}
}

// slowdowns measures what the text says about slowdowns on Q1 to Q12. For MIG Only it takes the
// worse option.
func slowdowns(d *figures.Data, dataset string) map[string]float64 {
	rows := onQueues(d, dataset, track.MetricSlowdownMean)
	own, migOnly, others := rows[len(rows)-2].values, 0.0, math.Inf(1)
	for i, r := range rows[:len(rows)-1] {
		if m := figures.Mean(r.values); i < 2 {
			migOnly = max(migOnly, m)
		} else {
			others = min(others, m)
		}
	}
	return map[string]float64{meanSlowdown: figures.Mean(own), bestSlowdown: slices.Min(own), aheadSlowdown: migOnly - others}
}

// draws is the number of times that the programs without public times are drawn. All other
// results use the first draw.
const draws = 20

// drawn lists Q1 to Q12 for each draw.
func drawn(s figures.Scale) (out []string) {
	n := draws
	if s.Quick {
		n = 2
	}
	for i := range n {
		out = append(out, queuesWith("draw=%d", i+1))
	}
	return out
}

// variations are the other readings of claims about Q1 to Q12 with their datasets.
var variations = []struct{ name, dataset string }{
	{"kappa = 0.20", queuesWith("kappa=0.2")},
	{"kappa = 0.30", queuesWith("kappa=0.3")},
	{"shares of ended jobs freed", queuesWith("release=true")},
}

// needReadings lists what [readings] reads.
func needReadings(s figures.Scale) (out []figures.Need) {
	for _, data := range drawn(s) {
		out = append(out, needQueues(data)...)
	}
	for _, v := range variations {
		out = append(out, needQueues(v.dataset)...)
	}
	return out
}

// readings measures claims about Q1 to Q12 as shipped, and under other constants of the model.
// Other draws of the programs are not readings; the reasons give their range.
func readings(d *figures.Data, measure func(d *figures.Data, dataset string) map[string]float64) []figures.Reading {
	reading := func(name, dataset string) figures.Reading {
		values := figures.Values{}
		for claim, x := range measure(d, dataset) {
			values[claim] = figures.Exactly(x)
		}
		return figures.Lookup(name, values)
	}
	out := []figures.Reading{reading("", queues)}
	for _, v := range variations {
		out = append(out, reading(v.name, v.dataset))
	}
	return out
}

// judge compares claims about Q1 to Q12. Reasons are by claim. The range over the draws is added
// to every reason.
func judge(d *figures.Data, claims []figures.Claim, rs []figures.Reading, why map[string]string) []figures.Finding {
	spread := overDraws(d)
	return d.Compare(claims, rs, func(claim string) string {
		parts := []string{unlikeThePaper()}
		if r := why[claim]; r != "" {
			parts = []string{r, "simulated by a model, not measured"}
		}
		if r := spread[claim]; r != "" {
			parts = append(parts, r)
		}
		return strings.Join(parts, "; ")
	})
}

// overDraws gives the range over the draws for each claim about Q1 to Q12.
func overDraws(d *figures.Data) map[string]string {
	all := map[string][]float64{}
	for _, data := range drawn(d.Scale) {
		a := throughputs(d, data)
		maps.Copy(a, slowdowns(d, data))
		for claim, x := range a {
			all[claim] = append(all[claim], x)
		}
	}
	out := map[string]string{}
	for claim, v := range all {
		s := d.Summarize(v)
		out[claim] = fmt.Sprintf("over %d draws %.3f to %.3f", s.N, s.Min, s.Max)
	}
	return out
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
	// average is the claim about the agent's mean, and ahead the one about its lead.
	measure        func(d *figures.Data, dataset string) map[string]float64
	average, ahead string
	// behind is the reason where the agent does not lead.
	behind string
}

func (f queueFigure) artefact(claims *figures.Claims) figures.Artefact {
	name := fmt.Sprintf("figure%d", f.number)
	return figures.Artefact{
		Name: name, Title: f.title + " on Q1 to Q12 (simulated)",
		Needs: func(s figures.Scale) []figures.Need {
			if f.measure == nil {
				return needQueues(queues)
			}
			return needReadings(s)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			published := math.NaN()
			if f.measure != nil {
				published = claims.Get(name, f.average).Published
			}
			t, chart := byQueue(onQueues(d, queues, f.metric), fmt.Sprintf("Fig. %d. %s by queue", f.number, f.heading), f.label, published)
			t.Notes = append(t.Notes, f.notes(d)...)
			out := figures.Found().Table(name, t).Figure(name, chart.Title, chart)
			if f.measure != nil {
				out.Findings = judge(d, claims.Of(name), readings(d, f.measure), map[string]string{f.ahead: f.behind})
				out.Table(name+"-claims", figures.ComparisonTable(fmt.Sprintf("What the text says of Fig. %d, simulated", f.number), out.Findings))
			}
			return out, nil
		},
	}
}

func figure8(claims *figures.Claims) figures.Artefact {
	return queueFigure{
		number: 8, title: "relative throughput", heading: "Relative throughput", metric: track.MetricThroughput, label: "Throughput / time sharing",
		notes: func(d *figures.Data) []string {
			partition := strings.TrimPrefix(bestDefault(d, queues).title, defaultTitle+", ")
			return []string{"Time Sharing is 1; " + defaultTitle + " has the partition with the highest mean, " + partition, rebuilt}
		},
		measure: throughputs, average: meanThroughput, ahead: aheadThroughput, behind: "another method has more",
	}.artefact(claims)
}

func figure11(claims *figures.Claims) figures.Artefact {
	return queueFigure{
		number: 11, title: "mean slowdown", heading: "Mean slowdown", metric: track.MetricSlowdownMean, label: "Time in the group / solo time",
		notes: func(*figures.Data) []string {
			return []string{"a job's time in its group over its solo time, the mean over the queue; Time Sharing is 1"}
		},
		measure: slowdowns, average: meanSlowdown, ahead: aheadSlowdown, behind: "another method has less",
	}.artefact(claims)
}

// figure12 has no claims: the text prints no numbers of fairness.
func figure12() figures.Artefact {
	return queueFigure{
		number: 12, title: "fairness", heading: "Fairness", metric: track.MetricFairness, label: "Least slowdown / largest",
		notes: func(*figures.Data) []string {
			return []string{"the least slowdown of the queue over the largest; Time Sharing is 1"}
		},
	}.artefact(nil)
}
