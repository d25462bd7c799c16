package mfi

import (
	"fmt"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/track"
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
	const metric = "acceptance_steady"
	for _, dist := range distributions {
		data := figures.Map(rhos, func(rho float64) string { return steadyData(dist, rho) })
		of := func(id, dataset string) []float64 { return d.Values(place(dataset, id), steadyRuns, metric) }
		g := gridOf(shown, data, func(id, dataset string) figures.Measurement { return meanOf(d, of(id, dataset)).Affine(100, 0) })
		acceptance.Charts = append(acceptance.Charts, g.lines(dist, x, reports.Axis{Label: "Acceptance [%]"}, shown, rhos))
		paired := gridOf(shown, data, func(id, dataset string) figures.Measurement {
			return meanOf(d, less(of(id, dataset), of(shown[0], dataset), 100))
		})
		difference.Charts = append(difference.Charts, paired.lines(dist, x, reports.Axis{Label: "Difference [points]"}, shown, rhos))
	}
	return new(figures.Output).
		Table("steady", pairedTable(d, "steady", metric)).
		Table("steady-slices", pairedTable(d, "steady-slices", "acceptance_slices_steady")).
		Figure("steady", acceptance.Title, acceptance).
		Figure("steady-difference", difference.Title, difference), nil
}

// pairedTable compares schedulers with MFI on the same streams at ρ = 1.
func pairedTable(d *figures.Data, table, metric string) reports.Table {
	t := tableOf(d, table, distributions)
	t.Columns = t.Columns.Left("above MFI on")
	of := func(id, dist string) []float64 { return d.Values(place(steadyData(dist, 1), id), steadyRuns, metric) }
	reference := []string{"mfi, acceptance [%]"}
	for _, dist := range distributions {
		reference = append(reference, figures.PlusMinus(meanOf(d, of("mfi", dist)).Affine(100, 0), 2)...)
	}
	t.Rows = append(t.Rows, append(reference, ""))
	for _, id := range compared {
		row := []string{id}
		var above []string
		for _, dist := range distributions {
			v := meanOf(d, less(of(id, dist), of("mfi", dist), 100))
			row = append(row, figures.PlusMinus(v, 2)...)
			if v.Low > 0 {
				above = append(above, dist)
			}
		}
		t.Rows = append(t.Rows, append(row, strings.Join(above, ", ")))
	}
	return t
}

// offline is not in the paper. It shows how far schedulers stay below a bound on what a
// scheduler that knows all requests beforehand could accept, if no request departs.
func offline(d *figures.Data) (*figures.Output, error) {
	const runs = 100
	loads := []int{100, 110, 120, 130, 140, 150}
	shown := []string{"mfi", "bf-bi", "ff", "wf-bi", "hami-binpack", "fgd?demand=true", "value-table"}
	chart := reports.Panels{Title: "Accepted requests below the offline bound, nothing departs"}
	t := tableOf(d, "offline", shown)
	percent, names := percents(loads)
	for _, dist := range distributions {
		data := figures.Map(loads, func(load int) string {
			return stream(dist, fmt.Sprintf("lifespan=forever&load=%d&seed=%d", load, testSeed))
		})
		g := gridOf(shown, data, func(id, dataset string) figures.Measurement {
			bound := place(dataset, "offline-bound")
			bound.Track = algo.TrackOffline
			return meanOf(d, each(func(v []float64) float64 { return 100 * (1 - v[0]/v[1]) },
				d.Values(place(dataset, id), runs, "accepted"), d.Values(bound, runs, track.MetricAcceptedAtMost)))
		})
		x := reports.Axis{Label: "GPU demand [% of capacity]", Ticks: percent}
		chart.Charts = append(chart.Charts, g.lines(dist, x, reports.Axis{Label: "Below the bound [%]"}, shown, percent))
		g.rows(&t, dist, names)
	}
	return new(figures.Output).Table("offline", t).Figure("offline", chart.Title, chart), nil
}
