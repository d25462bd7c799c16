package hierarchical

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"miglab/harness/track"

	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// compared are the methods that the agent is compared with on Q1 to Q12, but for MIG+MPS
// Default, whose partition the results decide.
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
func onQueues(d *figures.Data, dataset, metric string) ([]row, error) {
	best, err := bestDefault(d, dataset)
	if err != nil {
		return nil, err
	}
	best.title = defaultTitle
	var out []row
	for _, m := range append(slices.Clone(compared), best, agent, exact) {
		v, err := d.Values(m.on(dataset), metric)
		if err != nil {
			return nil, err
		}
		out = append(out, row{m.title, v})
	}
	return out, nil
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

// throughputs measures what the text says of throughput on Q1 to Q12.
func throughputs(d *figures.Data, dataset string) (map[string]float64, error) {
	rows, err := onQueues(d, dataset, track.MetricThroughput)
	if err != nil {
		return nil, err
	}
	own, others := rows[len(rows)-2].values, 0.0
	for _, r := range rows[:len(rows)-2] {
		others = max(others, mean(r.values))
	}
	return map[string]float64{meanThroughput: mean(own), bestThroughput: slices.Max(own), aheadThroughput: mean(own) - others}, nil
}

// slowdowns measures what the text says of slowdowns on Q1 to Q12. Of MIG Only it takes the
// worse option.
func slowdowns(d *figures.Data, dataset string) (map[string]float64, error) {
	rows, err := onQueues(d, dataset, track.MetricSlowdownMean)
	if err != nil {
		return nil, err
	}
	own, mig, others := rows[len(rows)-2].values, 0.0, math.Inf(1)
	for i, r := range rows[:len(rows)-1] {
		if m := mean(r.values); i < 2 {
			mig = max(mig, m)
		} else {
			others = min(others, m)
		}
	}
	return map[string]float64{meanSlowdown: mean(own), bestSlowdown: slices.Min(own), aheadSlowdown: mig - others}, nil
}

// draws is the number of times that the programs without public times are drawn; the first time
// is that of all other results.
const draws = 20

// drawn lists Q1 to Q12 for each draw.
func drawn(s figures.Scale) (out []string) {
	n := draws
	if s.Quick {
		n = 2
	}
	for i := range n {
		out = append(out, dataset("%s?draw=%d", queues, i+1))
	}
	return out
}

// variations are the datasets of the readings of a claim about Q1 to Q12, besides the default
// and the draws.
var variations = []struct{ name, dataset string }{
	{"kappa = 0.20", dataset("%s?kappa=0.2", queues)},
	{"kappa = 0.30", dataset("%s?kappa=0.3", queues)},
	{"shares of ended jobs freed", dataset("%s?release=true", queues)},
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
// What other draws of the programs give is no reading but their range, in the reasons.
func readings(d *figures.Data, measure func(*figures.Data, string) (map[string]float64, error)) ([]figures.Reading, error) {
	exactly := func(name, data string) (figures.Reading, error) {
		v, err := measure(d, data)
		out := map[string]figures.Measurement{}
		for claim, x := range v {
			out[claim] = figures.Exactly(x)
		}
		return figures.Lookup(name, out), err
	}
	first, err := exactly("", queues)
	if err != nil {
		return nil, err
	}
	out := []figures.Reading{first}
	for _, v := range variations {
		r, err := exactly(v.name, v.dataset)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// judge compares claims about Q1 to Q12. Reasons are by claim; all have what the draws give.
func judge(d *figures.Data, claims []figures.Claim, rs []figures.Reading, why map[string]string) ([]figures.Finding, error) {
	spread, err := overDraws(d)
	if err != nil {
		return nil, err
	}
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

// overDraws says what the draws give for each claim about Q1 to Q12.
func overDraws(d *figures.Data) (map[string]string, error) {
	all := map[string][]float64{}
	for _, data := range drawn(d.Scale) {
		a, err := throughputs(d, data)
		if err != nil {
			return nil, err
		}
		b, err := slowdowns(d, data)
		if err != nil {
			return nil, err
		}
		maps.Copy(a, b)
		for claim, x := range a {
			all[claim] = append(all[claim], x)
		}
	}
	out := map[string]string{}
	for claim, v := range all {
		s, err := stats.Summarize(v)
		if err != nil {
			return nil, err
		}
		out[claim] = fmt.Sprintf("over %d draws %.3f to %.3f", s.N, s.Min, s.Max)
	}
	return out, nil
}

// byQueue is a table and a chart of a metric on Q1 to Q12 and their arithmetic mean.
func byQueue(rows []row, title, label string, published float64) (reports.Table, reports.Bars) {
	t := reports.Table{Title: title + ", simulated", Columns: []reports.Column{{Name: "queue"}}, Notes: []string{"AM: arithmetic mean", simulated()}}
	chart := reports.Bars{
		Title: title + " (simulated)", X: reports.Axis{Label: "Queue (AM: arithmetic mean)"}, Y: reports.Axis{Label: label},
		Categories: append(slices.Clone(queueNames), "AM"),
	}
	for i, name := range chart.Categories {
		t.Rows = append(t.Rows, []string{name})
		for _, r := range rows {
			t.Rows[i] = append(t.Rows[i], reports.Fixed(append(slices.Clone(r.values), mean(r.values))[i], 3))
		}
	}
	for _, r := range rows {
		t.Columns = append(t.Columns, reports.Column{Name: r.title, Right: true})
		g := reports.BarGroup{Name: r.title, Values: append(slices.Clone(r.values), mean(r.values))}
		if r.title == agent.title && !math.IsNaN(published) {
			g.Published = append(slices.Repeat([]float64{math.NaN()}, len(r.values)), published)
		}
		chart.Groups = append(chart.Groups, g)
	}
	return t, chart
}

// figure8 compares throughput by queue.
func figure8(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "figure8", Title: "relative throughput on Q1 to Q12 (simulated)",
		Needs: needReadings,
		Build: func(d *figures.Data) (*figures.Output, error) {
			rows, err := onQueues(d, queues, track.MetricThroughput)
			if err != nil {
				return nil, err
			}
			rs, err := readings(d, throughputs)
			if err != nil {
				return nil, err
			}
			fs, err := judge(d, claims.Of("figure8"), rs, map[string]string{aheadThroughput: "another method has more"})
			if err != nil {
				return nil, err
			}
			t, chart := byQueue(rows, "Fig. 8. Relative throughput by queue", "Throughput / time sharing", claims.Get("figure8", meanThroughput).Published)
			partition, err := bestDefault(d, queues)
			if err != nil {
				return nil, err
			}
			t.Notes = append(t.Notes, "Time Sharing is 1; "+defaultTitle+" has the partition with the highest mean, "+strings.TrimPrefix(partition.title, defaultTitle+", "), rebuilt)
			return &figures.Output{
				Findings: fs,
				Tables:   []figures.Table{{File: "figure8", Table: t}, {File: "figure8-claims", Table: figures.ComparisonTable("What the text says of Fig. 8, simulated", fs)}},
				Figures:  []figures.Figure{{File: "figure8", Title: chart.Title, Figure: chart}},
			}, nil
		},
	}
}

// figure11 compares slowdown by queue.
func figure11(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "figure11", Title: "mean slowdown on Q1 to Q12 (simulated)",
		Needs: needReadings,
		Build: func(d *figures.Data) (*figures.Output, error) {
			rows, err := onQueues(d, queues, track.MetricSlowdownMean)
			if err != nil {
				return nil, err
			}
			rs, err := readings(d, slowdowns)
			if err != nil {
				return nil, err
			}
			fs, err := judge(d, claims.Of("figure11"), rs, map[string]string{aheadSlowdown: "another method has less"})
			if err != nil {
				return nil, err
			}
			t, chart := byQueue(rows, "Fig. 11. Mean slowdown by queue", "Time in the group / solo time", claims.Get("figure11", meanSlowdown).Published)
			t.Notes = append(t.Notes, "a job's time in its group over its solo time, the mean over the queue; Time Sharing is 1")
			return &figures.Output{
				Findings: fs,
				Tables:   []figures.Table{{File: "figure11", Table: t}, {File: "figure11-claims", Table: figures.ComparisonTable("What the text says of Fig. 11, simulated", fs)}},
				Figures:  []figures.Figure{{File: "figure11", Title: chart.Title, Figure: chart}},
			}, nil
		},
	}
}

// figure12 compares fairness by queue. The text has no numbers of it.
func figure12() figures.Artefact {
	return figures.Artefact{
		Name: "figure12", Title: "fairness on Q1 to Q12 (simulated)",
		Needs: func(figures.Scale) []figures.Need { return needQueues(queues) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			rows, err := onQueues(d, queues, track.MetricFairness)
			if err != nil {
				return nil, err
			}
			t, chart := byQueue(rows, "Fig. 12. Fairness by queue", "Least slowdown / largest", math.NaN())
			t.Notes = append(t.Notes, "the least slowdown of the queue over the largest; Time Sharing is 1")
			return &figures.Output{
				Tables:  []figures.Table{{File: "figure12", Table: t}},
				Figures: []figures.Figure{{File: "figure12", Title: chart.Title, Figure: chart}},
			}, nil
		},
	}
}
