package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/dqn"
	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/train/curve"
	"miglab/datasets"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

const (
	// corunScored and corunWindows are the dataset and the number of windows for scoring during training.
	corunScored   = "corun/drawn"
	corunWindows  = 20
	corunWide     = 0.25  // the share of programs without the limits of their class
	corunWeight   = 0.005 // the weight of intermediate rewards relative to final ones
	corunSegments = 10    // the number of segments: each begins with an empty replay buffer
)

// corunRecipes lists the hierarchical paper's agent and ours. The paper trains on 20 queues of its
// 18 seen programs. Both agents learn from programs that are drawn for each window and never seen
// again, since the paper's programs are not public.
func corunRecipes() (out []*Recipe) {
	for i := range agents.CorunAgents {
		a := &agents.CorunAgents[i]
		out = append(out, &Recipe{
			Name: a.Name, Doc: a.Doc, Steps: a.Steps, Seeds: firstSeeds(3),
			Learner: "dueling double DQN, ours", Updates: corunConfig(a.Steps).Updates(a.Steps, a.Steps/corunSegments),
			Shipped: 3, Score: throughput,
			setup: func(k nn.Kernel, steps int64, seed uint64) (setup, error) {
				return corunSetup(a, k, steps, seed)
			},
			meta: nn.Meta{GPU: gpu().Name, Workload: corunScored},
		})
	}
	return out
}

// corunConfig uses the paper's epsilon (V-A3). The paper prints no other setting; the rest is ours.
func corunConfig(steps int64) dqn.Config {
	return dqn.Config{
		Envs: 16, Horizon: 50, GradientSteps: 2, Batch: 64,
		Buffer: 1 << 16, LearnStart: 1024, TargetEvery: 200, TotalSteps: steps,
		LearningRate: learn.Anneal{{Until: 1, From: 1e-3, To: 5e-6}},
		Epsilon:      learn.Anneal{{Until: 0.1, From: 1, To: 0.01}},
		Gamma:        1, Double: true, Shards: 2,
	}
}

func corunSetup(a *agents.CorunAgent, k nn.Kernel, steps int64, seed uint64) (setup, error) {
	scored, err := loadInstances[corun.Window](gpu(), fmt.Sprintf("%s?seed=%d", corunScored, curve.Seed), corunWindows)
	if err != nil {
		return setup{}, err
	}
	source := func(rng *rand.Rand, buf []task.Program) []task.Program {
		buf = slices.Grow(buf[:0], env.WindowSize)[:env.WindowSize]
		datasets.DrawWindow(rng, buf, corunWide)
		return buf
	}
	c := corunConfig(steps)
	policy, target := a.NewPolicy(k, newRand(seed)), a.NewPolicy(k, newRand(seed))
	model := scored[0].Model
	learner := dqn.New(c, policy, target, func() env.Env {
		return env.NewCorun(model, corunWeight, a.Prospects, source)
	}, seed)
	return setup{
		policy: policy, learner: learner, score: func(p nn.Policy) (float64, error) {
			return meanThroughput(a, p, scored)
		},
		segments: corunSegments,
		text:     fmt.Sprintf("programs drawn anew, wide %v, %+v weight %v %+v", corunWide, model, corunWeight, c),
	}, nil
}

// meanThroughput lets a network plan windows, which the referee measures.
func meanThroughput(a *agents.CorunAgent, p nn.Policy, windows []corun.Window) (float64, error) {
	planner := a.NewPlanner(p.Share())
	sum := 0.0
	for _, w := range windows {
		plan, err := planner.Plan(context.Background(), w)
		if err != nil {
			return 0, err
		}
		r, err := corun.Measure(w, plan)
		if err != nil {
			return 0, err
		}
		sum += r.Throughput()
	}
	return sum / float64(len(windows)), nil
}
