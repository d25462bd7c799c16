package hierarchical

import (
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
	t := d.Claims.Head("unseen", n, len(queueNames), simulated(d))
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

// mps shows the public times under MPS from which a kappa follows, and what the methods do with it.
func mps(d *figures.Data) (*figures.Output, error) {
	times := d.Claims.Head("mps", datasets.MeasuredKappa())
	for _, m := range datasets.MPSTimes() {
		times.Row(m.Network, m.GPU, m.Percent, reports.Cells(2, m.Alone, m.Beside),
			reports.Fixed(m.Slowdown(), 3), m.Source)
	}
	t := d.Claims.Head("mps-methods", countFor(d.Scale, fewDraws))
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
