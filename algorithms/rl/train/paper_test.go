package train

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/env"
)

// runOf returns the run of an agent.
func runOf(t *testing.T, agent, workload, suffix string) paperRun {
	t.Helper()
	for _, r := range paperRuns() {
		if r.Agent == agent && r.Workload == workload && r.Suffix == suffix {
			return r
		}
	}
	t.Fatalf("no run %s-%s%s", agent, workload, suffix)
	return paperRun{}
}

// TestChanges: every change that a row names is one that the code knows, and every agent exists.
func TestChanges(t *testing.T) {
	known := []string{
		byDQN, shortBatches, emptyStart, asReleased, asScript, onKernels, onClasses, listedTasks, unmergedPartitions,
	}
	for _, r := range paperRuns() {
		unknown := func(change string) bool { return !slices.Contains(known, change) }
		if slices.ContainsFunc(strings.Fields(r.Change), unknown) || r.agent().Name != r.Agent || !slices.Contains(agents.Workloads, r.Workload) {
			t.Errorf("%+v", r)
		}
	}
}

// TestReleasedRecipe has the defaults of Stable-Baselines3 and what train.py of the public code
// changes.
func TestReleasedRecipe(t *testing.T) {
	for agent, entropy := range map[string][2]float64{"rl-float": {0.01, 0.01}, "rl-direct": {0.01, 0}} {
		r := runOf(t, agent, "WIDETIMES", "-released")
		c, o := r.ppo(1_000_000), r.learningOptions()
		if c.Envs*c.Horizon != 2048 || c.Minibatch != 64 || c.Epochs != 10 || c.LearningRate.At(0) != 3e-4 || c.LearningRate.At(1) != 3e-4 {
			t.Errorf("%s: %+v", agent, c)
		}
		if got := [2]float64{c.Entropy.At(0), c.Entropy.At(1)}; got != entropy {
			t.Errorf("%s: the coefficient of the entropy goes from %v to %v, want %v", agent, got[0], got[1], entropy)
		}
		if !o.Released || !o.RandomStart || r.Steps != 2_000_000 {
			t.Errorf("%s learns %d steps in %+v", agent, r.Steps, o)
		}
	}
}

// TestShortBatches draws every length from 1 to 14, and the usual recipe 14 alone.
func TestShortBatches(t *testing.T) {
	short := runOf(t, "rl-direct", "POORSCALING", "-short")
	for _, r := range []paperRun{short, runOf(t, short.Agent, short.Workload, "")} {
		source, err := r.source(14)
		if err != nil {
			t.Fatal(err)
		}
		rng, drawn := rand.New(rand.NewPCG(1, 2)), map[int]bool{}
		for range 500 {
			drawn[source(rng, make([]env.Times, 14))] = true
		}
		want := 1
		if r.Change == shortBatches {
			want = 14
		}
		if len(drawn) != want || !drawn[14] {
			t.Errorf("%s%s draws %v tasks", r.Agent, r.Suffix, drawn)
		}
	}
}

// TestScriptRecipe: the online agent learns as the public code does, and is scored as the others.
func TestScriptRecipe(t *testing.T) {
	r := runOf(t, "rl-online", "GOODSCALING", "-script")
	if o := r.learningOptions(); o.Stream != 50 || o.RandomStart || o.Reconfiguration != 0.7 {
		t.Errorf("it learns in %+v", o)
	}
	if o := r.evaluationOptions(); o.Stream != onlineStream || o.Reconfiguration != 0 {
		t.Errorf("it is scored in %+v", o)
	}
}

// TestAblations: each run takes back one refinement alone, and no two of them learn in the same environment.
func TestAblations(t *testing.T) {
	seen := map[string]bool{}
	for _, suffix := range []string{"-listed", "-unmerged", "-unmasked", "-unmasked-mild"} {
		r, taken := runOf(t, "rl-direct", "GOODSCALING", suffix), 0
		for _, off := range []bool{r.Change == listedTasks, r.Change == unmergedPartitions, r.Penalty > 0} {
			if off {
				taken++
			}
		}
		usual := runOf(t, r.Agent, r.Workload, "")
		key := r.Workload + " " + r.describe()
		if taken != 1 || seen[key] || r.describe() == usual.describe() || r.Steps != usual.Steps || r.Runs != 3 {
			t.Errorf("%s%s takes back %d refinements: %s", r.Workload, r.Suffix, taken, key)
		}
		seen[key] = true
	}
}
