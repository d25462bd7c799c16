package mfi

import (
	"fmt"
	"slices"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

func figure5(claims *figures.Claims) figures.Artefact {
	data := atDemand(heavy)
	needs := func(s figures.Scale) (out []figures.Need) {
		for _, r := range readings {
			out = append(out, r.needs(s.Replicates(simulations), data...)...)
		}
		return out
	}
	return figures.Artefact{
		Name: "figure5", Title: "the schemes under four distributions of profiles, at a demand of 85 %",
		Needs: needs,
		Build: func(d *figures.Data) (*figures.Output, error) {
			s, err := gather(d, needs(d.Scale), metrics("utilisation_active")...)
			if err != nil {
				return nil, err
			}
			out := &figures.Output{}
			for _, r := range readings {
				chart := reports.Panels{Title: "Fig. 5. Four distributions at a demand of 85 %; " + r.title}
				t := tableOf("Figure 5, not normalized; "+r.title, "distribution", schemes)
				series := func(scheme, distribution int) run.Series { return r.series(schemes[scheme], data[distribution]) }
				for i, q := range quantities {
					g, err := gridOf(s, q, len(schemes), len(data), series)
					if err != nil {
						return nil, err
					}
					chart.Charts = append(chart.Charts, g.normalized().bars(
						fmt.Sprintf("(%c) %s", 'a'+i, q.title), reports.Axis{Label: "Distribution"}, reports.Axis{Label: "Share of the maximum"}, schemes, distributions))
					g.rows(&t, q.title+q.unit, distributions)
				}
				g, err := gridOf(s, bySlices, len(schemes), len(data), series)
				if err != nil {
					return nil, err
				}
				g.rows(&t, bySlices.title+bySlices.unit, distributions)
				out.Figures = append(out.Figures, figures.Figure{File: "figure5" + r.file, Title: chart.Title, Figure: chart})
				out.Tables = append(out.Tables, figures.Table{File: "figure5" + r.file, Table: t})
			}
			rs, err := underReadings(readings, func(r reading, m *measured) { r.byDistribution(s, m, "utilisation") })
			if err != nil {
				return nil, err
			}
			active := newMeasured()
			readings[0].byDistribution(s, active, "utilisation_active")
			rs = append(rs, figures.Lookup("utilization of the active GPUs", map[string]figures.Measurement{bigPacked: active.values[bigPacked]}))
			if out.Findings, err = d.Compare(claims.Of("figure5"), rs, distributionReason); err != nil {
				return nil, err
			}
			out.Tables = slices.Insert(out.Tables, 0, figures.Table{
				File: "figure5-claims", Table: wordsTable("What the text says of Figure 5", out.Findings),
			})
			return out, nil
		},
	}
}

const bigPacked = "utilization of the worse of FF and BF-BI less that of the better of RR and WF-BI, skew-big"

// gains returns by how many percent MFI has more of a metric than the baselines on
// average, by instance.
func (r reading) gains(s samples, dataset, metric string) []float64 {
	columns := [][]float64{s.of(r.series("MFI", dataset), metric)}
	for _, b := range baselines {
		columns = append(columns, s.of(r.series(b, dataset), metric))
	}
	return each(func(v []float64) float64 { return 100 * (v[0]/mean(v[1:]) - 1) }, columns...)
}

// byDistribution measures what the text says of Fig. 5; utilisation is the metric of
// panel (c).
func (r reading) byDistribution(s samples, m *measured, utilisation string) {
	at := func(scheme, distribution, metric string) []float64 {
		return s.of(r.series(scheme, demand(distribution, heavy)), metric)
	}
	var accepted []pair
	gap := map[string][]float64{}
	for _, d := range distributions {
		gap[d] = r.gains(s, demand(d, heavy), "accepted")
		for _, b := range baselines {
			accepted = append(accepted, pair{at("MFI", d, "accepted"), at(b, d, "accepted")})
		}
	}
	m.count("baselines, by distribution, that schedule fewer workloads than MFI", accepted)
	m.mean("gap to MFI on skew-small less the widest of the others", less(gap["skew-small"], highest(gap["uniform"], gap["skew-big"], gap["bimodal"]), 1))
	m.mean("gap to MFI on skew-big less the narrowest of the others", less(gap["skew-big"], lowest(gap["uniform"], gap["skew-small"], gap["bimodal"]), 1))

	accept := func(scheme string) []float64 { return at(scheme, "skew-small", "acceptance") }
	m.mean("acceptance of the better of FF and BF-BI less that of the worse of RR and WF-BI, skew-small",
		less(highest(accept("FF"), accept("BF-BI")), lowest(accept("RR"), accept("WF-BI")), 100))
	use := func(scheme string) []float64 { return at(scheme, "skew-big", utilisation) }
	m.mean(bigPacked, less(lowest(use("FF"), use("BF-BI")), highest(use("RR"), use("WF-BI")), 100))
	active := func(scheme string) []float64 { return at(scheme, "skew-big", "active_gpus") }
	m.mean("active GPUs of the larger of FF and BF-BI over those of the smaller of RR and WF-BI, skew-big",
		ratio(highest(active("FF"), active("BF-BI")), lowest(active("RR"), active("WF-BI"))))
}

func distributionReason(claim string) string {
	switch claim {
	case "baselines, by distribution, that schedule fewer workloads than MFI":
		return notFull + "; BF-BI equals MFI on every distribution"
	case "acceptance of the better of FF and BF-BI less that of the worse of RR and WF-BI, skew-small":
		return "the text has BF-BI among the worst here, which it is only if it is strict"
	case bigPacked:
		return "FF rejects so much that it uses less of the cluster; of the GPUs that it uses it does use more"
	}
	return "the measured order is the other one"
}
