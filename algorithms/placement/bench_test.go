package placement

import (
	"fmt"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// BenchmarkDecisions measures one decision with its share of departures and of the
// engine's books, in steady state at an offered load of 1. The cluster is filled on
// the way: 5 capacities are requested.
func BenchmarkDecisions(b *testing.B) {
	g := mig.MustLookup("A100-80GB")
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
					p, err := algotest.Placer(a, sim.PlacementSetting{GPU: g, GPUs: gpus})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := sim.RunPlacement(g, gpus, in.Requests, p, sim.SteadyWindow); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N*len(in.Requests))/b.Elapsed().Seconds(), "decisions/s")
			})
		}
	}
}
