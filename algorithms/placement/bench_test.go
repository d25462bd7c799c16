package placement

import (
	"fmt"
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// BenchmarkDecisions measures one decision with its share of departures and of the
// engine's books, in steady state at an offered load of 1. The cluster is filled on
// the way: 5 capacities are requested. For the larger cluster it says how many times what a decision
// costs in the smaller one. In processor time that was 1.4 to 2.0 for mfi and 1.0 to 1.5 for the
// value table; fgd, which fills its tables on the first stream, costs less than half. What remains
// is memory: 11 million requests are read once, and a megabyte of masks in no order.
func BenchmarkDecisions(b *testing.B) {
	g := mig.MustLookup("A100-80GB")
	small := map[string]float64{}
	for _, gpus := range []int{100, 1_000_000} {
		in, err := datasets.InstanceOf[task.Requests](datasets.MustParse(fmt.Sprintf("mfi/uniform?lifespan=steady&gpus=%d", gpus)), g, 0)
		if err != nil {
			b.Fatal(err)
		}
		for _, id := range []string{"mfi", "ff", "rr", "fgd", "value-table"} {
			b.Run(fmt.Sprintf("%s/gpus=%d", id, gpus), func(b *testing.B) {
				a := algo.MustParse(id)
				b.ReportAllocs()
				for b.Loop() {
					p, err := a.Placer(sim.PlacementSetting{GPU: g, GPUs: gpus})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := sim.RunPlacement(g, gpus, in.Requests, p, sim.SteadyWindow, task.Migration{}); err != nil {
						b.Fatal(err)
					}
				}
				each := b.Elapsed().Seconds() / float64(b.N*len(in.Requests))
				b.ReportMetric(1/each, "decisions/s")
				if gpus == 100 {
					small[id] = each
				} else {
					b.ReportMetric(each/small[id], "times_100_GPUs")
				}
			})
		}
	}
}
