package hierarchical

import (
	"fmt"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
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
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title:   "Queues of seen and of unseen programs, simulated",
				Columns: reports.Left("programs", "method").PlusMinus("throughput", "mean slowdown", "gap to the optimum [%]"),
				Notes: []string{
					fmt.Sprintf("means over %d queues of two CI, two MI and two US programs; ± is half the 95 %% interval", d.Scale.Replicates(apartQueues)),
					"only the agent is trained: what the others do differently is due to the programs", simulated(),
				},
			}
			for a, m := range figures.Each(apart, methods) {
				row := []string{a.name, m.title}
				for i, values := range [][]float64{
					d.Values(m.on(a.dataset), apartQueues, track.MetricThroughput), d.Values(m.on(a.dataset), apartQueues, track.MetricSlowdownMean),
					gaps(d, m, a.dataset, apartQueues),
				} {
					row = append(row, figures.PlusMinus(d.MeanOf(values, verdict.Draws, 0), []int{3, 3, 2}[i])...)
				}
				t.Rows = append(t.Rows, row)
			}
			return new(figures.Output).Table("unseen", t), nil
		},
	}
}
