package mfi

import (
	"fmt"
	"slices"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

const (
	// steadyRuns is the number of simulations behind what the paper does not have.
	steadyRuns = 300
	// testSeed is of streams that no scheduler was tuned on or chosen by.
	testSeed = 3
)

var (
	// rhos are offered loads as shares of the cluster's capacity.
	rhos = []float64{0.85, 1, 1.3}
	// shown are the schedulers of the figures, MFI first.
	shown = []string{"mfi", "bf-bi", "ff", "hami-binpack", "mfi-weighted?demand=true", "fgd?demand=true", "value-table"}
	// compared are those that the table sets beside MFI.
	compared = []string{
		"value-table", "fgd?demand=true", "fgd", "mfi-weighted?demand=true", "mfi-weighted", "hami-binpack", "hami-spread",
		"mfi?f=partial", "mfi?f=start-free", "bf-bi", "ff", "rr", "wf-bi",
	}
)

// steadyData is the stream of a distribution in steady state.
func steadyData(distribution string, rho float64) string {
	return stream(distribution, fmt.Sprintf("lifespan=steady&rho=%g&seed=%d", rho, testSeed))
}

// steady is ours: the paper's cluster never fills, so that policies hardly differ.
// Offered as much as it can hold, it does.
func steady() figures.Artefact {
	needs := func(s figures.Scale) (out []figures.Need) {
		for _, d := range distributions {
			for _, rho := range rhos {
				ids := shown
				if rho == 1 {
					ids = append(slices.Clone(compared), "mfi")
				}
				for _, id := range ids {
					out = append(out, figures.Need{Series: place(steadyData(d, rho), id), N: s.Replicates(steadyRuns)})
				}
			}
		}
		return out
	}
	return figures.Artefact{
		Name: "steady", Title: "acceptance in steady state, MFI and schedulers beyond the paper",
		Needs: needs,
		Build: func(d *figures.Data) (*figures.Output, error) {
			s, err := gather(d, needs(d.Scale), "acceptance_steady", "acceptance_slices_steady")
			if err != nil {
				return nil, err
			}
			acceptance := reports.Panels{Title: "Acceptance in steady state against the offered load"}
			difference := reports.Panels{Title: "Acceptance in steady state less that of MFI on the same requests"}
			x := reports.Axis{Label: "Offered load ρ [capacities]", Ticks: rhos}
			for _, dist := range distributions {
				at := func(i, rho int) run.Series { return place(steadyData(dist, rhos[rho]), shown[i]) }
				g, err := gridOf(s, quantity{metric: "acceptance_steady", scale: 100}, len(shown), len(rhos), at)
				if err != nil {
					return nil, err
				}
				acceptance.Charts = append(acceptance.Charts, g.lines(dist, x, reports.Axis{Label: "Acceptance [%]"}, shown, rhos))
				paired := make(grid, len(shown))
				for i := range shown {
					for j := range rhos {
						v, err := summarize(less(s.of(at(i, j), "acceptance_steady"), s.of(at(0, j), "acceptance_steady"), 100))
						if err != nil {
							return nil, err
						}
						paired[i] = append(paired[i], v)
					}
				}
				difference.Charts = append(difference.Charts, paired.lines(dist, x, reports.Axis{Label: "Difference [points]"}, shown, rhos))
			}
			count, err := pairedTable("Acceptance in steady state at ρ = 1 less that of MFI [points]", s, "acceptance_steady")
			if err != nil {
				return nil, err
			}
			slices, err := pairedTable("The same, weighted by memory slices [points]", s, "acceptance_slices_steady")
			if err != nil {
				return nil, err
			}
			return &figures.Output{
				Tables: []figures.Table{{File: "steady", Table: count}, {File: "steady-slices", Table: slices}},
				Figures: []figures.Figure{
					{File: "steady", Title: acceptance.Title, Figure: acceptance},
					{File: "steady-difference", Title: difference.Title, Figure: difference},
				},
			}, nil
		},
	}
}

// pairedTable sets schedulers beside MFI on the same streams at ρ = 1.
func pairedTable(title string, s samples, metric string) (reports.Table, error) {
	t := reports.Table{
		Title:   title,
		Columns: []reports.Column{{Name: "scheduler"}},
		Notes: []string{
			"paired differences, mean ± half of the 95 % confidence interval; * marks an interval above zero",
			fmt.Sprintf("%d GPUs of 8 memory slices, lifespan U[1,2T], requests between demands of 2 and 5 capacities; seed %d, which no scheduler was tuned on", gpus, testSeed),
		},
	}
	reference := []string{"mfi, acceptance [%]"}
	for _, d := range distributions {
		t.Columns = append(t.Columns, reports.Column{Name: d, Right: true})
		v, err := summarize(s.of(place(steadyData(d, 1), "mfi"), metric))
		if err != nil {
			return t, err
		}
		reference = append(reference, v.times(100).String())
	}
	t.Columns = append(t.Columns, reports.Column{Name: "above MFI on all"})
	t.Rows = append(t.Rows, append(reference, ""))
	for _, id := range compared {
		row := []string{id}
		everywhere := "yes"
		for _, d := range distributions {
			data := steadyData(d, 1)
			v, err := summarize(less(s.of(place(data, id), metric), s.of(place(data, "mfi"), metric), 100))
			if err != nil {
				return t, err
			}
			cell := fmt.Sprintf("%+.2f ± %.2f", v.mean, (v.high-v.low)/2)
			if v.low > 0 {
				cell += " *"
			} else {
				everywhere = "no"
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, append(row, everywhere))
	}
	return t, nil
}
