package mfi

import (
	"fmt"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// demands are those of Fig. 4 in percent; the last is full load.
var demands = []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}

func figure4(d *figures.Data) (*figures.Output, error) {
	var data []string
	for _, d := range demands {
		data = append(data, demand("uniform", d))
	}
	out := figures.Read(underReadings(d, func(r reading, m *measured) { r.underLoad(m, data) })...)
	numbers, words := percents(demands)
	x := reports.Axis{Label: "GPU demand [% of capacity]", Ticks: []float64{20, 40, 60, 80, 100}}
	for _, r := range inFigures() {
		r.panels(d, out, "figure4", tableOf("Figure 4, not normalized; "+r.title, "demand", schemes),
			"Fig. 4. Load up to 100 %, uniform profiles; "+r.title, data, words,
			func(title string, g grid) reports.Chart {
				return g.lines(title, x, reports.Axis{Label: "Share of the maximum"}, schemes, numbers)
			})
	}
	return out, nil
}

// underLoad measures what the text says about Fig. 4, on streams of ascending load.
func (r reading) underLoad(m *measured, data []string) {
	low, full := data[0], data[len(data)-1]
	at := func(scheme, dataset, metric string) []float64 { return r.values(m.d, scheme, dataset, metric) }

	var acceptance [][]float64
	for _, d := range data {
		acceptance = append(acceptance, at("MFI", d, "acceptance"))
	}
	m.mean("acceptance of MFI, least over the loads", each(func(v []float64) float64 { return 100 * v[0] }, lowest(acceptance...)))
	var accepted, used []pair
	for _, b := range baselines {
		accepted = append(accepted, pair{at("MFI", full, "accepted"), at(b, full, "accepted")})
		used = append(used, pair{at("MFI", full, "utilisation"), at(b, full, "utilisation")})
		m.mean(fmt.Sprintf("active GPUs of %s over those of MFI, 100 %% demand", b), figures.Ratios(at(b, full, "active_gpus"), at("MFI", full, "active_gpus")))
	}
	m.count("baselines that schedule fewer workloads than MFI, 100 % demand", accepted)
	m.count("baselines that use the cluster less than MFI, 100 % demand", used)

	accept := func(scheme, dataset string) []float64 { return at(scheme, dataset, "acceptance") }
	m.mean("acceptance of RR less that of FF, 10 % demand", less(accept("RR", low), accept("FF", low), 100))
	m.mean("acceptance of FF less that of RR, 100 % demand", less(accept("FF", full), accept("RR", full), 100))
	m.mean("acceptance of BF-BI less that of FF, 100 % demand", less(accept("BF-BI", full), accept("FF", full), 100))
	m.mean("acceptance of WF-BI less that of RR, 100 % demand", less(accept("WF-BI", full), accept("RR", full), 100))
	m.mean("acceptance of the better of FF and RR less that of the worse of BF-BI and WF-BI, 100 % demand",
		less(highest(accept("FF", full), accept("RR", full)), lowest(accept("BF-BI", full), accept("WF-BI", full)), 100))
	for _, b := range []string{"RR", "WF-BI"} {
		m.mean(fmt.Sprintf("active share of the GPUs under %s, 100 %% demand", b),
			each(func(v []float64) float64 { return 100 * v[0] / gpus }, at(b, full, "active_gpus")))
	}
}
