package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// What is found within a limit, in tables that the other tasks limit further, is what is found
// without: the same nodes for all tasks, also with blurred durations.
func TestTightTablesFindTheSame(t *testing.T) {
	searches, within := 0, 0
	for seed := range uint64(deep.N(6, 24)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		p := algotest.RandomProblem(rng, 8+rng.IntN(14))
		p.Model, p.Count = mig.Reconfiguration(rng.IntN(3)), 1+rng.IntN(2)
		if rng.IntN(2) == 0 {
			algotest.AddStart(&p, rng)
		}
		if seed%3 > 0 {
			g := mig.MustLookup("A100")
			in, err := datasets.InstanceOf[task.Batches](datasets.MustParse("drl/WIDETIMES"), g, int(seed))
			if err != nil {
				t.Fatal(err)
			}
			p = algo.Problem{GPU: g, Tasks: in.Tasks}
		}
		s := newSearch(p, Start(p), drawnPlan(rng)(t.Context(), p))
		for i := range 250 {
			if err := sameFound(s, rng, float64(250-i)/2500); err != nil {
				t.Fatalf("seed %d, search %d: %v", seed, i, err)
			}
			searches++
			if s.subsets.tight {
				within++
			}
			s.pick(atATime)
			s.subsets.greedy = i%2 == 1
			s.replace(float64(250-i)/2500, 0.01)
		}
	}
	if within < searches/2 {
		t.Errorf("only %d of %d searches ended within their limit", within, searches)
	}
}

// sameFound removes a few tasks, places them with a limit and without, and puts them back. It
// leaves in tight whether the limit was enough.
func sameFound(s *search, rng *rand.Rand, blur float64) error {
	s.pick(atATime)
	for _, i := range s.tasks {
		s.before = append(s.before[:0], s.plan.node...)
		s.plan.take(i)
		defer s.plan.put(i, s.before[i])
	}
	s.subsets.greedy = rng.IntN(2) == 0
	s.subsets.setHorizon((s.makespan-s.base)*(1+2*blur+1e-6), (s.makespan-s.base)*(1+0.1*blur+1e-6))
	s.subsets.setTasks(len(s.tasks), s.seconds)
	s.subsets.blur(rng, blur)
	limited, all := make([]int32, atATime), make([]int32, atATime)
	found := s.subsets.place(s.plan.loads, s.plan.timer.from, s.base, limited)
	tight := s.subsets.tight
	s.subsets.firstLimit = 0 // nothing ends within it
	if again := s.subsets.place(s.plan.loads, s.plan.timer.from, s.base, all); again != found || s.subsets.tight {
		return fmt.Errorf("found %v, and %v without a limit", found, again)
	}
	s.subsets.tight = tight
	if !slices.Equal(limited, all) {
		return fmt.Errorf("nodes %v, and %v without a limit", limited, all)
	}
	return nil
}
