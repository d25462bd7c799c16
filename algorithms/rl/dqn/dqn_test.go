package dqn_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/algorithms/rl/dqn"
	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
)

// chain is a walk over places 0 to 4 that begins anywhere. Action 0 goes left, 1
// right, 2 gives up for 0.3; beyond place 4 there is 1. Action 3 is never allowed,
// and 0 is not at place 0.
type chain struct {
	at      int
	illegal *int // counts actions that were masked
	reward  func(float32) float32
}

const places, gamma = 5, 0.8

func (c *chain) Shape() env.Shape     { return env.Shape{Observation: places, Actions: 4} }
func (c *chain) Reset(rng *rand.Rand) { c.at = rng.IntN(places) }
func (c *chain) Observe(x []float32, mask []bool) {
	clear(x)
	x[c.at] = 1
	mask[0], mask[1], mask[2], mask[3] = c.at > 0, true, true, false
}

func (c *chain) Step(action int) (float32, bool) {
	reward, done := float32(0), false
	switch {
	case action == 0 && c.at > 0:
		c.at--
	case action == 1:
		if c.at++; c.at == places {
			reward, done = 1, true
		}
	case action == 2:
		reward, done = 0.3, true
	default:
		*c.illegal++
		done = true
	}
	if c.reward != nil {
		reward = c.reward(reward)
	}
	return reward, done
}

// optimal returns the action values of the chain, by value iteration.
func optimal() (q [places][3]float64) {
	for range 100 {
		v := [places + 1]float64{places: 1 / gamma}
		for s := range places {
			v[s] = max(q[s][1], q[s][2])
			if s > 0 {
				v[s] = max(v[s], q[s][0])
			}
		}
		for s := range places {
			if s > 0 {
				q[s][0] = gamma * v[s-1]
			}
			q[s][1], q[s][2] = gamma*v[s+1], 0.3
		}
	}
	return q
}

func config() dqn.Config {
	return dqn.Config{
		Envs: 8, Horizon: 16, GradientSteps: 1, Batch: 32,
		Buffer: 2048, LearnStart: 64, TargetEvery: 50, TotalSteps: 16_000,
		LearningRate: learn.Anneal{{Until: 1, From: 1e-2, To: 0}},
		Epsilon:      learn.Anneal{{Until: 0.9, From: 1, To: 0}},
		Gamma:        gamma, Shards: 4,
	}
}

func network(hidden []int, dueling bool, seed uint64) *nn.QNetwork {
	return nn.NewQNetwork(places, hidden, 4, dueling, nn.Portable(), rand.New(rand.NewPCG(seed, 0)))
}

func trainer(t testing.TB, cfg dqn.Config, hidden []int, dueling bool, seed uint64) (*dqn.Trainer, *nn.QNetwork, *int) {
	t.Helper()
	illegal := new(int)
	policy := network(hidden, dueling, seed)
	tr := dqn.New(cfg, policy, network(hidden, dueling, seed+1), func() env.Env { return &chain{illegal: illegal} }, seed)
	return tr, policy, illegal
}

func iterate(t testing.TB, tr *dqn.Trainer, n, workers int) learn.Stats {
	t.Helper()
	var last learn.Stats
	for range n {
		var err error
		if last, err = tr.Iterate(context.Background(), workers); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

// Action values, not only the best actions, are those of value iteration.
func TestReachesTheOptimum(t *testing.T) {
	for name, c := range map[string]struct{ double, dueling bool }{
		"plain": {}, "double": {double: true}, "double dueling": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			cfg.Double = c.double
			tr, policy, illegal := trainer(t, cfg, []int{16}, c.dueling, 1)
			last := iterate(t, tr, 125, 1)
			if *illegal > 0 {
				t.Errorf("%d masked actions taken", *illegal)
			}
			if last.Steps != 16_000 || tr.Count != last.Steps || last.ValueLoss <= 0 || last.Episodes == 0 {
				t.Errorf("%+v", last)
			}
			x := make([]float32, places*places)
			for s := range places {
				x[s*places+s] = 1
			}
			got, _ := policy.Forward(x, places)
			for s, want := range optimal() {
				for a, w := range want {
					if is := float64(got[s*4+a]); (s > 0 || a > 0) && math.Abs(is-w) > 0.02 {
						t.Errorf("place %d, action %d: value %.3f, want %.3f", s, a, is, w)
					}
				}
			}
		})
	}
}

func TestDivergence(t *testing.T) {
	steps, policy := 0, network(nil, false, 1)
	tr := dqn.New(config(), policy, network(nil, false, 1), func() env.Env {
		return &chain{reward: func(r float32) float32 {
			if steps++; steps > 200 {
				return float32(math.NaN())
			}
			return r
		}}
	}, 1)
	iterate(t, tr, 1, 1)
	good := slices.Clone(policy.Parameters())
	var saved bytes.Buffer
	if err := tr.Save(&saved, ""); err != nil {
		t.Fatal(err)
	}
	var diverged *learn.DivergedError
	for range 2 { // and remains so
		if _, err := tr.Iterate(context.Background(), 1); !errors.As(err, &diverged) || diverged.Steps != 208 {
			t.Fatalf("error %v, want a learn.DivergedError at step 208", err)
		}
	}
	if err := tr.Save(&bytes.Buffer{}, ""); !errors.As(err, &diverged) {
		t.Errorf("saving what diverged: error %v", err)
	}
	if _, err := tr.Load(&saved); err != nil || !slices.Equal(good, policy.Parameters()) {
		t.Errorf("the last checkpoint is not restored: %v", err)
	}
}

func TestAllocatesNothing(t *testing.T) {
	tr, _, _ := trainer(t, config(), []int{8}, true, 1)
	iterate(t, tr, 1, 1)
	if n := testing.AllocsPerRun(3, func() { iterate(t, tr, 1, 1) }); n > 0 {
		t.Errorf("an iteration allocates %v times", n)
	}
}

// TestUpdates: 19 iterations of 8 environments in segments of 7 are 304 gradients less those while a replay buffer
// holds less than 64 transitions.
func TestUpdates(t *testing.T) {
	c := config()
	c.GradientSteps = 2
	tr, _, _ := trainer(t, c, []int{4}, false, 1)
	for segment, iterations := range []int{7, 7, 5} {
		tr.Restart(uint64(segment))
		iterate(t, tr, iterations, 1)
	}
	if got := c.Updates(tr.Count-1, 7*8*16+100); got != *tr.Counters[1] || got != 2*(19*16-3*7) {
		t.Errorf("%d updates, and %d by the settings", *tr.Counters[1], got)
	}
}
