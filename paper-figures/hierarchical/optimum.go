package hierarchical

import (
	"fmt"
	"slices"
	"strconv"

	"miglab/datasets"
	"miglab/harness/sim/corun"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// ranked are the methods that are compared with the exact optimum.
var ranked = slices.Concat(paperMethods, partitions, []method{greedy, agent, ownAgent, ceiling, local})

// gaps returns, for n windows, by how many percent a method's makespans exceed the exact optimum's.
func gaps(d *figures.Data, m method, dataset string, n int) []float64 {
	return figures.Percent(figures.Ratios(m.values(d, dataset, n, track.MetricMakespan),
		exact.values(d, dataset, n, track.MetricMakespan)))
}

// optimum compares the methods in ranked with the exact optimum. The paper has no optimum.
func optimum(d *figures.Data) {
	n := countFor(d.Scale, generated)
	summary := d.Table("optimum", "Gaps to the exact optimum in percent, and queues won, simulated",
		reports.Left("method").Right("Q1-Q12, mean", "largest", "generated queues, mean", "generated queues, largest"),
		fmt.Sprintf("generated: %d queues of 12 jobs of each of the four categories", n),
		"beats X: the number of Q1 to Q12 on which the method's makespan is shorter than X's",
		simulated())
	byQueue := d.Table("optimum-queues",
		"Gaps to the exact optimum on Q1 to Q12 in percent of its makespan, simulated",
		reports.Left("queue").Right("unseen jobs", "exact optimum [s]"),
		"exact optimum: the best groups on every partition of Table VII and of MIG+MPS Default, by dynamic programming",
		simulated())
	spans := exact.onQueues(d, queues, track.MetricMakespan)
	for i, name := range queueNames {
		byQueue.Row(name, figures.Count(jobsOf(queues, i), isUnseen), reports.Fixed(spans[i], 2))
	}
	byQueue.Row("mean", "", reports.Fixed(figures.Mean(spans), 2))
	byQueue.Row("largest", "", "")
	paper := []method{migShared, migPrivate, mpsOnly, bestDefault(d, queues)}
	for _, r := range paper {
		summary.Columns = summary.Columns.Right("beats " + r.title)
	}
	for _, m := range slices.Concat(ranked, []method{exact}) {
		own := gaps(d, m, queues, len(queueNames))
		all := slices.Concat(figures.Map(ofCategories(windowSize, ""), func(data string) []float64 {
			return gaps(d, m, data, n)
		})...)
		summary.Row(m.title,
			reports.Cells(2, figures.Mean(own), slices.Max(own), figures.Mean(all), slices.Max(all)),
			figures.Map(paper, func(r method) string {
				return strconv.Itoa(won(own, gaps(d, r, queues, len(queueNames))))
			}))
		if m == exact {
			continue
		}
		byQueue.Columns = byQueue.Columns.Right(m.title)
		for i, g := range append(slices.Clone(own), figures.Mean(own), slices.Max(own)) {
			byQueue.Rows[i] = append(byQueue.Rows[i], reports.Fixed(g, 2))
		}
	}
}

// won counts the queues on which the first gap is smaller than the second. Equal plans may differ by rounding.
func won(own, theirs []float64) (n int) {
	for i := range own {
		if own[i] < theirs[i]-1e-9 {
			n++
		}
	}
	return n
}

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
