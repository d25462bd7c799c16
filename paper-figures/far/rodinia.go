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

func rodinia() figures.Artefact {
	return figures.Artefact{
		Name: "rodinia", Title: "rho and sigma of the 16 Rodinia kernels on A100 (6.4.1, 6.5.1)",
		Build: func(d *figures.Data) (*figures.Output, error) {
			// Both sides have the very same kernels, so that the numbers are exact.
			refined := batch(rodiniaData, "far", mig.Sequential)
			area := d.First(area(refined), track.MetricBound)
			span := func(data, algorithm string) float64 { return d.First(batch(data, algorithm, mig.Free), makespan) }
			over := func(far float64) figures.Values {
				values := figures.Values{"rho FAR": figures.Exactly(far / area)}
				for _, a := range approaches {
					values["sigma "+a.name] = figures.Exactly(span(rodiniaData, a.algorithm) / far)
				}
				return values
			}
			omega := d.First(refined, makespan)
			orders := d.Values(batch(rodiniaShuffled, "miso", mig.Free), shuffles, makespan)
			values := over(omega)
			miso := values["sigma MISO-OPT"]
			miso.Detail = fmt.Sprintf("Over %d random orders it lies between %.2f and %.2f.", len(orders), slices.Min(orders)/omega, slices.Max(orders)/omega)
			values["sigma MISO-OPT"] = miso
			return figures.Read(
				figures.Reading{Basis: "the times that the authors published, in their order; only FAR pays for reconfigurations (6.5.1)", Values: values},
				figures.Reading{Name: "FAR unrefined", Basis: "as the script of Table 5", Values: over(d.First(batch(rodiniaData, "far?refine=false", mig.Sequential), makespan))},
				figures.Reading{
					Name: "HotSpot last", Basis: "another order of arrival, because the paper gives none", Part: true,
					Values: figures.Values{"sigma MISO-OPT": figures.Exactly(span(rodiniaHotSpot, "miso") / omega)},
				},
			), nil
		},
	}
}
