package hierarchical

import (
	"fmt"
	"slices"

	"miglab/datasets"
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

// unseen compares the methods on queues of programs that the paper's agent was not trained on.
func unseen(d *figures.Data) (*figures.Output, error) {
	n := countFor(d.Scale, fewDraws)
	out := figures.Read(figures.Map(variations, func(v variation) figures.Reading {
		ahead := lead(d, agent, drawsOf(unseenPrograms, n, v.parameters))
		return figures.Reading{Name: v.name, Values: figures.Values{aheadUnseen: d.Crossed(ahead)}}
	})...)
	t := figures.NewTable("unseen", "Mean throughput on queues of seen and of unseen programs, simulated",
		reports.Left("method").PlusMinus("18 programs of the training", "less the best other method",
			"9 unseen programs (*)", "unseen, less the best other method"),
		fmt.Sprintf("means over %d draws of the programs, each of %d queues of 12 jobs with four of each class; ± "+
			"is half the 95 %% interval over the draws; best other method: the paper's, the best on each draw. The "+
			"mean of the best is higher than the best mean, so that a method may be ahead of each other one in the "+
			"mean and behind the best of each draw. That column has the agent, whose interval is over its training "+
			"runs as well, and the optimum; for the others see ceiling", n, len(queueNames)),
		"the paper's agent learned from its 18 programs, which are not public; ours learned from newly drawn "+
			"programs and has seen none of either",
		simulated())
	for i, dataset := range []string{seenPrograms, unseenPrograms} {
		data := drawsOf(dataset, n, "")
		for k, r := range throughputRows(d, data...) {
			if i == 0 {
				t.Row(r.title)
			}
			cells := append(figures.PlusMinus(d.MeanOf(r.values, verdict.Draws, 0), 3), "", "")
			if k >= len(rivalTitles) {
				m := []method{agent, exact}[k-len(rivalTitles)]
				copy(cells[2:], figures.PlusMinus(m.measured(d, lead(d, m, data)), 4))
			}
			t.Rows[k] = append(t.Rows[k], cells...)
		}
	}
	return out.Table(t), nil
}

// mps shows the public times under MPS from which a kappa follows, and the results of the methods with it.
func mps(d *figures.Data) (*figures.Output, error) {
	times := figures.NewTable("mps",
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
	t := figures.NewTable("mps-methods",
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
			mean, ahead := m.throughputs(d, data)
			t.Rows[k] = slices.Concat(t.Rows[k], figures.PlusMinus(mean, 3), figures.PlusMinus(ahead, 3))
		}
	}
	return new(figures.Output).Table(times, t), nil
}
