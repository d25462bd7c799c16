package train

import (
	"slices"
	"testing"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/nn"
	"miglab/harness/deep"
)

// TestKernelBatches: Fig. 15's RODINIA + ALTIS is scored on full batches of measured kernels, of
// which there are 100 different ones, and no longer on the workload that the agent learns from.
func TestKernelBatches(t *testing.T) {
	got, err := kernelBatches(agents.PaperTasks)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 100 {
		t.Errorf("%d batches, want 100", len(got))
	}
	for i, b := range got {
		if len(b.times) != agents.PaperTasks || b.bound <= 0 {
			t.Fatalf("batch %d has %d kernels and the bound %v s", i, len(b.times), b.bound)
		}
		for _, other := range got[:i] {
			if slices.Equal(b.times, other.times) {
				t.Fatalf("batch %d is there twice", i)
			}
		}
	}
}

// TestScoredElsewhere: the runs for Figs. 13 and 15 differ from those of the agents in nothing but
// the score, so that they are the same agents.
func TestScoredElsewhere(t *testing.T) {
	all := [][2]string{{"rl-entropy-WIDETIMES", "-rodinia"}, {"rl-direct-MIXSCALINGUNIFORM", "-classes"}, {"rl-direct-WIDETIMES", "-rodinia"}}
	for _, c := range all[:deep.N(2, len(all))] {
		name, suffix := c[0], c[1]
		usual, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		scored, err := Find(name + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if scored.Shipped > 0 || scored.Steps != usual.Steps || len(scored.Seeds) < 3 {
			t.Errorf("%+v", scored)
		}
		a, err := usual.setup(nn.Portable(), usual.Steps, 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := scored.setup(nn.Portable(), scored.Steps, 1)
		if err != nil {
			t.Fatal(err)
		}
		if a.text != b.text {
			t.Errorf("%s learns otherwise than %s", scored.Name, usual.Name)
		}
		x, err := a.score(a.policy)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.score(b.policy)
		if err != nil {
			t.Fatal(err)
		}
		if x == y {
			t.Errorf("%s is scored on the batches of %s", scored.Name, usual.Name)
		}
	}
}
