package mfi

import (
	"fmt"
	"slices"

	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

const (
	// concludedRuns is the number of simulations in steady state under each reading.
	concludedRuns = 100
	// testSeed is the seed of streams on which no scheduler was tuned or chosen.
	testSeed = 3
)

// rhos are offered loads as shares of the cluster's capacity.
var rhos = []float64{0.85, 1, 1.3}

// steady compares the paper's schemes at a load of about the capacity. The paper's cluster never fills, so that
// policies hardly differ.
func steady(d *figures.Data) {
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
}

// whenFull measures what VII says about acceptance on clusters that are full, and adds it to a table.
func (m *measured) whenFull(t *figures.Table) {
	m.runs, m.paper = concludedRuns, 0
	for _, rho := range rhos {
		t.Row(m.name, rho, figures.Map(distributions, func(dist string) []string {
			data := stream(dist, fmt.Sprintf("lifespan=steady&rho=%g&seed=%d", rho, testSeed))
			at := func(scheme string) []float64 { return m.at(scheme, data, "acceptance_steady") }
			cell := claim.Cell{
				Row: dist, Column: fmt.Sprintf("ρ=%g", rho),
				Quantity: "acceptance of MFI less that of the nearest baseline",
			}
			m.nearest(cell, 100, figures.Map(baselines, func(b string) pair { return pair{at("MFI"), at(b)} }))
			return figures.PlusMinus(m.values[cell], 2)
		}))
	}
}
