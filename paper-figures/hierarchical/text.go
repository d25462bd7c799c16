package hierarchical

import (
	"fmt"
	"math"

	"miglab/harness/mig"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// text lists the numbers of the text about the setting.
func text(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "text", Title: "numbers of the setting",
		Build: func(d *figures.Data) (*figures.Output, error) {
			measured := figures.Lookup("", figures.Values{
				"partitions of A100": figures.Exactly(float64(len(mig.MustLookup(gpu).Partitions()))),
			})
			fs := d.CompareOrTake(claims.Of("text"), []figures.Reading{measured},
				figures.Always("the GPU model has others"), "setting of the datasets and of the agent")
			return figures.Found(fs...).Table("text", figures.ComparisonTable("Numbers of the setting", fs)), nil
		},
	}
}

// decisions returns how long a method took for each queue, in microseconds, and as a share of
// the simulated makespan. Timings are not results: a power cut may have lost some. Then it
// returns none.
func decisions(d *figures.Data, m method) (micros, shares []float64) {
	micros = d.Micros(m.on(queues))
	if len(micros) < len(queueNames) {
		return nil, nil
	}
	for i, s := range d.Values(m.on(queues), track.MetricMakespan) {
		shares = append(shares, micros[i]/1e6/s)
	}
	return micros, shares
}

// overhead judges the cost of the agent's decisions. The share is rounded up to a tenth of a
// percent, because wall times differ from run to run; timing has the exact one.
func overhead(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "overhead", Title: "what the agent's decisions cost",
		Needs: func(figures.Scale) []figures.Need { return paperQueues(queues, agent) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			_, shares := decisions(d, agent)
			out := &figures.Output{}
			for _, c := range claims.Of("overhead") {
				if shares == nil {
					out.Findings = append(out.Findings, figures.Missing(c, "the decision times of this store are lost; run with another --results"))
					continue
				}
				up := math.Ceil(1000*figures.Mean(shares)) / 10
				out.Findings = append(out.Findings, d.Judge(c, figures.Exactly(up), "", "decided on this machine, run on a simulated GPU"))
			}
			t := figures.ComparisonTable("Online overhead: decision time on this machine over simulated makespan", out.Findings)
			t.Notes = append(t.Notes, "mean over Q1 to Q12, rounded up to a tenth of a percent; the paper prints the throughput that its optimization costs")
			out.Table("overhead", t)
			return out, nil
		},
	}
}

// timing lists the decision times of all methods on Q1 to Q12. They are kept apart, because wall
// times are not results.
func timing() figures.Artefact {
	all := append([]method{timeSharing, migShared, migPrivate, mpsOnly}, append(partitions, agent, greedy, local, exact)...)
	return figures.Artefact{
		Name: "timing", Title: "decision times", Timed: true,
		Needs: func(figures.Scale) []figures.Need { return paperQueues(queues, all...) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title:   "Decision times for the queues of 12 jobs, one core",
				Columns: reports.Left("method").Right("mean [ms]", "longest [ms]", "share of the simulated makespan [%]"),
				Notes:   []string{"this machine, while as many cells ran at once as there are workers; the makespan is simulated"},
			}
			for _, m := range all {
				micros, shares := decisions(d, m)
				if micros == nil {
					t.Rows = append(t.Rows, []string{m.title, "", "", ""})
					continue
				}
				s := d.Summarize(micros)
				number := func(v float64) string { return fmt.Sprintf("%.3g", v) }
				t.Rows = append(t.Rows, []string{m.title, number(s.Mean / 1000), number(s.Max / 1000), number(100 * figures.Mean(shares))})
			}
			return figures.Found().Table("timing-hierarchical", t), nil
		},
	}
}
