package dispatch_test

import (
	"testing"

	"miglab/harness/algo"
	"miglab/harness/sim"
)

// BenchmarkDispatch measures decisions, the simulation around them included. One
// operation is one job of the report's fleet; the report's own environments take 29
// (pandas) and 2,500 (NumPy) a second.
func BenchmarkDispatch(b *testing.B) {
	in := queue(b, "deadline/relaxed", 0)
	for _, s := range algo.All(algo.TrackDispatch) {
		b.Run(s.Name, func(b *testing.B) {
			b.ReportAllocs()
			for left := b.N; left > 0; left -= len(in.Jobs) {
				jobs := in.Jobs[:min(left, len(in.Jobs))]
				if _, err := sim.RunDispatch(jobs, in.Fleet, dispatcher(b, s.Name, 1)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
		})
	}
}
