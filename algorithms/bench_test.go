package algorithms

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// benchProblem is a batch of the paper's MIXEDSCALING, WIDETIMES shape: a fifth of
// the tasks scales well up to each size.
func benchProblem(n int, seed uint64) algo.Problem {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	p := algo.Problem{GPU: mig.MustLookup("A100")}
	for i := range n {
		t := task.New(fmt.Sprintf("t%05d", i), nil)
		d := 1 + 99*rng.Float64()
		limit := p.GPU.Sizes()[rng.IntN(5)]
		for s := mig.Slices(1); s <= 7; s++ {
			if s > 1 {
				r := 0.75 + 0.25*rng.NormFloat64()
				r = min(max(r, 0.5), 1)
				if s <= limit {
					r = min(max(0.1+0.1*rng.NormFloat64(), 0), 0.2)
				}
				d *= (float64(s-1) + r) / float64(s)
			}
			if p.GPU.Profile(s) != nil {
				t.Set(s, mig.Seconds(d))
			}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

func BenchmarkBatches(b *testing.B) {
	for id, sizes := range map[string][]int{
		"far": {10, 15, 35, 100, 500, 1000, 10000}, "treedp": {10, 14}, "lns?iterations=200": {20, 100},
		"miso": {20, 1000}, "fixpartbest": {20, 1000}, "nomig": {20, 1000},
	} {
		for _, n := range sizes {
			benchmark(b, id, n)
		}
	}
}

// benchmark schedules eight batches of n tasks in turn.
func benchmark(b *testing.B, id string, n int) {
	b.Run(fmt.Sprintf("%s/n=%d", id, n), func(b *testing.B) {
		a := algo.MustParse(id)
		var ps []algo.Problem
		for s := range uint64(8) {
			ps = append(ps, benchProblem(n, s))
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := a.Schedule(context.Background(), ps[i%len(ps)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
