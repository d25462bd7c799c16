package ppo

import "miglab/algorithms/rl/internal/learn"

// Config holds the settings of PPO. They come from a recipe of the program, and are not checked.
type Config struct {
	// An iteration is Horizon steps in each of Envs environments, and then Epochs passes over them in minibatches of
	// Minibatch steps, which must divide Envs x Horizon.
	Envs, Horizon, Minibatch, Epochs int
	// TotalSteps is the number of steps of all environments to which LearningRate and
	// Entropy are relative. Training may continue beyond it.
	TotalSteps int64
	// LearningRate is the rate of Adam. Entropy is the coefficient of the entropy bonus.
	LearningRate, Entropy learn.Anneal
	Gamma                 float64 // discounts rewards by step
	// Clip is the largest difference from 1 at which the ratio of new to old probability still improves the loss.
	Clip float64
	// Shards is the number of parts into which environments and minibatches are split, at most one for each
	// environment. More workers than shards are of no use. Results depend on the number of shards.
	Shards int
}

// Updates is the number of gradient steps of a training of so many steps in the environments. It ends with a whole
// iteration.
func (c Config) Updates(steps int64) int64 {
	length := int64(c.Envs * c.Horizon)
	iterations := (steps + length - 1) / length
	return iterations * int64(c.Epochs) * (length / int64(c.Minibatch))
}

// These are the defaults of Stable-Baselines3.
const (
	lambda           = 0.95 // discounts later temporal differences in GAE, in addition to Gamma
	valueCoefficient = 0.5  // weights the critic's squared error
	maxNorm          = 0.5  // of gradients; larger ones are clipped
)
