package dqn

import (
	"fmt"

	"miglab/algorithms/rl/internal/learn"
)

// Config holds the settings of DQN.
type Config struct {
	// An iteration is Horizon steps in each of Envs environments. Each step is followed by
	// GradientSteps updates from Batch transitions each.
	Envs, Horizon, GradientSteps, Batch int
	// Buffer is the number of transitions that are kept, a multiple of Envs. Updates begin
	// once it holds LearnStart transitions.
	Buffer, LearnStart int
	// TargetEvery is the number of updates between copies to the target network.
	TargetEvery int
	// TotalSteps is the number of steps of all environments to which LearningRate and
	// Epsilon are relative. Training may continue beyond it.
	TotalSteps int64
	// LearningRate is that of Adam. Epsilon is the probability of a uniformly drawn action.
	LearningRate, Epsilon learn.Anneal
	// Gamma discounts rewards by step.
	Gamma float64
	// Double says that the policy chooses the next action instead of the target network.
	Double bool
	// Shards is the number of parts into which environments and batches are split, at most
	// one for each environment. More workers than shards are of no use. Results depend on
	// the number of shards.
	Shards int
}

// maxNorm is the largest norm of gradients; larger ones are clipped.
const maxNorm = 10

func (c Config) check() error {
	switch {
	case c.Envs < 1 || c.Horizon < 1 || c.GradientSteps < 1 || c.Batch < 1 || c.TargetEvery < 1:
		return fmt.Errorf("dqn: %d environments, %d steps, %d updates of %d transitions, target every %d: "+
			"want at least 1 of each", c.Envs, c.Horizon, c.GradientSteps, c.Batch, c.TargetEvery)
	case c.Buffer < c.Envs || c.Buffer%c.Envs != 0:
		return fmt.Errorf("dqn: a buffer of %d transitions, want a multiple of the %d environments", c.Buffer, c.Envs)
	case c.LearnStart < 0 || c.LearnStart > c.Buffer:
		return fmt.Errorf("dqn: learning starts at %d transitions, want at most the buffer's %d",
			c.LearnStart, c.Buffer)
	case !(0 <= c.Gamma && c.Gamma <= 1):
		return fmt.Errorf("dqn: gamma %v, want 0 to 1", c.Gamma)
	}
	return c.Epsilon.Check("dqn: epsilon", 0, 1)
}
