package mfi

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// demands are the loads of Fig. 4 in percent; the last is full load.
var demands = []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}

func figure4(d *figures.Data) {
	streams := figures.Map(demands, func(percent int) string { return demand("uniform", percent) })
	underReadings(d, readings, func(m *measured) { m.underLoad(streams) })
	numbers, words := percents(demands)
	x := reports.Axis{Label: "GPU demand [% of capacity]", Ticks: []float64{20, 40, 60, 80, 100}}
	panels(d, 4, "Load up to 100 %, uniform profiles", "demand", streams, words,
		func(q quantity, g grid) []reports.Chart {
			return []reports.Chart{
				g.lines(q.title, x, reports.Axis{Label: "Share of the maximum"}, schemes, numbers),
				readings[0].gaps(d, q, streams).lines(q.title+", difference to MFI", x,
					reports.Axis{Label: "Difference [" + q.step + "]"},
					baselines, numbers),
			}
		})
}

// underLoad measures what the text says about Fig. 4, on streams of ascending load.
func (m *measured) underLoad(streams []string) {
	low, full := streams[0], streams[len(streams)-1]
	acceptance := figures.Map(streams, func(dataset string) []float64 { return m.at("MFI", dataset, "acceptance") })
	percent := func(v []float64) float64 { return 100 * v[0] }
	m.mean(claim.Of("acceptance of MFI, least over the loads"), eachInstance(percent, lowest(acceptance...)))
	var accepted, used []pair
	for _, b := range baselines {
		accepted = append(accepted, pair{m.at("MFI", full, "accepted"), m.at(b, full, "accepted")})
		used = append(used, pair{m.at("MFI", full, "utilisation"), m.at(b, full, "utilisation")})
		m.mean(claim.Of(fmt.Sprintf("active GPUs of %s over those of MFI, 100 %% demand", b)),
			figures.Ratios(m.at(b, full, "active_gpus"), m.at("MFI", full, "active_gpus")))
	}
	m.nearest(claim.Of("workloads of MFI less those of the nearest baseline, 100 % demand"), 1, accepted)
	m.nearest(claim.Of("utilization of MFI less that of the nearest baseline, 100 % demand"), 100, used)

	accept := func(scheme, dataset string) []float64 { return m.at(scheme, dataset, "acceptance") }
	m.mean(claim.Of("acceptance of RR less that of FF, 10 % demand"),
		differences(accept("RR", low), accept("FF", low), 100))
	ff, rr, best, worst := accept("FF", full), accept("RR", full), accept("BF-BI", full), accept("WF-BI", full)
	m.mean(claim.Of("acceptance of FF less that of RR, 100 % demand"), differences(ff, rr, 100))
	m.mean(claim.Of("acceptance of BF-BI less that of FF, 100 % demand"), differences(best, ff, 100))
	m.mean(claim.Of("acceptance of WF-BI less that of RR, 100 % demand"), differences(worst, rr, 100))
	m.mean(claim.Of("acceptance of the better of FF and RR less that of the worse of BF-BI and WF-BI, 100 % demand"),
		differences(highest(ff, rr), lowest(best, worst), 100))
	for _, b := range []string{"RR", "WF-BI"} {
		m.mean(claim.Of(fmt.Sprintf("active share of the GPUs under %s, 100 %% demand", b)),
			eachInstance(func(v []float64) float64 { return 100 * v[0] / gpus }, m.at(b, full, "active_gpus")))
	}
}

var distributionAxis = reports.Axis{Label: "Distribution"}

func figure5(d *figures.Data) {
	underReadings(d, readings, func(m *measured) { m.byDistribution() })
	underDescriptions(d, "utilization of the active GPUs", func(m *measured) { m.onSkewBig("utilisation_active") })
	panels(d, 5, "Four distributions at a demand of 85 %", "distribution", atDemand(heavy), distributions,
		func(q quantity, g grid) []reports.Chart {
			return []reports.Chart{g.bars(q.title, distributionAxis,
				reports.Axis{Label: "Share of the maximum"}, schemes,
				distributions)}
		})
}

// byDistribution measures what the text says about Fig. 5.
func (m *measured) byDistribution() {
	at := func(scheme, distribution, metric string) []float64 {
		return m.at(scheme, demand(distribution, heavy), metric)
	}
	var accepted []pair
	gap := map[string][]float64{}
	for _, d := range distributions {
		gap[d] = m.gains(demand(d, heavy), "accepted")
		for _, b := range baselines {
			accepted = append(accepted, pair{at("MFI", d, "accepted"), at(b, d, "accepted")})
		}
	}
	m.nearest(claim.Of("workloads of MFI less those of the nearest baseline, nearest distribution"), 1, accepted)
	m.mean(claim.Of("gap to MFI on skew-small less the widest of the others"),
		differences(gap["skew-small"], highest(gap["uniform"], gap["skew-big"], gap["bimodal"]), 1))
	m.mean(claim.Of("gap to MFI on skew-big less the narrowest of the others"),
		differences(gap["skew-big"], lowest(gap["uniform"], gap["skew-small"], gap["bimodal"]), 1))

	accept := func(scheme string) []float64 { return at(scheme, "skew-small", "acceptance") }
	m.mean(claim.Of("acceptance of the better of FF and BF-BI less that of the worse of RR and WF-BI, skew-small"),
		differences(highest(accept("FF"), accept("BF-BI")), lowest(accept("RR"), accept("WF-BI")), 100))
	m.onSkewBig("utilisation")
}

// onSkewBig measures what the text says about skew-big. utilisation is the metric of panel (c).
func (m *measured) onSkewBig(utilisation string) {
	at := func(scheme, metric string) []float64 { return m.at(scheme, demand("skew-big", heavy), metric) }
	used := func(scheme string) []float64 { return at(scheme, utilisation) }
	m.mean(claim.Of("utilization of the worse of FF and BF-BI less that of the better of RR and WF-BI, skew-big"),
		differences(lowest(used("FF"), used("BF-BI")), highest(used("RR"), used("WF-BI")), 100))
	active := func(scheme string) []float64 { return at(scheme, "active_gpus") }
	m.mean(claim.Of("active GPUs of the larger of FF and BF-BI over those of the smaller of RR and WF-BI, skew-big"),
		figures.Ratios(highest(active("FF"), active("BF-BI")), lowest(active("RR"), active("WF-BI"))))
}

// severity returns the name of the metric that is F under a reading of Algorithm 1.
func (r reading) severity() string {
	if r.f == "" {
		return "fragmentation"
	}
	return "fragmentation_" + r.f
}

func figure6(d *figures.Data) {
	t := d.Table("figure6", "Figure 6", reports.Left("quantity", "distribution").PlusMinus(schemes...), halfWidth)
	g := readings[0].grid(d, quantity{metric: readings[0].severity(), scale: 1}, atDemand(heavy))
	g.rows(t, "Mean F, "+inFigures, distributions, 3)
	const least = 0.001 // a logarithm needs more than 0
	for _, row := range g {
		for j := range row {
			row[j].Value, row[j].Low, row[j].High = max(row[j].Value, least), max(row[j].Low, least),
				max(row[j].High, least)
		}
	}
	dots := g.bars("Fig. 6. Average fragmentation score at a demand of 85 %", distributionAxis,
		reports.Axis{Label: "Mean F", Log: true}, schemes, distributions)
	dots.Dots = true
	atEnd := func(m *measured) { m.bySeverity(func(of metrics) []float64 { return of(m.severity()) }) }
	overTime := func(m *measured) { m.bySeverity(func(of metrics) []float64 { return of("mean_fragmentation") }) }
	inUse := func(m *measured) {
		m.bySeverity(func(of metrics) []float64 { // an empty GPU has no F
			perGPU := figures.Ratios(of(m.severity()), of("active_gpus"))
			floats.Scale(gpus, perGPU)
			return perGPU
		})
	}
	underReadings(d, readings, atEnd)
	underDescriptions(d, "F as a mean over the slots", overTime)
	underDescriptions(d, "F of the GPUs in use", inUse)
	d.Figure("figure6", dots.Title, dots)
}

// metrics returns a metric of one scheme on one stream, by its name.
type metrics func(metric string) []float64

// bySeverity measures what the text says about Fig. 6: of MFI beside the baselines, and of pairs of "the other
// baselines". score computes F from the metrics.
func (m *measured) bySeverity(score func(metrics) []float64) {
	var higher []pair
	var pairs int
	var lowerAccepts, lowerUses int // pairs in which the baseline of the lower score has the higher metric
	var acceptance, utilisation clearPairs
	for _, dataset := range atDemand(heavy) {
		at := func(scheme, metric string) []float64 { return m.at(scheme, dataset, metric) }
		fragmentation := func(scheme string) []float64 {
			return score(func(metric string) []float64 { return at(scheme, metric) })
		}
		for _, b := range baselines {
			higher = append(higher, pair{fragmentation(b), fragmentation("MFI")})
		}
		for i, a := range baselines {
			for _, b := range baselines[:i] {
				order := func(metric string) int { return compareMeans(at(a, metric), at(b, metric)) }
				pairs++
				byF := compareMeans(fragmentation(a), fragmentation(b))
				f := m.sign(pair{fragmentation(a), fragmentation(b)})
				acceptance.count(f, m.sign(pair{at(a, "acceptance"), at(b, "acceptance")}))
				utilisation.count(f, m.sign(pair{at(a, "utilisation"), at(b, "utilisation")}))
				if order("acceptance")*byF < 0 {
					lowerAccepts++
				}
				if order("utilisation")*byF < 0 {
					lowerUses++
				}
			}
		}
	}
	const sure = "share of the clear pairs of baselines in which the lower score goes with the higher "
	m.values[claim.Of(sure+"acceptance")] = acceptance.share()
	m.values[claim.Of(sure+"utilization")] = utilisation.share()
	m.nearest(claim.Of("score of the nearest baseline less that of MFI, nearest distribution"), 1, higher)
	const pairing = "pairs of baselines of which the lower score has the higher "
	m.values[claim.Of(pairing+"acceptance")] = figures.Exactly(100 * float64(lowerAccepts) / float64(pairs))
	m.values[claim.Of(pairing+"utilization")] = figures.Exactly(100 * float64(lowerUses) / float64(pairs))
}

// clearPairs counts pairs of baselines that surely differ in a metric: those that the score surely orders the other
// way, those that it does not surely order, and those that it surely orders the same way.
type clearPairs [3]int

// count adds a pair by the signs of its differences in the score and in the metric, see [measured.sign].
func (c *clearPairs) count(score, metric int) {
	if metric != 0 {
		c[1+score*metric]++
	}
}

// share returns the share of the inverse pairs in percent. The open ones count as either in its interval.
func (c *clearPairs) share() figures.Measurement {
	percent := func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	inverse, open, sure := c[0], c[1], c[0]+c[2]
	return figures.Measurement{
		Value: percent(inverse, sure), Low: percent(inverse, sure+open), High: percent(inverse+open, sure+open),
	}
}

// text judges what the abstract says, by means over the four distributions.
func text(d *figures.Data) {
	abstract := func(streams []string, workloads string) func(*measured) {
		return func(m *measured) {
			gains := func(metric string) [][]float64 {
				return figures.Map(streams, func(dataset string) []float64 { return m.gains(dataset, metric) })
			}
			m.mean(claim.Of("more workloads than the baselines on average"),
				eachInstance(figures.Mean, gains(workloads)...))
			ratio := func(v []float64) float64 { return 1 + figures.Mean(v)/100 }
			m.mean(claim.Of("active GPUs over those of the baselines"), eachInstance(ratio, gains("active_gpus")...))
			for _, b := range baselines {
				of := figures.Map(streams, func(dataset string) []float64 {
					return figures.Ratios(m.at("MFI", dataset, "active_gpus"), m.at(b, dataset, "active_gpus"))
				})
				m.mean(claim.Of("active GPUs of MFI over those of "+b), eachInstance(figures.Mean, of...))
			}
		}
	}
	usual := atDemand(heavy)
	expected := figures.Map(distributions, func(distribution string) string {
		return stream(distribution, "T=expected")
	})
	underReadings(d, readings, abstract(usual, "accepted"))
	underDescriptions(d, "100 % demand", abstract(atDemand(100), "accepted"))
	underDescriptions(d, "T as expected", abstract(expected, "accepted"))
	underDescriptions(d, "running workloads", abstract(usual, "running"))
}
