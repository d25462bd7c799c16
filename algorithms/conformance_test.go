package algorithms

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// batchAlgorithms lists every registered batch algorithm under every value of its
// listed parameters, FIXPART for a partition of the GPU, lns with few iterations, and
// treedp where it is quick.
func batchAlgorithms(p algo.Problem, rng *rand.Rand) []string {
	var ids []string
	for _, s := range algo.All(algo.TrackBatch) {
		switch s.Name {
		case "fixpart":
			parts := p.GPU.Partitions()
			ids = append(ids, "fixpart?p="+parts[rng.IntN(len(parts))].String())
			continue
		case "lns":
			ids = append(ids, "lns?iterations=5")
			continue
		case "treedp":
			if n := len(p.Tasks); n > 10 && n <= 18 {
				continue
			}
		}
		ids = append(ids, s.Name)
		for _, p := range s.Params {
			for _, v := range p.Values {
				if v != p.Default {
					ids = append(ids, s.Name+"?"+p.Name+"="+v)
				}
			}
		}
	}
	return ids
}

// conform schedules a problem with every algorithm and has the referee look at
// each answer. FIXPART may say that a task fits no instance of its partition.
func conform(p algo.Problem, rng *rand.Rand) error {
	for _, id := range batchAlgorithms(p, rng) {
		a := algo.MustParse(id)
		s, err := a.Schedule(context.Background(), p)
		var infeasible *algo.InfeasibleError
		if errors.As(err, &infeasible) && a.Spec.Name != "far" && a.Spec.Name != "miso" {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s on %s, %d tasks: %w", id, p.GPU, len(p.Tasks), err)
		}
		if v := schedule.Check(p, s); len(v) > 0 {
			return fmt.Errorf("%s on %d x %s, %d tasks, %v: %d violations, first %v", id, p.GPUs(), p.GPU, len(p.Tasks), p.Model, len(v), v[0])
		}
		if s.Algorithm != a.ID {
			return fmt.Errorf("%s is called %q", a.ID, s.Algorithm)
		}
	}
	return nil
}

func TestEveryScheduleOf10000BatchesPassesTheReferee(t *testing.T) {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range uint64(10_000) {
		g.Go(func() error {
			rng := rand.New(rand.NewPCG(i, 10))
			p := randomProblem(rng, 1+rng.IntN(200))
			p.Model = mig.Reconfiguration(rng.IntN(3))
			if i%4 == 0 {
				p.Count = 1 + rng.IntN(3)
			}
			if i%5 == 0 {
				addRelease(&p, rng)
			}
			if i%3 == 0 {
				addStart(&p, rng)
			}
			if err := conform(p, rng); err != nil {
				return fmt.Errorf("seed %d: %w", i, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

func addRelease(p *algo.Problem, rng *rand.Rand) {
	for range p.Tasks {
		p.Release = append(p.Release, mig.Seconds(rng.Float64()*20))
	}
}

// addStart lets some instances of a random partition exist at time 0.
func addStart(p *algo.Problem, rng *rand.Rand) {
	parts := p.GPU.Partitions()
	for g := range p.GPUs() {
		for _, in := range parts[rng.IntN(len(parts))] {
			if rng.IntN(2) == 0 {
				p.Start = append(p.Start, schedule.Existing{GPU: g, Instance: in, BusyUntil: mig.Seconds(rng.IntN(3)) * 5})
			}
		}
	}
}

func TestEveryStreamPassesTheReferee(t *testing.T) {
	for i := range uint64(600) {
		rng := rand.New(rand.NewPCG(i, 11))
		var lengths []int
		n := 0
		for range 1 + rng.IntN(6) {
			k := 1 + rng.IntN(30)
			lengths = append(lengths, k)
			n += k
		}
		p := randomProblem(rng, n)
		p.Model = mig.Reconfiguration(rng.IntN(3))
		p.Count = 1 + rng.IntN(2)
		var ids []string
		for _, mode := range []string{"trivial", "reverse", "move", "moveswap"} {
			for _, first := range []string{"forward", "reversed"} {
				ids = append(ids, "far-concat?mode="+mode+"&first="+first)
			}
		}
		if slices.Max(lengths) <= 10 || slices.Min(lengths) > 18 || i%20 == 0 && p.Count == 1 {
			ids = append(ids, "lns-stream?iterations=5")
		}
		for _, id := range ids {
			a := algo.MustParse(id)
			out, err := a.ScheduleStream(context.Background(), p, slices.Clone(lengths))
			if err != nil {
				t.Fatalf("seed %d %s: %v", i, a.ID, err)
			}
			if v := schedule.Check(p, out); len(v) > 0 {
				t.Errorf("seed %d %s: %d violations, first %v", i, a.ID, len(v), v[0])
			}
		}
	}
}
