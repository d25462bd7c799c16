package learn

import (
	"fmt"

	"miglab/algorithms/rl/train/curve"
)

// Stats holds the statistics of one iteration, without a score. Values that an algorithm does not have
// are 0. PolicyLoss is PPO's clipped surrogate. ValueLoss is the critic's mean squared error for PPO, and
// the Huber loss of action values for DQN.
type Stats struct {
	curve.Point
	// Episodes is the number of episodes that ended in this iteration. Return and Length are
	// their means, 0 without such an episode.
	Episodes int
}

// A DivergedError says that training produced a value that is not finite. The trainer then
// stops until it loads a checkpoint.
type DivergedError struct {
	Steps int64 // of all environments since training began
	What  string
	Value float64
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("training diverged at step %d: %s is %v, want a finite number; continue from the last "+
		"checkpoint with a lower learning rate",
		e.Steps, e.What, e.Value)
}

// Finite returns a *DivergedError for the first value that is not finite.
func Finite[F float32 | float64](steps int64, what string, values ...F) error {
	for _, v := range values {
		if v-v != 0 {
			return &DivergedError{steps, what, float64(v)}
		}
	}
	return nil
}

// ExplainedVariance returns the share of the variance of the actual values that the predictions explain.
func ExplainedVariance(predicted, actual []float32) float64 {
	var meanError, mean float64
	n := float64(len(actual))
	for i, a := range actual {
		mean += float64(a)
		meanError += float64(a) - float64(predicted[i])
	}
	mean, meanError = mean/n, meanError/n
	var varError, variance float64
	for i, a := range actual {
		off := float64(a) - mean
		variance += float64(off * off)
		off = float64(a) - float64(predicted[i]) - meanError
		varError += float64(off * off)
	}
	if variance == 0 {
		return 0
	}
	return 1 - varError/variance
}
