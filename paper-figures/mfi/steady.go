package mfi

import (
	"fmt"
	"slices"
	"strings"

	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

const (
	// steadyRuns is the number of simulations for results that are not in the paper, concludedRuns the number under
	// each reading, and movedRuns the number with moves.
	steadyRuns, concludedRuns, movedRuns = 300, 100, 5
	// testSeed is the seed of streams on which no scheduler was tuned or chosen.
	testSeed = 3
)

var (
	// rhos are offered loads as shares of the cluster's capacity.
	rhos = []float64{0.85, 1, 1.3}
	// shown are the schedulers in the figure of steady state.
	shown = []string{"bf-bi", "ff", "hami-binpack", "mfi-weighted?demand=true", "fgd?demand=true", "value-table"}
	// compared are the schedulers that a table of steady state compares with MFI.
	compared = []string{
		"value-table", "fgd?demand=true", "fgd", "mfi-weighted?demand=true", "mfi-weighted", "hami-binpack",
		"hami-spread",
		"mfi?f=partial", "mfi?f=start-free", "bf-bi", "ff", "rr", "wf-bi",
	}
	// movers are the schedulers that may move running workloads.
	movers = []string{"mfi-migrate", "repack", "repack-exact", "load-balance-migrate"}
)

// steadyStream is a note of tables about steady state.
const steadyStream = "100 GPUs of 8 memory slices, lifespan U[1,2T], requests between demands of 2 and 5 " +
	"capacities; seed 3, which no scheduler was tuned on"

// steadyData returns the stream of a distribution in steady state.
func steadyData(distribution string, rho float64) string {
	return stream(distribution, fmt.Sprintf("lifespan=steady&rho=%g&seed=%d", rho, testSeed))
}

// steady goes beyond the paper, whose cluster never fills, so that policies hardly differ. Here the load is about the
// capacity.
func steady(d *figures.Data) {
	chart := reports.Panels{Title: "Acceptance in steady state less that of MFI on the same requests"}
	x, y := reports.Axis{Label: "Offered load ρ [capacities]"}, reports.Axis{Label: "Difference [points]"}
	loads := figures.Map(rhos, func(rho float64) string { return fmt.Sprint(rho) })
	const metric = "acceptance_steady"
	for _, dist := range distributions {
		data := figures.Map(rhos, func(rho float64) string { return steadyData(dist, rho) })
		of := func(id, dataset string) []float64 { return d.Values(place(dataset, id), steadyRuns, metric) }
		gaps := gridOf(d, shown, data, 100, func(id, dataset string) []float64 {
			return differences(of(id, dataset), of("mfi", dataset), 1)
		})
		dots := gaps.bars(dist, x, y, shown, loads)
		dots.Dots = true
		chart.Charts = append(chart.Charts, dots)
	}
	pairedTable(d, "steady", "Acceptance in steady state at ρ = 1 less that of MFI [points]", metric)
	pairedTable(d, "steady-slices", "The same, weighted by memory slices [points]", "acceptance_slices_steady")
	// The tables and the figure of schedulers beyond the paper are under the last one.
	whole := append(slices.Clone(readings), reading{name: "F literal, all feasible"})
	t := d.Table("steady-schemes",
		"MFI against the paper's baselines in steady state, by reading: acceptance less that of the nearest "+
			"baseline [points]",
		reports.Left("reading", "ρ").PlusMinus(distributions...),
		"paired differences, mean ± half of the 95 % confidence interval; the nearest baseline is the one that MFI "+
			"is least surely ahead of",
		"100 GPUs of 8 memory slices, lifespan U[1,2ρT], requests between demands of 2 and 5 capacities; seed 3, "+
			"which no scheduler was tuned on")
	underReadings(d, whole, func(m *measured) { m.whenFull(t) })
	d.Figure("steady", chart.Title, chart)
}

// whenFull measures what VII says about acceptance on clusters that are full, and adds it to a table.
func (m *measured) whenFull(t *figures.Table) {
	m.runs, m.paper = concludedRuns, 0
	for _, rho := range rhos {
		t.Row(m.name, rho, figures.Map(distributions, func(dist string) []string {
			at := func(scheme string) []float64 { return m.at(scheme, steadyData(dist, rho), "acceptance_steady") }
			cell := claim.Cell{
				Row: dist, Column: fmt.Sprintf("ρ=%g", rho),
				Quantity: "acceptance of MFI less that of the nearest baseline",
			}
			m.nearest(cell, 100, figures.Map(baselines, func(b string) pair { return pair{at("MFI"), at(b)} }))
			return figures.PlusMinus(m.values[cell], 2)
		}))
	}
}

// pairedTable compares schedulers with MFI on the same streams at ρ = 1.
func pairedTable(d *figures.Data, file, title, metric string) {
	t := d.Table(file, title,
		reports.Left("scheduler").PlusMinus(distributions...).Left("above MFI on"),
		"paired differences, mean ± half of the 95 % confidence interval; the last column lists the "+
			"distributions whose interval is above zero",
		steadyStream)
	of := func(id, dist string) []float64 { return d.Values(place(steadyData(dist, 1), id), steadyRuns, metric) }
	t.Row("mfi, acceptance [%]", figures.Map(distributions, func(dist string) []string {
		return figures.PlusMinus(meanOf(d, of("mfi", dist)).Affine(100, 0), 2)
	}), "")
	for _, id := range compared {
		var row, above []string
		for _, dist := range distributions {
			v := meanOf(d, differences(of(id, dist), of("mfi", dist), 100))
			row = append(row, figures.PlusMinus(v, 2)...)
			if v.Low > 0 {
				above = append(above, dist)
			}
		}
		t.Row(id, row, strings.Join(above, ", "))
	}
}

// moved goes beyond the paper, whose workloads stay on their GPU.
func moved(d *figures.Data) {
	t := d.Table("moves",
		"What moves gain: acceptance in steady state at ρ = 1 less that of MFI without moves [points]",
		reports.Left("scheduler", "moves allowed").PlusMinus(distributions...).PlusMinus("moves made on uniform"),
		"paired differences, mean ± half of the 95 % confidence interval",
		"moves are counted per GPU in the mean lifespan of a workload",
		"A move is a checkpoint and a restart: the workload holds its new slices, stands still for 2 slots and "+
			"leaves that much later",
		steadyStream)
	for id, moves := range figures.Each(movers, []string{"0.25", "1"}) {
		of := func(metric, dist string) []float64 {
			return d.Values(place(stream(dist, fmt.Sprintf("lifespan=steady&moves=%s&seed=%d", moves, testSeed)), id),
				movedRuns, metric)
		}
		gains := figures.Map(distributions, func(dist string) []string {
			still := d.Values(place(steadyData(dist, 1), "mfi"), movedRuns, "acceptance_steady")
			return figures.PlusMinus(meanOf(d, differences(of("acceptance_steady", dist), still, 100)), 2)
		})
		t.Row(id, moves, gains, figures.PlusMinus(meanOf(d, of("moves_gpu_window", "uniform")), 2))
	}
}
