package dqn

import (
	"math/rand/v2"
	"testing"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
)

// still never ends; of its three actions the last is not allowed.
type still struct{}

func (still) Shape() env.Shape         { return env.Shape{Observation: 1, Actions: 3} }
func (still) Reset(*rand.Rand)         {}
func (still) Step(int) (float32, bool) { return 0, false }
func (still) Observe(x []float32, mask []bool) {
	x[0] = 1
	mask[0], mask[1], mask[2] = true, true, false
}

// The policy prefers action 0 and the target network action 1; action 2 would be
// best for both.
func TestFuture(t *testing.T) {
	for _, c := range []struct {
		double bool
		want   float32
	}{{false, 4}, {true, 3}} {
		network := func() nn.Policy {
			return nn.NewQNetwork(1, nil, 3, false, nn.Portable(), rand.New(rand.NewPCG(1, 1)))
		}
		policy, target := network(), network()
		tr := New(Config{
			Envs: 1, Horizon: 1, GradientSteps: 1, Batch: 2, Buffer: 4, TargetEvery: 1, TotalSteps: 1,
			LearningRate: learn.Anneal{{Until: 1, From: 1, To: 1}}, Shards: 1, Double: c.double,
		}, policy, target, func() env.Env { return still{} }, 1)
		copy(policy.Parameters(), []float32{2, 1, 9, 0, 0, 0}) // weights, biases
		copy(target.Parameters(), []float32{3, 4, 9, 0, 0, 0})
		s := tr.shards[0]
		s.next[0], s.next[1] = 1, 1
		tr.observeAndChoose(s, 1)
		tr.observeAndChoose(s, 2)
		tr.replay.dones[1] = true
		tr.future(s, []int32{0, 1})
		if s.futures[0] != c.want || s.futures[1] != 0 {
			t.Errorf("double %v: values %v of what follows, want %v, and 0 at an episode's end", c.double, s.futures, c.want)
		}
	}
}
