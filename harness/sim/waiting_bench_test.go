package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// BenchmarkWaiting places requests on a cluster with a backlog of about a length. The unit is a request.
func BenchmarkWaiting(b *testing.B) {
	g := mig.MustLookup("H100")
	profiles := task.RequestProfiles(g)
	for _, c := range []struct{ gpus, requests, backlog int }{{1000, 20_000, 0}, {100, 100_000, 200}, {100, 100_000, 20_000}, {1000, 100_000, 20_000}} {
		b.Run(fmt.Sprintf("gpus=%d/requests=%d/backlog=%d", c.gpus, c.requests, c.backlog), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			in := task.Requests{GPUs: c.gpus, Waiting: task.Retry}
			at := 0.0
			for i := range c.requests {
				if i >= c.backlog {
					at += rng.ExpFloat64() * 500 * 3.6 / 8 / float64(c.gpus)
				}
				in.Requests = append(in.Requests, task.Request{Arrival: int(at), Lifespan: 1 + rng.IntN(1000), Profile: profiles[rng.IntN(len(profiles))]})
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := RunWaiting(g, in, newLowestSpot(g)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.requests), "ns/request")
		})
	}
}

// lowestSpot takes the first start on the GPU with the lowest index that has one.
type lowestSpot struct {
	free []MaskSet // by profile
}

func newLowestSpot(g *mig.GPU) *lowestSpot {
	l := &lowestSpot{}
	for _, p := range task.RequestProfiles(g) {
		var free MaskSet
		for m := range 1 << g.MemorySlices {
			for _, s := range p.Starts {
				if (mig.Instance{Profile: p, Start: s}).Mask()&mig.Mask(m) == 0 {
					free.Add(mig.Mask(m))
				}
			}
		}
		l.free = append(l.free, free)
	}
	return l
}

func (l *lowestSpot) Place(c *Cluster, profile int) (Spot, bool) {
	p := c.Profiles()[profile]
	gpu, ok := c.Lowest(&l.free[profile])
	if !ok {
		return Spot{}, false
	}
	for _, s := range p.Starts {
		if (mig.Instance{Profile: p, Start: s}).Mask()&c.Mask(gpu) == 0 {
			return Spot{gpu, s}, true
		}
	}
	return Spot{}, false
}
