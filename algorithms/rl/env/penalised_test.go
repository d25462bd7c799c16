package env

import (
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/harness/mig"
)

// TestPenalised takes any action. A forbidden one costs the penalty and changes nothing; the others lead where
// they lead in the environment with masks.
func TestPenalised(t *testing.T) {
	o := BatchOptions{GPU: mig.MustLookup("A100"), Tasks: 5, Levels: 14, Direct: true, RandomStart: true}
	masked := mustBatch(t, o, randomTasks(o.GPU))
	o.Penalty = 0.25
	p := mustBatch(t, o, randomTasks(o.GPU))
	shape := p.Shape()
	seen, want := make([]float32, shape.Observation), make([]float32, shape.Observation)
	all, allowed := make([]bool, shape.Actions), make([]bool, shape.Actions)
	rng, forbidden := rand.New(rand.NewPCG(3, 1)), 0
	for episode := range uint64(20) {
		masked.Reset(rand.New(rand.NewPCG(episode, 2)))
		p.Reset(rand.New(rand.NewPCG(episode, 2)))
		for done := false; !done; {
			p.Observe(seen, all)
			masked.Observe(want, allowed)
			if slices.Contains(all, false) || !slices.Equal(seen, want) {
				t.Fatalf("it allows %v and observes %v, want %v", all, seen, want)
			}
			action, reward, wantReward, wantDone := rng.IntN(shape.Actions), float32(0), float32(-0.25), false
			if allowed[action] {
				wantReward, wantDone = masked.Step(action)
			} else {
				forbidden++
			}
			if reward, done = p.Step(action); reward != wantReward || done != wantDone {
				t.Fatalf("action %d, allowed %v: %v, %v, want %v, %v", action, allowed[action], reward, done, wantReward, wantDone)
			}
		}
		if p.device.Makespan() != masked.device.Makespan() {
			t.Fatalf("makespan %v, want %v", p.device.Makespan(), masked.device.Makespan())
		}
	}
	if forbidden < 100 {
		t.Errorf("only %d forbidden actions", forbidden)
	}
}
