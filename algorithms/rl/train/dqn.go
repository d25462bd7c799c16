package train

import (
	"fmt"

	"miglab/algorithms/rl/dqn"
	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
)

// dqnSegments is the number of segments of a run of DQN: each begins with an empty replay buffer. With 2 segments
// instead of 10, which keep transitions for longer, the runs we tried ended worse.
const dqnSegments = 10

// paperDQN returns the settings of DQN with Stable-Baselines3's proportions: 8 transitions are replayed for each
// new one, and exploration ends after a tenth of the steps.
func paperDQN(steps int64) dqn.Config {
	return dqn.Config{
		Envs: 16, Horizon: 64, GradientSteps: 1, Batch: 128,
		Buffer: 1 << 17, LearnStart: 1024, TargetEvery: 500, TotalSteps: steps,
		LearningRate: learn.Anneal{{Until: 1, From: 5e-4, To: 0}},
		Epsilon:      learn.Anneal{{Until: 0.1, From: 1, To: 0.05}},
		Gamma:        1, Shards: 2,
	}
}

func (p paperRun) setupDQN(
	k nn.Kernel, shape env.Shape, newEnv func() env.Env, score func(nn.Policy) (float64, error),
	steps int64, seed uint64,
) setup {
	network := func() nn.Policy {
		return nn.NewQNetwork(shape.Observation, p.hidden(), shape.Actions, false, k, newRand(seed))
	}
	policy := network()
	c := paperDQN(steps)
	return setup{
		policy: policy, learner: dqn.New(c, policy, network(), newEnv, seed), score: score, segments: dqnSegments,
		text: fmt.Sprintf("%s %s %+v", p.Workload, p.describe(), c),
	}
}
