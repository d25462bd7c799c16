package mfi

import (
	"fmt"
	"strings"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

const (
	// steadyRuns is the number of simulations for results that are not in the paper.
	steadyRuns = 300
	// testSeed is the seed of streams on which no scheduler was tuned or chosen.
	testSeed = 3
)

var (
	// rhos are offered loads as shares of the cluster's capacity.
	rhos = []float64{0.85, 1, 1.3}
	// shown are the schedulers of the figures, MFI first.
	shown = []string{"mfi", "bf-bi", "ff", "hami-binpack", "mfi-weighted?demand=true", "fgd?demand=true", "value-table"}
	// compared are the schedulers that the table compares with MFI.
	compared = []string{
		"value-table", "fgd?demand=true", "fgd", "mfi-weighted?demand=true", "mfi-weighted", "hami-binpack", "hami-spread",
		"mfi?f=partial", "mfi?f=start-free", "bf-bi", "ff", "rr", "wf-bi",
	}
)

// steadyData is the stream of a distribution in steady state.
func steadyData(distribution string, rho float64) string {
	return stream(distribution, fmt.Sprintf("lifespan=steady&rho=%g&seed=%d", rho, testSeed))
}

// steady is not in the paper, whose cluster never fills, so that policies hardly differ.
// Here the offered load is about the capacity.
func steady(d *figures.Data) (*figures.Output, error) {
	acceptance := reports.Panels{Title: "Acceptance in steady state against the offered load"}
	difference := reports.Panels{Title: "Acceptance in steady state less that of MFI on the same requests"}
	x := reports.Axis{Label: "Offered load ρ [capacities]", Ticks: rhos}
	for _, dist := range distributions {
		at := func(i, rho int) run.Series { return place(steadyData(dist, rhos[rho]), shown[i]) }
		g := gridOf(d, quantity{metric: "acceptance_steady", scale: 100}, steadyRuns, len(shown), len(rhos), at)
		acceptance.Charts = append(acceptance.Charts, g.lines(dist, x, reports.Axis{Label: "Acceptance [%]"}, shown, rhos))
		paired := make(grid, len(shown))
		for i := range shown {
			for j := range rhos {
				own, base := d.Values(at(i, j), steadyRuns, "acceptance_steady"), d.Values(at(0, j), steadyRuns, "acceptance_steady")
				paired[i] = append(paired[i], meanOf(d, less(own, base, 100)))
			}
		}
		difference.Charts = append(difference.Charts, paired.lines(dist, x, reports.Axis{Label: "Difference [points]"}, shown, rhos))
	}
	return new(figures.Output).
		Table("steady", pairedTable("Acceptance in steady state at ρ = 1 less that of MFI [points]", d, "acceptance_steady")).
		Table("steady-slices", pairedTable("The same, weighted by memory slices [points]", d, "acceptance_slices_steady")).
		Figure("steady", acceptance.Title, acceptance).
		Figure("steady-difference", difference.Title, difference), nil
}

// pairedTable compares schedulers with MFI on the same streams at ρ = 1.
func pairedTable(title string, d *figures.Data, metric string) reports.Table {
	t := reports.Table{
		Title:   title,
		Columns: reports.Left("scheduler").PlusMinus(distributions...).Left("above MFI on"),
		Notes: []string{
			"paired differences, mean ± half of the 95 % confidence interval; the last column lists the distributions whose interval is above zero",
			fmt.Sprintf("%d GPUs of 8 memory slices, lifespan U[1,2T], requests between demands of 2 and 5 capacities; seed %d, which no scheduler was tuned on", gpus, testSeed),
		},
	}
	reference := []string{"mfi, acceptance [%]"}
	for _, dist := range distributions {
		v := meanOf(d, d.Values(place(steadyData(dist, 1), "mfi"), steadyRuns, metric))
		reference = append(reference, figures.PlusMinus(v.Affine(100, 0), 2)...)
	}
	t.Rows = append(t.Rows, append(reference, ""))
	for _, id := range compared {
		row := []string{id}
		var above []string
		for _, dist := range distributions {
			data := steadyData(dist, 1)
			v := meanOf(d, less(d.Values(place(data, id), steadyRuns, metric), d.Values(place(data, "mfi"), steadyRuns, metric), 100))
			row = append(row, figures.PlusMinus(v, 2)...)
			if v.Low > 0 {
				above = append(above, dist)
			}
		}
		t.Rows = append(t.Rows, append(row, strings.Join(above, ", ")))
	}
	return t
}
