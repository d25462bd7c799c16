package far

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

// The measured Rodinia kernels in the order of their table, with HotSpot moved to
// the end, and in seeded random orders.
var (
	rodiniaData     = figures.Dataset("rodinia")
	rodiniaHotSpot  = figures.Dataset("rodinia?last=HotSpot")
	rodiniaShuffled = figures.Dataset("rodinia?order=shuffled")
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
			out := append(needRho(farSeries, 1), figures.NeedFirst(1, unrefined, hotSpotLast)...)
			for _, a := range approaches {
				out = append(out, figures.NeedFirst(1, batch(rodiniaData, a.algorithm, mig.Free))...)
			}
			return append(out, figures.NeedFirst(s.Replicates(shuffles), shuffled)...)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			omega := d.First(farSeries, makespan)
			area := d.First(area(farSeries), track.MetricBound)
			before := d.First(unrefined, makespan)
			byDefault := figures.Values{"rho FAR": figures.Exactly(omega / area)}
			withoutRefinement := figures.Values{"rho FAR": figures.Exactly(before / area)}
			for _, a := range approaches {
				m := d.First(batch(rodiniaData, a.algorithm, mig.Free), makespan)
				byDefault["sigma "+a.name] = figures.Exactly(m / omega)
				withoutRefinement["sigma "+a.name] = figures.Exactly(m / before)
			}
			last := d.First(hotSpotLast, makespan)
			orders := d.Values(shuffled, makespan)
			spread := fmt.Sprintf("over %d random orders of arrival it lies between %.2f and %.2f",
				len(orders), slices.Min(orders)/omega, slices.Max(orders)/omega)
			fs := d.Compare(claims.Of("rodinia"), []figures.Reading{
				figures.Lookup("", byDefault),
				figures.Lookup("unrefined FAR", withoutRefinement),
				figures.Lookup("HotSpot last in the order of arrival", figures.Values{"sigma MISO-OPT": figures.Exactly(last / omega)}),
			}, func(claim string) string {
				switch claim {
				case "sigma MISO-OPT":
					return "depends on the order of arrival, which the paper does not give: " + spread
				case "sigma FIXPART(7)":
					return "whatever the order, it is the sum of t(7) over FAR's makespan, and the published times do not give the printed value"
				}
				return "the published times do not give the printed value"
			})
			t := figures.ComparisonTable("Rodinia on A100", fs)
			t.Notes = append(t.Notes,
				fmt.Sprintf("FAR %.4f s, area bound %.4f s; MISO-OPT and FIXPART carry no reconfiguration time, FAR does", omega, area),
				"sigma MISO-OPT "+spread)
			return figures.Found(fs...).Table("rodinia", t), nil
		},
	}
}
