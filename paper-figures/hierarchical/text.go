package hierarchical

import (
	"fmt"
	"math"

	"miglab/harness/track"

	"miglab/harness/mig"
	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// text lists the numbers of the text about the setting.
func text(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "text", Title: "numbers of the setting",
		Build: func(d *figures.Data) (*figures.Output, error) {
			measured := figures.Lookup("", map[string]figures.Measurement{
				"partitions of A100": figures.Exactly(float64(len(mig.MustLookup(gpu).Partitions()))),
			})
			out := &figures.Output{}
			for _, c := range claims.Of("text") {
				if c.Relation == figures.Input {
					out.Findings = append(out.Findings, figures.Taken(c, "setting of the datasets and of the agent"))
					continue
				}
				fs, err := d.Compare([]figures.Claim{c}, []figures.Reading{measured}, figures.Always("the GPU model has others"))
				if err != nil {
					return nil, err
				}
				out.Findings = append(out.Findings, fs...)
			}
			out.Tables = []figures.Table{{File: "text", Table: figures.ComparisonTable("Numbers of the setting", out.Findings)}}
			return out, nil
		},
	}
}

// decisions returns how long a method took for each queue, in microseconds, and that as a
// share of the simulated makespan. Timings are no results: a power cut may have lost some, and
// then there are none.
func decisions(d *figures.Data, m method) (micros, shares []float64, err error) {
	micros, err = d.Micros(m.on(queues))
	if err != nil || len(micros) < len(queueNames) {
		return nil, nil, err
	}
	spans, err := d.Values(m.on(queues), track.MetricMakespan)
	for i, s := range spans {
		shares = append(shares, micros[i]/1e6/s)
	}
	return micros, shares, err
}

// overhead judges what the agent's decisions cost. Wall times differ from run to run, so the
// share is rounded up to the next tenth of a percent; timing has it as it was.
func overhead(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "overhead", Title: "what the agent's decisions cost",
		Needs: func(figures.Scale) []figures.Need { return paperQueues(queues, agent) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			_, shares, err := decisions(d, agent)
			if err != nil {
				return nil, err
			}
			out := &figures.Output{}
			for _, c := range claims.Of("overhead") {
				if shares == nil {
					out.Findings = append(out.Findings, figures.Missing(c, "the decision times of this store are lost; run with another --results"))
					continue
				}
				up := math.Ceil(1000*mean(shares)) / 10
				out.Findings = append(out.Findings, d.Judge(c, figures.Exactly(up), "", "decided on this machine, run on a simulated GPU"))
			}
			t := figures.ComparisonTable("Online overhead: decision time on this machine over simulated makespan", out.Findings)
			t.Notes = append(t.Notes, "mean over Q1 to Q12, rounded up to a tenth of a percent; the paper prints the throughput that its optimization costs")
			out.Tables = []figures.Table{{File: "overhead", Table: t}}
			return out, nil
		},
	}
}

// timing lists the decision times of all methods on Q1 to Q12. Wall times are no results, so
// that they are kept apart.
func timing() figures.Artefact {
	all := append([]method{timeSharing, migShared, migPrivate, mpsOnly}, append(partitions, agent, greedy, local, exact)...)
	return figures.Artefact{
		Name: "timing", Title: "decision times", Timed: true,
		Needs: func(figures.Scale) []figures.Need { return paperQueues(queues, all...) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title: "Decision times for the queues of 12 jobs, one core",
				Columns: []reports.Column{
					{Name: "method"},
					{Name: "mean [ms]", Right: true},
					{Name: "longest [ms]", Right: true},
					{Name: "share of the simulated makespan [%]", Right: true},
				},
				Notes: []string{"this machine, while as many cells ran at once as there are workers; the makespan is simulated"},
			}
			for _, m := range all {
				micros, shares, err := decisions(d, m)
				if err != nil {
					return nil, err
				}
				if micros == nil {
					t.Rows = append(t.Rows, []string{m.title, "", "", ""})
					continue
				}
				s, err := stats.Summarize(micros)
				if err != nil {
					return nil, err
				}
				number := func(v float64) string { return fmt.Sprintf("%.3g", v) }
				t.Rows = append(t.Rows, []string{m.title, number(s.Mean / 1000), number(s.Max / 1000), number(100 * mean(shares))})
			}
			return &figures.Output{Tables: []figures.Table{{File: "timing-hierarchical", Table: t}}}, nil
		},
	}
}
