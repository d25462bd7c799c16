package drl

import (
	"cmp"
	"fmt"
	"strings"

	"miglab/harness/algo"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// nomig shows the baselines, the agents and the online agent with other values of p_sup.
func nomig(d *figures.Data) {
	classByClass := []reading{readings[byScript], readings[byScriptAll]}
	approachShares(d, "nomig-shares", approaches[:4], classByClass, replicates)
	approachShares(d, "nomig-generators", approaches[:4], []reading{readings[byPrint], readings[byTraining]}, 100)
	approachShares(d, "nomig-runs", agents, append(classByClass, readings[byPrint]), agentSets)
	onlineShares(d)
}

// shares are the values of p_sup that are tried, in percent.
var shares = []int{0, 25, 50, 75, 100}

// agentSets is the number of data sets on which they are tried for agents.
const agentSets = 10

// withShare returns the reading on the first data sets, with another p_sup in percent.
func (r reading) withShare(psup, sets int) *reading {
	r.parameters = strings.TrimPrefix(fmt.Sprintf("%s&psup=%d", r.parameters, psup), "&")
	r.alike, r.datasets = false, sets
	return &r
}

// approachShares shows approaches with each p_sup, agents by the mean over their training runs.
func approachShares(d *figures.Data, file string, as []approach, generators []reading, sets int) {
	t := d.Table(file, "Approaches of Table 4: p_opt [%] with each p_sup",
		reports.Left("workload", "generator").Right("p_sup [%]").PlusMinus(namesOf(as)...),
		fmt.Sprintf("%d data sets, %d for FIXBEST; full batches, if the reading is not all batches; ±: half of the "+
			"95 %% interval, of an agent over its training runs, which learned with the printed p_sup", sets,
			partitioned),
		"the p_sup that 5.1.3 prints: 25 % for POORSCALING, 75 % for GOODSCALING and 50 % for the others")
	for w, g := range figures.Each(synthetic, generators) {
		row := func(share any, cells func(approach) []string) {
			name := cmp.Or(g.name, "create_dataset.py")
			t.RowAbout(claim.Selection{Row: w.name}, fmt.Sprintf("%s, p_sup %v", name, share), w, name, share,
				figures.Map(as, cells))
		}
		for _, share := range shares {
			r := g.withShare(share, sets)
			row(share, func(a approach) []string { return figures.PlusMinus(a.measure(d, w, r), 1) })
		}
		row("published", func(a approach) []string { return []string{reports.Fixed(printed4(d, w, a), 1), ""} })
	}
}

// onlineShares shows the first training run of the online agent on data sets with each p_sup, as in Table 5.
func onlineShares(d *figures.Data) {
	t := d.Table("nomig-online", "MISO and FAR over the online agent of Table 5 with each p_sup [%]",
		reports.Left("workload", "generator").Right("p_sup [%]", "MISO over online", "FAR over online"),
		fmt.Sprintf("the first training run, which learned with the printed p_sup, on %d data sets", agentSets))
	for w, generator := range figures.Each(synthetic, []reading{readings[byScript], readings[byPrint]}) {
		row := func(share any, over func(queued) float64) {
			name := cmp.Or(generator.name, "create_dataset.py")
			t.RowAbout(claim.Selection{Row: w.name}, fmt.Sprintf("%s, p_sup %v", name, share), w, name, share,
				reports.Fixed(over(queuedMISO), 1), reports.Fixed(over(queuedFAR), 1))
		}
		for _, share := range shares {
			r := generator.withShare(share, agentSets)
			row(share, func(q queued) float64 {
				own := r.queue(w, algo.TrackStream, online.one(w))
				return figures.Mean(d.Above(r.queue(w, q.track, q.algorithm), own, agentSets))
			})
		}
		row("published", func(q queued) float64 {
			return d.Claims.Published("table5", claim.Cell{Row: w.name, Column: q.name})
		})
	}
}
