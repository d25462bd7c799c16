package mfi

import (
	"fmt"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// severity is the metric of F under a reading of Algorithm 1.
func (r reading) severity() string {
	if r.f == "" {
		return "fragmentation"
	}
	return "fragmentation_" + r.f
}

func figure6(d *figures.Data) (*figures.Output, error) {
	data := atDemand(heavy)
	chart := reports.Panels{Title: "Fig. 6. Average fragmentation score at a demand of 85 %"}
	t := tableOf("Figure 6", "distribution", schemes)
	for i, r := range inFigures() {
		g := gridOf(d, quantity{metric: r.severity(), scale: 1}, simulations, len(schemes), len(data), func(scheme, distribution int) run.Series {
			return r.series(schemes[scheme], data[distribution])
		})
		chart.Charts = append(chart.Charts, g.bars(
			fmt.Sprintf("(%c) %s", 'a'+i, r.title), reports.Axis{Label: "Distribution"}, reports.Axis{Label: "Mean F of a GPU"}, schemes, distributions))
		g.rows(&t, "Mean F, "+r.title, distributions)
	}
	rs := underReadings(d, func(r reading, m *measured) { r.bySeverity(m, r.severity()) })
	slots := newMeasured(d)
	readings[0].bySeverity(slots, "mean_fragmentation")
	rs = append(rs, figures.Reading{Name: "F as a mean over the slots", Basis: "the score averaged over time, not at the end; F literal", Values: slots.values})
	return figures.Read(rs...).Table("figure6", t).Figure("figure6", chart.Title, chart), nil
}

// bySeverity measures what the text says about Fig. 6. fragmentation is the metric of F.
func (r reading) bySeverity(m *measured, fragmentation string) {
	var higher []pair
	var agreeing, using, pairs int
	for _, dataset := range atDemand(heavy) {
		at := func(scheme, metric string) []float64 { return r.values(m.d, scheme, dataset, metric) }
		for _, b := range baselines {
			higher = append(higher, pair{at(b, fragmentation), at("MFI", fragmentation)})
		}
		for i, a := range schemes {
			for _, b := range schemes[:i] {
				order := func(metric string) int { return compareMeans(at(a, metric), at(b, metric)) }
				pairs++
				if order("acceptance")*order(fragmentation) < 0 {
					agreeing++
				}
				if order("utilisation")*order(fragmentation) < 0 {
					using++
				}
			}
		}
	}
	m.count("baselines, by distribution, with a higher score than MFI", higher)
	m.values["pairs of schemes of which the lower score has the higher acceptance"] = figures.Exactly(100 * float64(agreeing) / float64(pairs))
	m.values["pairs of schemes of which the lower score has the higher utilization"] = figures.Exactly(100 * float64(using) / float64(pairs))
}
