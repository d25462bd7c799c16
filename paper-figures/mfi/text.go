package mfi

import figures "miglab/paper-figures"

// text judges the two numbers of the abstract, which are means over the four distributions.
func text(d *figures.Data) (*figures.Output, error) {
	usual, full := atDemand(heavy), atDemand(100)
	var expected []string
	for _, dist := range distributions {
		expected = append(expected, stream(dist, "T=expected"))
	}
	measure := func(r reading, m *measured, data []string, workloads string) {
		var more, gpus [][]float64
		for _, dataset := range data {
			more = append(more, r.gains(d, dataset, workloads))
			gpus = append(gpus, r.gains(d, dataset, "active_gpus"))
		}
		m.mean("more workloads than the baselines on average", each(figures.Mean, more...))
		m.mean("active GPUs over those of the baselines", each(func(v []float64) float64 { return 1 + figures.Mean(v)/100 }, gpus...))
	}
	rs := underReadings(d, func(r reading, m *measured) { measure(r, m, usual, "accepted") })
	for _, x := range []struct {
		name, basis string
		data        []string
		workloads   string
	}{
		{"100 % demand", "the abstract says heavy load, Fig. 4 ends at a demand of 100 %", full, "accepted"},
		{"T as expected", "T from the expected demand of a request instead of the one drawn", expected, "accepted"},
		{"running workloads", "workloads that run at the end, not all that were accepted", usual, "running"},
	} {
		m := newMeasured(d)
		measure(readings[0], m, x.data, x.workloads)
		rs = append(rs, figures.Reading{Name: x.name, Basis: x.basis, Values: m.values})
	}
	return figures.Read(rs...), nil
}
