package mfi

import (
	"fmt"
	"slices"

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

func figure6(claims *figures.Claims) figures.Artefact {
	data := atDemand(heavy)
	// The literal reading of Algorithm 1 is the default. MFI uses the F that the figure
	// shows.
	scores := []reading{
		{name: "F partial", title: readings[0].title + "; F partial", strict: readings[0].strict, f: "partial"},
		{name: "F start-free", title: readings[0].title + "; F start-free", strict: readings[0].strict, f: "start-free"},
	}
	all := slices.Concat(readings, scores)
	return figures.Artefact{
		Name: "figure6", Title: "average fragmentation score by scheme and distribution, at a demand of 85 %",
		Needs: needSchemes(all, data),
		Build: func(d *figures.Data) (*figures.Output, error) {
			chart := reports.Panels{Title: "Fig. 6. Average fragmentation score at a demand of 85 %"}
			t := tableOf("Figure 6", "distribution", schemes)
			for i, r := range []reading{all[0], all[2], all[1], all[3]} {
				g := gridOf(d, quantity{metric: r.severity(), scale: 1}, len(schemes), len(data), func(scheme, distribution int) run.Series {
					return r.series(schemes[scheme], data[distribution])
				})
				chart.Charts = append(chart.Charts, g.bars(
					fmt.Sprintf("(%c) %s", 'a'+i, r.title), reports.Axis{Label: "Distribution"}, reports.Axis{Label: "Mean F of a GPU"}, schemes, distributions))
				g.rows(&t, "Mean F, "+r.title, distributions)
			}
			rs := underReadings(d, all, func(r reading, m *measured) { r.bySeverity(m, r.severity()) })
			slots := newMeasured(d)
			readings[0].bySeverity(slots, "mean_fragmentation")
			rs = append(rs, figures.Lookup("F as a mean over the slots", slots.values))
			fs := d.Compare(claims.Of("figure6"), rs, figures.Always(
				"who rejects more has emptier GPUs, of which F counts less: strict FF has the lowest acceptance and one of the lowest F"))
			return figures.Found(fs...).
				Table("figure6-claims", wordsTable("What the text says of Figure 6", fs)).
				Table("figure6", t).
				Figure("figure6", chart.Title, chart), nil
		},
	}
}

// bySeverity measures what the text says about Fig. 6. fragmentation is the metric of F.
func (r reading) bySeverity(m *measured, fragmentation string) {
	var higher []pair
	var agreeing, using, pairs int
	for _, dataset := range atDemand(heavy) {
		at := func(scheme, metric string) []float64 { return m.d.Values(r.series(scheme, dataset), metric) }
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
