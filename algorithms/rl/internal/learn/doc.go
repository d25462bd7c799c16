// Package learn holds the parts that the trainers of packages ppo and dqn share:
// environments in fixed shards with their own random streams, a step of gradient descent,
// values that change during training, statistics, and checkpoints.
package learn
