package train

import (
	"context"
	"fmt"
	"math/rand/v2"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/dqn"
	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/curve"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

const (
	// corunQueues is the dataset from which the hierarchical paper's agent learns: 20 queues
	// of the 18 seen programs (V-A2).
	corunQueues = "corun/training"
	// corunScored and corunWindows are the dataset and the number of windows for scoring
	// during training: other queues of the same programs.
	corunScored  = "corun/seen"
	corunWindows = 20
	// corunWeight is the weight of intermediate rewards relative to final ones.
	corunWeight = 0.05
	// corunSegments is the number of segments: each begins with an empty replay buffer.
	corunSegments = 5
)

func corunRecipe() *Recipe {
	return &Recipe{
		Name: agents.CorunName, Doc: "the hierarchical paper's agent, dueling double DQN on 20 queues of the seen programs",
		Tracks: []algo.Track{algo.TrackCorun}, Steps: 200_000, Seeds: []uint{1}, Shipped: true, Score: throughput,
		setup: corunSetup,
		meta: func(shipped nn.Policy, steps int64, seed uint64) nn.Meta {
			return nn.Meta{Agent: agents.CorunName, Network: shipped.String(), GPU: gpu().Name, Workload: corunQueues, Steps: uint64(steps), Seed: seed}
		},
	}
}

// corunSetup uses the paper's epsilon (V-A3). The paper prints no other setting; the rest
// is ours. The agent learns from random parts of the queues, of 2 to 12 jobs each, so that
// it also learns smaller windows and does not memorise the 20 queues.
func corunSetup(k nn.Kernel, steps int64, seed uint64) (setup, error) {
	windows, err := windowsOf(corunQueues, 0)
	if err != nil {
		return setup{}, err
	}
	source := func(rng *rand.Rand, buf []task.Program) []task.Program {
		buf = append(buf[:0], windows[rng.IntN(len(windows))].Jobs...)
		rng.Shuffle(len(buf), func(i, j int) { buf[i], buf[j] = buf[j], buf[i] })
		return buf[:2+rng.IntN(len(buf)-1)]
	}
	c := dqn.Config{
		Envs: 16, Horizon: 50, TrainEvery: 1, GradientSteps: 1, Batch: 64,
		Buffer: 1 << 16, LearnStart: 1024, TargetEvery: 500, TotalSteps: steps,
		LearningRate: learn.Anneal{{Until: 1, From: 5e-4, To: 5e-6}},
		Epsilon:      learn.Anneal{{Until: 0.5, From: 1, To: 0.01}},
		Gamma:        1, MaxNorm: 10, Double: true, Shards: 2,
	}
	policy, target := agents.NewCorunPolicy(k, newRand(seed)), agents.NewCorunPolicy(k, newRand(seed))
	model := windows[0].Model
	learner, err := dqn.New(c, policy, target, func() env.Env { return env.NewCorun(model, corunWeight, source) }, seed)
	if err != nil {
		return setup{}, err
	}
	scored, err := windowsOf(fmt.Sprintf("%s?seed=%d", corunScored, curve.Seed), corunWindows)
	return setup{
		policy: policy, learner: learner, score: func(p nn.Policy) (float64, error) { return meanThroughput(p, scored) },
		perIteration: int64(c.Envs * c.Horizon), segments: corunSegments,
		text: fmt.Sprintf("%s %+v weight %v %+v", corunQueues, model, corunWeight, c),
	}, err
}

// windowsOf returns the first n windows of a dataset of the co-run track, or all for 0.
func windowsOf(dataset string, n int) ([]corun.Window, error) {
	spec, err := datasets.Parse(dataset)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		n = spec.Instances()
	}
	out := make([]corun.Window, n)
	for i := range out {
		in, err := datasets.InstanceOf[corun.Window](spec, gpu(), i)
		if err != nil {
			return nil, err
		}
		out[i] = in
	}
	return out, nil
}

// meanThroughput lets a network plan windows, which the referee measures.
func meanThroughput(p nn.Policy, windows []corun.Window) (float64, error) {
	planner := agents.NewCorunPlanner(p.Share())
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
