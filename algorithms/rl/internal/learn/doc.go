// Package learn is what the trainers of packages ppo and dqn have in common:
// environments in fixed shards with random streams of their own, values that change
// as training proceeds, statistics, and checkpoints.
package learn
