package mfi

import (
	"cmp"
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
	// The literal reading of Algorithm 1 is the default; MFI then goes by the same F as
	// the figure shows.
	scores := []reading{
		{name: "F partial", title: readings[0].title + "; F partial", strict: readings[0].strict, f: "partial"},
		{name: "F start-free", title: readings[0].title + "; F start-free", strict: readings[0].strict, f: "start-free"},
	}
	all := slices.Concat(readings, scores)
	needs := func(s figures.Scale) (out []figures.Need) {
		for _, r := range all {
			out = append(out, r.needs(s.Replicates(simulations), data...)...)
		}
		return out
	}
	return figures.Artefact{
		Name: "figure6", Title: "average fragmentation score by scheme and distribution, at a demand of 85 %",
		Needs: needs,
		Build: func(d *figures.Data) (*figures.Output, error) {
			s, err := gather(d, needs(d.Scale), "acceptance", "utilisation", "fragmentation", "mean_fragmentation", "fragmentation_partial", "fragmentation_start-free")
			if err != nil {
				return nil, err
			}
			chart := reports.Panels{Title: "Fig. 6. Average fragmentation score at a demand of 85 %"}
			t := tableOf("Figure 6", "distribution", schemes)
			for i, r := range []reading{all[0], all[2], all[1], all[3]} {
				g, err := gridOf(s, quantity{metric: r.severity(), scale: 1}, len(schemes), len(data), func(scheme, distribution int) run.Series {
					return r.series(schemes[scheme], data[distribution])
				})
				if err != nil {
					return nil, err
				}
				chart.Charts = append(chart.Charts, g.bars(
					fmt.Sprintf("(%c) %s", 'a'+i, r.title), reports.Axis{Label: "Distribution"}, reports.Axis{Label: "Mean F of a GPU"}, schemes, distributions))
				g.rows(&t, "Mean F, "+r.title, distributions)
			}
			rs, err := underReadings(all, func(r reading, m *measured) { r.bySeverity(s, m, r.severity()) })
			if err != nil {
				return nil, err
			}
			slots := newMeasured()
			readings[0].bySeverity(s, slots, "mean_fragmentation")
			if slots.err != nil {
				return nil, slots.err
			}
			rs = append(rs, figures.Lookup("F as a mean over the slots", slots.values))
			fs, err := d.Compare(claims.Of("figure6"), rs, figures.Always(
				"who rejects more has emptier GPUs, of which F counts less: strict FF has the lowest acceptance and one of the lowest F"))
			if err != nil {
				return nil, err
			}
			return &figures.Output{
				Findings: fs,
				Tables: []figures.Table{
					{File: "figure6-claims", Table: wordsTable("What the text says of Figure 6", fs)},
					{File: "figure6", Table: t},
				},
				Figures: []figures.Figure{{File: "figure6", Title: chart.Title, Figure: chart}},
			}, nil
		},
	}
}

// bySeverity measures what the text says of Fig. 6; fragmentation is the metric of F.
func (r reading) bySeverity(s samples, m *measured, fragmentation string) {
	var higher []pair
	var agreeing, using, pairs int
	for _, dataset := range atDemand(heavy) {
		at := func(scheme, metric string) []float64 { return s.of(r.series(scheme, dataset), metric) }
		for _, b := range baselines {
			higher = append(higher, pair{at(b, fragmentation), at("MFI", fragmentation)})
		}
		for i, a := range schemes {
			for _, b := range schemes[:i] {
				order := func(metric string) int { return cmp.Compare(mean(at(a, metric)), mean(at(b, metric))) }
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
