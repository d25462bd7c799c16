package train

import (
	"math/rand/v2"
	"testing"

	"miglab/algorithms/rl/env"
)

// causeRun returns the run of an agent that looks for a cause.
func causeRun(t *testing.T, agent, workload, suffix string) paperRun {
	t.Helper()
	for _, r := range causeRuns() {
		if r.agent.Name == agent && r.workload == workload && r.suffix == suffix {
			return r
		}
	}
	t.Fatalf("no run %s-%s%s", agent, workload, suffix)
	return paperRun{}
}

// TestReleasedRecipe has the defaults of Stable-Baselines3 and what train.py of the public code
// changes.
func TestReleasedRecipe(t *testing.T) {
	for agent, entropy := range map[string][2]float64{"rl-float": {0.01, 0.01}, "rl-direct": {0.01, 0}} {
		r := causeRun(t, agent, "WIDETIMES", "-released")
		c, o := r.ppo(1_000_000), r.learns()
		if c.Envs*c.Horizon != 2048 || c.Minibatch != 64 || c.Epochs != 10 || c.LearningRate.At(0) != 3e-4 || c.LearningRate.At(1) != 3e-4 {
			t.Errorf("%s: %+v", agent, c)
		}
		if got := [2]float64{c.Entropy.At(0), c.Entropy.At(1)}; got != entropy {
			t.Errorf("%s: the coefficient of the entropy goes from %v to %v, want %v", agent, got[0], got[1], entropy)
		}
		if !o.Released || !o.RandomStart || r.steps != 1_000_000 {
			t.Errorf("%s learns %d steps in %+v", agent, r.steps, o)
		}
	}
}

// TestShortBatches draws every length from 1 to 14, and the usual recipe 14 alone.
func TestShortBatches(t *testing.T) {
	short := causeRun(t, "rl-direct", "POORSCALING", "-short")
	for _, r := range []paperRun{short, usualRun(short.agent, short.workload)} {
		source, err := r.source(14)
		if err != nil {
			t.Fatal(err)
		}
		rng, drawn := rand.New(rand.NewPCG(1, 2)), map[int]bool{}
		for range 500 {
			drawn[source(rng, make([]env.Times, 14))] = true
		}
		want := 1
		if r.shortBatches {
			want = 14
		}
		if len(drawn) != want || !drawn[14] {
			t.Errorf("%s%s draws %v tasks", r.agent.Name, r.suffix, drawn)
		}
	}
}

// TestScriptRecipe: the online agent learns as the public code does, and is scored as the others.
func TestScriptRecipe(t *testing.T) {
	r := causeRun(t, "rl-online", "GOODSCALING", "-script")
	if o := r.learns(); o.Stream != 50 || o.RandomStart || o.Reconfiguration != 0.7 {
		t.Errorf("it learns in %+v", o)
	}
	if o := r.options(); o.Stream != onlineStream || o.Reconfiguration != 0 {
		t.Errorf("it is scored in %+v", o)
	}
}

// TestAblations: each run takes back one refinement alone, and no two of them learn in the same environment.
func TestAblations(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range ablationRuns() {
		taken := 0
		for _, off := range []bool{r.listed, r.unmerged, r.penalty > 0} {
			if off {
				taken++
			}
		}
		usual := usualRun(r.agent, r.workload)
		key := r.workload + " " + r.described()
		if taken != 1 || seen[key] || r.described() == usual.described() || r.steps != usual.steps || len(r.seeds) != 3 {
			t.Errorf("%s%s takes back %d refinements: %s", r.workload, r.suffix, taken, key)
		}
		seen[key] = true
	}
}
