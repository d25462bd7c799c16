package mfi

import (
	figures "miglab/paper-figures"
	"miglab/reports"
)

func figure5(d *figures.Data) (*figures.Output, error) {
	data := atDemand(heavy)
	rs := underReadings(d, func(r reading, m *measured) { r.byDistribution(m, "utilisation") })
	active := newMeasured(d)
	readings[0].byDistribution(active, "utilisation_active")
	rs = append(rs, figures.Reading{
		Name: "utilization of the active GPUs", Basis: "panel (c) taken as the utilization of the GPUs in use alone", Part: true,
		Values: figures.Values{bigPacked: active.values[bigPacked]},
	})
	out := figures.Read(rs...)
	for _, r := range inFigures() {
		r.panels(d, out, "figure5", tableOf("Figure 5, not normalized; "+r.title, "distribution", schemes),
			"Fig. 5. Four distributions at a demand of 85 %; "+r.title, data, distributions,
			func(title string, g grid) reports.Chart {
				return g.bars(title, reports.Axis{Label: "Distribution"}, reports.Axis{Label: "Share of the maximum"}, schemes, distributions)
			})
	}
	return out, nil
}

const bigPacked = "utilization of the worse of FF and BF-BI less that of the better of RR and WF-BI, skew-big"

// gains returns, by instance, by how many percent a metric of MFI exceeds the mean of the
// baselines. of returns the metric of a scheme.
func gains(of func(scheme string) []float64) []float64 {
	columns := [][]float64{of("MFI")}
	for _, b := range baselines {
		columns = append(columns, of(b))
	}
	return each(func(v []float64) float64 { return 100 * (v[0]/figures.Mean(v[1:]) - 1) }, columns...)
}

// gains returns the gains in a metric on a stream.
func (r reading) gains(d *figures.Data, dataset, metric string) []float64 {
	return gains(func(scheme string) []float64 { return r.values(d, scheme, dataset, metric) })
}

// byDistribution measures what the text says about Fig. 5. utilisation is the metric of
// panel (c).
func (r reading) byDistribution(m *measured, utilisation string) {
	at := func(scheme, distribution, metric string) []float64 {
		return r.values(m.d, scheme, demand(distribution, heavy), metric)
	}
	var accepted []pair
	gap := map[string][]float64{}
	for _, d := range distributions {
		gap[d] = r.gains(m.d, demand(d, heavy), "accepted")
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
		figures.Ratios(highest(active("FF"), active("BF-BI")), lowest(active("RR"), active("WF-BI"))))
}
