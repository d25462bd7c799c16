package far

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/run"
	figures "miglab/paper-figures"
)

// The measured Rodinia kernels in the order of their table, with HotSpot moved to
// the end, and in seeded random orders.
var (
	rodiniaData     = dataset("rodinia")
	rodiniaHotSpot  = dataset("rodinia?last=HotSpot")
	rodiniaShuffled = dataset("rodinia?order=shuffled")
)

const shuffles = 300

func rodinia(claims *figures.Claims) figures.Artefact {
	farSeries := batch(rodiniaData, "far", mig.Sequential)
	unrefined := batch(rodiniaData, "far?refine=false", mig.Sequential)
	hotSpotLast := batch(rodiniaHotSpot, "miso", mig.Free)
	shuffled := batch(rodiniaShuffled, "miso", mig.Free)
	return figures.Artefact{
		Name: "rodinia", Title: "rho and sigma of the 16 Rodinia kernels on A100 (6.4.1, 6.5.1)",
		Needs: func(s figures.Scale) []figures.Need {
			out := needRho(farSeries, 1)
			out = append(out,
				figures.Need{Series: unrefined, N: 1},
				figures.Need{Series: hotSpotLast, N: 1},
				figures.Need{Series: shuffled, N: s.Replicates(shuffles)})
			for _, a := range approaches {
				out = append(out, figures.Need{Series: batch(rodiniaData, a.algorithm, mig.Free), N: 1})
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			omega, err := one(d, farSeries, makespan)
			if err != nil {
				return nil, err
			}
			area, err := one(d, bound(rodiniaData, "area"), boundS)
			if err != nil {
				return nil, err
			}
			before, err := one(d, unrefined, makespan)
			if err != nil {
				return nil, err
			}
			byDefault := map[string]figures.Measurement{"rho FAR": figures.Exactly(omega / area)}
			withoutRefinement := map[string]figures.Measurement{"rho FAR": figures.Exactly(before / area)}
			for _, a := range approaches {
				m, err := one(d, batch(rodiniaData, a.algorithm, mig.Free), makespan)
				if err != nil {
					return nil, err
				}
				byDefault["sigma "+a.name] = figures.Exactly(m / omega)
				withoutRefinement["sigma "+a.name] = figures.Exactly(m / before)
			}
			last, err := one(d, hotSpotLast, makespan)
			if err != nil {
				return nil, err
			}
			orders, err := d.Values(shuffled, makespan)
			if err != nil {
				return nil, err
			}
			spread := fmt.Sprintf("over %d random orders of arrival it lies between %.2f and %.2f",
				len(orders), slices.Min(orders)/omega, slices.Max(orders)/omega)
			fs, err := d.Compare(claims.Of("rodinia"), []figures.Reading{
				figures.Lookup("", byDefault),
				figures.Lookup("unrefined FAR", withoutRefinement),
				figures.Lookup("HotSpot last in the order of arrival", map[string]figures.Measurement{"sigma MISO-OPT": figures.Exactly(last / omega)}),
			}, func(claim string) string {
				switch claim {
				case "sigma MISO-OPT":
					return "depends on the order of arrival, which the paper does not give: " + spread
				case "sigma FIXPART(7)":
					return "whatever the order, it is the sum of t(7) over FAR's makespan, and the published times do not give the printed value"
				}
				return "the published times do not give the printed value"
			})
			if err != nil {
				return nil, err
			}
			t := figures.ComparisonTable("Rodinia on A100", fs)
			t.Notes = append(t.Notes,
				fmt.Sprintf("FAR %.4f s, area bound %.4f s; MISO-OPT and FIXPART carry no reconfiguration time, FAR does", omega, area),
				"sigma MISO-OPT "+spread)
			return &figures.Output{Findings: fs, Tables: []figures.Table{{File: "rodinia", Table: t}}}, nil
		},
	}
}

// one returns the metric of a series with a single instance.
func one(d *figures.Data, s run.Series, metric string) (float64, error) {
	v, err := d.Values(s, metric)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}
