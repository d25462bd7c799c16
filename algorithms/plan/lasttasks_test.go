package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/deep"
	"miglab/harness/mig"
)

// Whatever the limit at which the search begins, the result is the same: here it is wide from the
// start.
func TestLimitsOfTheLastTasksChangeNothing(t *testing.T) {
	for seed := range uint64(deep.N(200, 1000)) {
		rng := rand.New(rand.NewPCG(seed, 27))
		p := algotest.RandomProblem(rng, 1+rng.IntN(7))
		p.Model = []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free}[seed%3]
		l := NewLastTasks(p.GPU, p.Model, func(task int, size mig.Slices) float64 { return float64(p.Tasks[task].On(size)) })
		s := l.subsets
		at := GPUAtWork{Unit: 1}
		for range p.GPU.ComputeSlices {
			at.Free = append(at.Free, 1+float64(rng.IntN(3)))
		}
		for _, n := range s.tree.Nodes {
			create, _ := operationSeconds(p.Model, n.Profile)
			at.Start = append(at.Start, slices.Max(at.Free[n.Start:int(n.Start)+int(n.Size())])+create)
		}
		for i := range p.Tasks {
			least := math.Inf(1)
			for _, size := range s.sizes {
				least = min(least, float64(size)*l.seconds(i, size)/float64(p.GPU.ComputeSlices))
			}
			at.Unit += least
		}
		at.Bound = slices.Min(at.Free) + at.Unit
		place := slices.Clone(l.Place(len(p.Tasks), &at))
		if limit := s.limit; limit < horizon {
			tight := s.root(0)[1<<s.tasks-1].end
			l.solve(horizon)
			if wide := s.root(0)[1<<s.tasks-1].end; wide != tight || wide > limit {
				t.Errorf("seed %d: the end is %d ticks with the limit %d, %d without", seed, tight, limit, wide)
			}
			if s.trace(0, 0, 1<<s.tasks-1, firstOnSlices, l.node); !slices.Equal(l.node, place) {
				t.Errorf("seed %d: the nodes are %v with a limit, %v without", seed, place, l.node)
			}
		}
	}
}
