package ppo_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/ppo"
	"miglab/harness/deep"
)

// twoTasks is a machine of two slots on which two tasks are to be run, each on one
// slot for 3 or on both for 2, or 1 where it scales. The reward is minus the
// makespan. Both tasks at once is best (3) unless both scale (2): the agent has to
// look. Action 2t runs task t on the first free slot, 2t+1 on both.
type twoTasks struct {
	scales  [2]bool
	done    [2]bool
	free    [2]float32
	illegal *int // counts actions that were masked
	reward  func(float32) float32
}

func (e *twoTasks) Shape() env.Shape { return env.Shape{Observation: 6, Actions: 5} }

func (e *twoTasks) Reset(rng *rand.Rand) {
	both := rng.IntN(2) == 0
	e.scales, e.done, e.free = [2]bool{both, both}, [2]bool{}, [2]float32{}
}

func (e *twoTasks) Observe(x []float32, mask []bool) {
	for t := range 2 {
		x[t], x[2+t], x[4+t] = 0, 0, e.free[t]/3
		if e.scales[t] {
			x[t] = 1
		}
		if e.done[t] {
			x[2+t] = 1
		}
		mask[2*t], mask[2*t+1] = !e.done[t], !e.done[t]
	}
	mask[4] = false
}

func (e *twoTasks) Step(action int) (float32, bool) {
	t := action / 2
	if action > 3 || e.done[t] {
		*e.illegal++
		return 0, true
	}
	before := max(e.free[0], e.free[1])
	e.done[t] = true
	if action%2 == 0 {
		k := 0
		if e.free[1] < e.free[0] {
			k = 1
		}
		e.free[k] += 3
	} else {
		seconds := float32(2)
		if e.scales[t] {
			seconds = 1
		}
		e.free[0] = before + seconds
		e.free[1] = e.free[0]
	}
	reward := before - max(e.free[0], e.free[1])
	if e.reward != nil {
		reward = e.reward(reward)
	}
	return reward, e.done[0] && e.done[1]
}

func config() ppo.Config {
	return ppo.Config{
		Envs: 16, Horizon: 16, Minibatch: 64, Epochs: 4, TotalSteps: 20_000,
		LearningRate: learn.Anneal{{Until: 1, From: 1e-2, To: 0}},
		Entropy:      learn.Anneal{{Until: 0.85, From: 0.2, To: 0}},
		Gamma:        0.99, Clip: 0.2, Shards: 4,
	}
}

func network(inputs, hidden int, seed uint64) *nn.ActorCritic {
	return nn.NewActorCritic(inputs, []int{hidden}, 5, nn.Portable(), rand.New(rand.NewPCG(seed, 0)))
}

func trainer(t testing.TB, cfg ppo.Config, seed uint64) (*ppo.Trainer, *nn.ActorCritic, *int) {
	t.Helper()
	illegal := new(int)
	policy := network(6, 16, seed)
	tr := ppo.New(cfg, policy, func() env.Env { return &twoTasks{illegal: illegal} }, seed)
	return tr, policy, illegal
}

func iterate(t testing.TB, tr *ppo.Trainer, n, workers int) learn.Stats {
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

// The optimum is 3 and 2, each in half of the episodes.
func TestReachesTheOptimum(t *testing.T) {
	for seed := range uint64(deep.N(1, 3)) {
		tr, _, illegal := trainer(t, config(), seed)
		last := iterate(t, tr, 80, 1)
		if last.Return < -2.62 || last.Steps != 80*256 {
			t.Errorf("seed %d: %+v, want a return of about -2.5", seed, last)
		}
		if *illegal > 0 {
			t.Errorf("seed %d: %d masked actions taken", seed, *illegal)
		}
	}
}

func TestDivergence(t *testing.T) {
	for name, bad := range map[string]float32{"NaN": float32(math.NaN()), "Inf": float32(math.Inf(1)), "overflow": math.MaxFloat32} {
		t.Run(name, func(t *testing.T) {
			cfg, policy, steps, illegal := config(), network(6, 16, 1), 0, 0
			tr := ppo.New(cfg, policy, func() env.Env {
				return &twoTasks{illegal: &illegal, reward: func(r float32) float32 {
					if steps++; steps > 300 {
						return bad
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
			for range 3 { // and remains so
				if _, err := tr.Iterate(context.Background(), 1); !errors.As(err, &diverged) || diverged.Steps != 512 {
					t.Fatalf("error %v, want a learn.DivergedError at step 512", err)
				}
			}
			t.Log(diverged)
			if err := tr.Save(&bytes.Buffer{}, ""); !errors.As(err, &diverged) {
				t.Errorf("saving what diverged: error %v", err)
			}
			if _, err := tr.Load(&saved); err != nil || !slices.Equal(good, policy.Parameters()) {
				t.Errorf("the last checkpoint is not restored: %v", err)
			}
		})
	}
}

// TestUpdates counts the gradients of three iterations, which more than two iterations' steps take.
func TestUpdates(t *testing.T) {
	c := config()
	tr, _, _ := trainer(t, c, 1)
	iterate(t, tr, 3, 1)
	if got := c.Updates(2*16*16 + 1); got != *tr.Counters[1] || got != 3*4*4 {
		t.Errorf("%d updates, and %d by the settings", *tr.Counters[1], got)
	}
}
