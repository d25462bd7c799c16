package algorithms

import (
	"math/rand/v2"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/algorithms/plan"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
)

// TestForestNeverEndsLaterThanFAR draws batches for several GPUs that hold instances at time 0:
// lns begins with FAR's plan, and no pair ever ends later than before. Some plans end earlier.
func TestForestNeverEndsLaterThanFAR(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	better := 0
	n := deep.N(12, 60)
	for i := range n {
		p := algotest.RandomProblem(rng, 1+rng.IntN(40))
		p.Count = 2 + rng.IntN(4)
		p.Model = mig.Reconfiguration(rng.IntN(3))
		if i%3 == 0 {
			algotest.AddStart(&p, rng)
		}
		far := makespanOf(t, "far", p)
		lns := makespanOf(t, "lns?iterations=60", p)
		if lns > far*(1+1e-9) && p.Start == nil {
			t.Errorf("problem %d on %d GPUs: lns ends at %v s, FAR at %v s", i, p.Count, lns, far)
		}
		if lns < far*(1-1e-6) {
			better++
		}
	}
	if better == 0 {
		t.Errorf("lns improves none of %d plans of FAR", n)
	}
}

// TestForestIsNearTheJointOptimum compares pairs with treedp's table over all GPUs, which is
// nearly optimal for few tasks.
func TestForestIsNearTheJointOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 2))
	var sum float64
	n := deep.N(3, 10)
	for range n {
		p := algotest.RandomProblem(rng, 8)
		p.Count = 3
		sum += makespanOf(t, "lns?iterations=200", p) / makespanOf(t, "treedp", p)
	}
	if mean := sum / float64(n); mean > 1.01 {
		t.Errorf("lns in pairs is %.2f %% above treedp on all GPUs together; at most 1 %% is right", 100*(mean-1))
	}
}

func TestTreeDPSaysHowManyTasksItTakes(t *testing.T) {
	p := algotest.RandomProblem(rand.New(rand.NewPCG(1, 26)), plan.MaxTasks+1)
	_, err := algo.MustParse("treedp").Schedule(t.Context(), p)
	if want := `treedp is infeasible: task "t0018" is one of 19; treedp takes at most 18, lns any number`; err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}
