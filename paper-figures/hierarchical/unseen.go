package hierarchical

import (
	"fmt"

	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

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
