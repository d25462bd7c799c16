package far

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

// factors checks the approximation factors of section 5 on small batches: phase 2 without
// reconfiguration time against the proven optimum. The competitive ratios hold for chains of
// batches.
func factors(d *figures.Data) (*figures.Output, error) {
	const instances = 200 // a workload
	worst := figures.Values{}
	for i, c := range []struct {
		what, gpu string
		count, n  int
	}{{"one A30", "A30", 1, 5}, {"two A30", "A30", 2, 5}, {"three A30", "A30", 3, 6}, {"A100", "A100", 1, 5}, {"H100", "H100", 1, 5}} {
		most := 0.0
		for _, w := range workloads {
			data := synthetic(w, c.n, fmt.Sprintf("seed=%d", i+1)) // A100 and H100 would have the same batches
			phase2 := on(c.gpu, c.count, batch(data, "far?refine=false", mig.Free))
			optimum := on(c.gpu, c.count, bound(data, "optimum-free", mig.Free))
			r := figures.Ratios(d.Values(phase2, instances, makespan), d.Values(optimum, instances, track.MetricBound))
			most = max(most, slices.Max(r))
		}
		worst["makespan over optimum, "+c.what] = figures.Exactly(most)
	}
	for _, gpu := range []string{"A30", "A100", "H100"} {
		most := 0.0
		for w, n := range figures.Each(wide, allSizes) {
			most = max(most, rho(d, on(gpu, 1, chain(d, w, n)), 1)[0])
		}
		worst["multi-batch makespan over optimum, "+gpu] = figures.Exactly(most)
	}
	return figures.Read(figures.Reading{Values: worst}), nil
}
