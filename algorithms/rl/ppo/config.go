package ppo

import (
	"fmt"
	"math"

	"miglab/algorithms/rl/internal/learn"
)

// Config holds the settings of PPO.
type Config struct {
	// An iteration is Horizon steps in each of Envs environments, and then Epochs
	// passes over them in minibatches of Minibatch steps, which must divide
	// Envs x Horizon.
	Envs, Horizon, Minibatch, Epochs int
	// TotalSteps is the number of steps of all environments to which LearningRate and
	// Entropy are relative. Training may continue beyond it.
	TotalSteps int64
	// LearningRate is that of Adam. Entropy is the coefficient of the entropy bonus.
	LearningRate, Entropy learn.Anneal
	// Gamma discounts rewards by step.
	Gamma float64
	// Clip is the largest difference from 1 at which the ratio of new to old probability
	// still improves the loss.
	Clip float64
	// Shards is the number of parts into which environments and minibatches are split, at
	// most one for each environment. More workers than shards are of no use. Results depend
	// on the number of shards.
	Shards int
}

// These are the defaults of Stable-Baselines3.
const (
	lambda           = 0.95 // discounts rewards beyond the first in GAE, in addition to Gamma
	valueCoefficient = 0.5  // weights the critic's squared error
	maxNorm          = 0.5  // of gradients; larger ones are clipped
)

func (c Config) check() error {
	switch n := c.Envs * c.Horizon; {
	case c.Horizon < 1 || c.Epochs < 1:
		return fmt.Errorf("ppo: %d steps, %d epochs: want at least 1 of each", c.Horizon, c.Epochs)
	case c.Minibatch < 2 || n%c.Minibatch != 0:
		return fmt.Errorf("ppo: minibatch of %d steps, want 2 or more that divide %d environments x %d steps = %d",
			c.Minibatch, c.Envs, c.Horizon, n)
	case !(0 <= c.Gamma && c.Gamma <= 1) || !(c.Clip > 0):
		return fmt.Errorf("ppo: gamma %v, clip %v: want 0 to 1, more than 0", c.Gamma, c.Clip)
	}
	return c.Entropy.Check("ppo: entropy coefficient", 0, math.MaxFloat32)
}
