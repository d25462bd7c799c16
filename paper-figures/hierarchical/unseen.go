package hierarchical

import (
	"fmt"

	"miglab/harness/track"

	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// apart are queues of programs that the agent was trained on, and of those that it never saw:
// of each class two jobs, as there are three unseen programs a class.
var apart = []struct{ name, dataset string }{
	{"seen", dataset("corun/seen?w=6")}, {"unseen", dataset("corun/unseen?w=6")},
}

// apartQueues is the number of queues of each kind.
const apartQueues = 50

// unseen tells the unseen programs apart. On Q1 to Q12 they are mixed with seen ones.
func unseen() figures.Artefact {
	methods := []method{migShared, mpsOnly, agent, local, exact}
	return figures.Artefact{
		Name: "unseen", Title: "queues of seen and of unseen programs (simulated)",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, a := range apart {
				out = append(out, need(a.dataset, s.Replicates(apartQueues), methods...)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title: "Queues of seen and of unseen programs, simulated",
				Columns: []reports.Column{
					{Name: "programs"}, {Name: "method"}, {Name: "throughput", Right: true}, {Name: "mean slowdown", Right: true}, {Name: "gap to the optimum [%]", Right: true},
				},
				Notes: []string{
					fmt.Sprintf("means over %d queues of two CI, two MI and two US programs; ± is half the 95 %% interval", d.Scale.Replicates(apartQueues)),
					"only the agent is trained: what the others do differently is due to the programs", simulated(),
				},
			}
			for _, a := range apart {
				for _, m := range methods {
					row := []string{a.name, m.title}
					for _, metric := range []string{track.MetricThroughput, track.MetricSlowdownMean} {
						v, err := d.Values(m.on(a.dataset), metric)
						if err != nil {
							return nil, err
						}
						cell, err := plusMinus(v, 3)
						if err != nil {
							return nil, err
						}
						row = append(row, cell)
					}
					g, err := gaps(d, m, a.dataset)
					if err != nil {
						return nil, err
					}
					cell, err := plusMinus(g, 2)
					if err != nil {
						return nil, err
					}
					t.Rows = append(t.Rows, append(row, cell))
				}
			}
			return &figures.Output{Tables: []figures.Table{{File: "unseen", Table: t}}}, nil
		},
	}
}

// plusMinus writes a mean with half its 95 % interval.
func plusMinus(values []float64, decimals int) (string, error) {
	s, err := stats.Summarize(values)
	return reports.PlusMinus(s.Mean, s.High-s.Mean, decimals), err
}
