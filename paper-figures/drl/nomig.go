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

// nomig repeats Tables 4 and 5 with other values of p_sup, the percentage of memory-bound tasks, to show whether one of
// them explains a published number.
func nomig(d *figures.Data) {
	classByClass := []reading{readings[byScript], readings[byScriptAll]}
	approachShares(d, "nomig-shares", approaches[:4], classByClass, replicates)
	approachShares(d, "nomig-generators", approaches[:4], []reading{readings[byPrint], readings[byTraining]}, 100)
	approachShares(d, "nomig-runs", agents, append(classByClass, readings[byPrint], readings[byPrintAll]), agentSets)
	onlineShares(d)
}

// shares are the tried values of p_sup, in percent.
var shares = []int{0, 25, 50, 75, 100}

// agentSets is the number of data sets on which agents are shown.
const agentSets = 10

// withShare returns the reading with another p_sup in percent, on its first data sets. Every batch of them counts that
// the reading counts, also in random order.
func (r reading) withShare(psup, sets int) *reading {
	r.parameters = strings.TrimPrefix(fmt.Sprintf("%s&psup=%d", r.parameters, psup), "&")
	r.alike, r.datasets = false, sets
	return &r
}

// approachShares shows p_opt of approaches with each p_sup. For an agent it is the mean over its training runs.
func approachShares(d *figures.Data, file string, all []approach, generators []reading, sets int) {
	t := d.Table(file, "Approaches of Table 4: p_opt [%] with each p_sup",
		reports.Left("workload", "generator").Right("p_sup [%]").PlusMinus(namesOf(all)...),
		fmt.Sprintf("%d data sets, %d for FIXBEST; full batches, if the reading is not all batches; ±: half of the "+
			"95 %% interval, of an agent over its training runs, which learned with the printed p_sup", sets,
			partitioned),
		"the p_sup that 5.1.3 prints: 25 % for POORSCALING, 75 % for GOODSCALING and 50 % for the others")
	addShares(t, generators, sets, func(w workload, r *reading) [][]string {
		return figures.Map(all, func(a approach) []string {
			if r == nil {
				return []string{reports.Fixed(printed4(d, w, a), 1), ""}
			}
			return figures.PlusMinus(a.measure(d, w, r), 1)
		})
	})
}

// onlineShares shows the first training run of the online agent with each p_sup, as in Table 5.
func onlineShares(d *figures.Data) {
	t := d.Table("nomig-online", "MISO and FAR over the online agent of Table 5 with each p_sup [%]",
		reports.Left("workload", "generator").Right("p_sup [%]", "MISO over online", "FAR over online"),
		fmt.Sprintf("the first training run, which learned with the printed p_sup, on %d data sets", agentSets))
	generators := []reading{readings[byScript], readings[byPrint]}
	addShares(t, generators, agentSets, func(w workload, r *reading) [][]string {
		return figures.Map([]queued{queuedMISO, queuedFAR}, func(q queued) []string {
			if r == nil {
				return reports.Cells(1, d.Claims.Published("table5", claim.Cell{Row: w.name, Column: q.name}))
			}
			own := r.queue(w, algo.TrackStream, online.one(w))
			return reports.Cells(1, figures.Mean(d.Above(r.queue(w, q.track, q.algorithm), own, agentSets)))
		})
	})
}

// addShares adds rows for each workload and generator: one for each p_sup, whose reading it passes to cells, and one
// for the published numbers, for which the reading is nil.
func addShares(t *figures.Table, generators []reading, sets int, cells func(workload, *reading) [][]string) {
	for w, g := range figures.Each(synthetic, generators) {
		name := cmp.Or(g.name, "create_dataset.py")
		add := func(share any, r *reading) {
			label := fmt.Sprintf("%s, p_sup %v", name, share)
			t.RowAbout(claim.Selection{Row: w.name}, label, w, name, share, cells(w, r))
		}
		for _, share := range shares {
			add(share, g.withShare(share, sets))
		}
		add("published", nil)
	}
}
