package far

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	figures "miglab/paper-figures"
	"miglab/reports"
)

var (
	// energyData are measured work and a workload of the DRL paper.
	energyData = append(slices.Clone(measuredData), "drl/WIDETIMES")
	// idleWatts are two readings of an idle A100, and 0, with which only busy instances draw power.
	idleWatts = []float64{0, 45.9, 75.4}
)

// energies compares the order of the schedulers by energy with their order by makespan. Both are of the same schedules:
// a board of other idle watts draws the difference until the makespan.
func energies(d *figures.Data) {
	c := contests[0]
	t := d.Table("energy", "Mean energy above the least of an instance [%], by the power of an idle A100",
		reports.Left("workload").Right("idle [W]").Right(c.schedulers...).Right("tau", "changed"),
		fmt.Sprintf("%d batches of 14 tasks; the least energy that one of these schedulers found", c.instances),
		"busy instances of 1, 2 and 3 slices draw as measured, of 4 and 7 as assumed (harness/mig/power.json)",
		"tau: Kendall's between the orders by mean energy and by mean makespan, both above the least; changed: pairs "+
			"of which one is ahead by energy and the other by makespan, both in at least 97.5 % of the draws")
	changed := make([][]string, len(idleWatts))
	for _, name := range energyData {
		makespans := c.valuesOf(d, name, "A100?idle=0", makespan)
		busy := c.valuesOf(d, name, "A100?idle=0", "energy_j")
		if d.Planning() {
			continue
		}
		for k, idle := range idleWatts {
			above := aboveLeast(boardEnergies(busy, makespans, idle))
			row := []any{name, reports.Fixed(idle, 1)}
			for _, values := range above {
				row = append(row, figures.PlusMinus(mean(d, values), 1)[0])
			}
			order := c.compare(above, aboveLeast(makespans), fmt.Sprint(name, " energy ", idle))
			t.Row(append(row, reports.Fixed(order.tau.value, 2), len(order.swapped))...)
			changed[k] = append(changed[k], order.swapped...)
		}
	}
	for k, pairs := range changed {
		slices.Sort(pairs)
		t.Notes = append(t.Notes, fmt.Sprintf("changed on some workload with %v W: %s", idleWatts[k],
			cmp.Or(strings.Join(slices.Compact(pairs), "; "), "none")))
	}
}

// boardEnergies returns the energies, by scheduler and instance, of one board with the given idle watts.
func boardEnergies(busy, makespans [][]float64, idle float64) [][]float64 {
	out := make([][]float64, len(busy))
	for k, values := range busy {
		for i, joules := range values {
			out[k] = append(out[k], joules+float64(idle*makespans[k][i]))
		}
	}
	return out
}
