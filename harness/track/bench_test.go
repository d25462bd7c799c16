package track_test

import (
	"context"
	"testing"

	_ "miglab/algorithms/placement"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/harness/track"
)

// solve benchmarks an algorithm on an instance, the referee included, and reports the time for each
// of so many decisions.
func solve(b *testing.B, t *track.Track, id string, in task.Payload, gpus, decisions int) {
	b.Run(id, func(b *testing.B) {
		p := track.Problem{GPU: mig.MustLookup(t.GPU), Count: gpus, Payload: in}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := t.Solve(context.Background(), algo.MustParse(id), p); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(decisions), "ns/decision")
	})
}

// BenchmarkStream is a stream of 100,000 tasks in batches of 100.
func BenchmarkStream(b *testing.B) {
	in, err := datasets.MustParse("drl/WIDETIMES?n=100&batches=1000").Instance(mig.MustLookup("A100"), 0)
	if err != nil {
		b.Fatal(err)
	}
	for _, id := range []string{"far-concat", "lns-stream"} {
		solve(b, track.Stream, id, in, 1, 100_000)
	}
}

// BenchmarkMillion is a million requests to a million GPUs, a third of which are taken in the end.
func BenchmarkMillion(b *testing.B) {
	const million = 1_000_000
	g := mig.MustLookup("A100-80GB")
	in := task.Requests{GPUs: million}
	for i := range million {
		in.Requests = append(in.Requests, task.Request{Arrival: i, Lifespan: task.Forever, Profile: g.Profile(g.Sizes()[i%len(g.Sizes())])})
	}
	for _, id := range []string{"mfi", "fgd", "value-table", "ff"} {
		solve(b, track.Placement, id, in, million, million)
	}
}
