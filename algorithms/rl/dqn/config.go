package dqn

import "miglab/algorithms/rl/internal/learn"

// Config holds the settings of DQN. They come from a recipe of the program, and are not checked.
type Config struct {
	// An iteration is Horizon steps in each of Envs environments. Each step is followed by
	// GradientSteps updates from Batch transitions each.
	Envs, Horizon, GradientSteps, Batch int
	// Buffer is the number of transitions that are kept, a multiple of Envs. Updates begin
	// once it holds LearnStart transitions.
	Buffer, LearnStart int
	TargetEvery        int // the number of updates between copies to the target network
	// TotalSteps is the number of steps of all environments to which LearningRate and
	// Epsilon are relative. Training may continue beyond it.
	TotalSteps int64
	// LearningRate is the rate of Adam. Epsilon is the probability of a uniformly drawn action.
	LearningRate, Epsilon learn.Anneal
	Gamma                 float64 // discounts rewards by step
	Double                bool    // the policy chooses the next action instead of the target network
	// Shards is the number of parts into which environments and batches are split, at most one for each environment.
	// More workers than shards are of no use. Results depend on the number of shards.
	Shards int
}

// Updates is the number of gradient steps of a training of so many steps in the environments, in segments of at most
// perSegment. It ends with a whole iteration. Each segment first fills its replay buffer.
func (c Config) Updates(steps, perSegment int64) int64 {
	length := int64(c.Envs * c.Horizon)
	iterations := (steps + length - 1) / length
	most := max(1, perSegment/length)
	segments := (iterations + most - 1) / most
	filling := int64((c.LearnStart+c.Envs-1)/c.Envs - 1)
	return (iterations*int64(c.Horizon) - segments*filling) * int64(c.GradientSteps)
}

// maxNorm is the largest norm of gradients; larger ones are clipped.
const maxNorm = 10
