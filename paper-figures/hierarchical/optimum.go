package hierarchical

import (
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/sim/corun"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// ceilings shows the agents' lead over the paper's other methods on the reported draws, and the largest lead that any
// agent with these 29 setups could have.
func ceilings(d *figures.Data) {
	draws := reportedDraws(d.Scale)
	blindDraws := drawsOf(queues, countFor(d.Scale, blind.draws), blind.parameters)
	t := d.Table("ceiling",
		"Throughput of the agents, and the most that their actions allow, on Q1 to Q12, simulated",
		reports.Left("method").PlusMinus("throughput", "less the best other method").
			Right("of the exact optimum [%]").PlusMinus("queues on which it is first", "the same, blind kappa"),
		fmt.Sprintf("means over %d draws of the programs and %d training runs of each agent; ± is half the 95 %% "+
			"interval, of a hierarchical bootstrap for agents", len(draws), trainingRuns),
		"ceiling of MIG+MPS w/ RL: the best plan that the 29 setups and the order of slots allow, by dynamic "+
			"programming",
		fmt.Sprintf("ceiling with all setups of Table VII: the same with all %d setups, in the same order of slots",
			variants(corun.Hierarchical)),
		"the exact optimum is free in the order, and has the partitions of MIG+MPS Default as well",
		"best other method: of the paper's methods, the one that is best on that draw",
		"queues on which it is first: the number of the 12 queues on which it is ahead of all of the paper's methods",
		fmt.Sprintf("blind kappa: kappa = %v, which follows from public measurements alone, on %d draws",
			datasets.MeasuredKappa(), len(blindDraws)),
		rebuilt,
		simulated())
	best, _ := exact.meanAndLead(d, draws)
	counted := []method{agent, ceiling, ordered, exact} // the methods that could be first
	for _, m := range []method{migShared, migPrivate, mpsOnly, agent, ownAgent, ceiling, ordered, exact} {
		mean, ahead := m.meanAndLead(d, draws)
		counts := slices.Repeat([]string{""}, 4)
		if slices.Contains(counted, m) {
			counts = slices.Concat(figures.PlusMinus(m.against(d, draws, track.MetricThroughput, first), 2),
				figures.PlusMinus(m.against(d, blindDraws, track.MetricThroughput, first), 2))
		}
		t.Row(m.title, figures.PlusMinus(mean, 4), figures.PlusMinus(ahead, 4),
			reports.Fixed(100*mean.Value/best.Value, 2), counts)
	}
}
