package hierarchical

import (
	"fmt"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// apart are queues of programs that the agent was trained on, and of programs that it never saw.
// They have two jobs of each class, which has three unseen programs.
var apart = []struct{ name, dataset string }{
	{"seen", figures.Dataset("corun/seen?w=6")}, {"unseen", figures.Dataset("corun/unseen?w=6")},
}

// apartQueues is the number of queues of each kind.
const apartQueues = 50

// unseen shows seen and unseen programs separately. Q1 to Q12 mix them.
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
				Title:   "Queues of seen and of unseen programs, simulated",
				Columns: reports.Left("programs", "method").Right("throughput", "mean slowdown", "gap to the optimum [%]"),
				Notes: []string{
					fmt.Sprintf("means over %d queues of two CI, two MI and two US programs; ± is half the 95 %% interval", d.Scale.Replicates(apartQueues)),
					"only the agent is trained: what the others do differently is due to the programs", simulated(),
				},
			}
			for a, m := range figures.Each(apart, methods) {
				mean := func(values []float64, decimals int) string {
					return d.MeanOf(values, len(values)).PlusMinus(decimals)
				}
				t.Rows = append(t.Rows, []string{
					a.name, m.title, mean(d.Values(m.on(a.dataset), track.MetricThroughput), 3),
					mean(d.Values(m.on(a.dataset), track.MetricSlowdownMean), 3), mean(gaps(d, m, a.dataset), 2),
				})
			}
			return figures.Found().Table("unseen", t), nil
		},
	}
}
