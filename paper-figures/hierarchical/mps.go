package hierarchical

import (
	"fmt"
	"slices"

	"miglab/datasets"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// mps shows public times under MPS, the kappa that follows from them, and the methods' results with this kappa. kappa
// is the slowdown that a co-run adds.
func mps(d *figures.Data) {
	times := d.Table("mps",
		"A network's time beside a second process of the same network, each on half of the multiprocessors",
		reports.Left("network", "GPU").Right("share of the multiprocessors [%]", "alone [ms]",
			"beside the other [ms]", "slowdown").Left("source"),
		fmt.Sprintf("kappa = %v: the mean slowdown less 1, to a hundredth. The rule was written down before any "+
			"method was run with it. A part of the slowdown is a lower clock, which programs on MIG instances share "+
			"as well", datasets.MeasuredKappa()))
	for _, m := range datasets.MPSTimes() {
		times.Row(m.Network, m.GPU, m.Percent, reports.Cells(2, m.Alone, m.Beside),
			reports.Fixed(m.Slowdown(), 3), m.Source)
	}
	t := d.Table("mps-methods",
		"Mean throughput on Q1 to Q12 with the kappa of public times, simulated",
		reports.Left("method").PlusMinus("kappa = 0.25, delta = 0.3", "less the best other method",
			"kappa = 0.08, delta = 0.3", "less the best other method", "kappa = 0.08, delta = 0",
			"less the best other method"),
		fmt.Sprintf("means over %d draws of the programs and three training runs; ± is half the 95 %% interval; best "+
			"other method: the best of the paper's on each draw, MIG+MPS Default with its best partition among them",
			countFor(d.Scale, fewDraws)),
		"the agent learned with kappa = 0.25, and nothing of it was changed; the ceiling is the best plan that its "+
			"29 setups and its order of slots allow, so that no training leads by more")
	for i, v := range []variation{variations[0], blind, blindDelta} {
		data := drawsOf(queues, countFor(d.Scale, fewDraws), v.parameters)
		for k, m := range []method{migShared, migPrivate, mpsOnly, agent, ceiling, exact} {
			if i == 0 {
				t.Row(m.title)
			}
			mean, ahead := m.meanAndLead(d, data)
			t.Rows[k] = slices.Concat(t.Rows[k], figures.PlusMinus(mean, 3), figures.PlusMinus(ahead, 3))
		}
	}
}
