// Package dqn trains action values by deep Q-learning with masked actions: uniform
// replay, a target network, the Huber loss, and epsilon-greedy exploration among
// the allowed actions. With Config.Double the policy chooses the action whose value
// the target network tells. A dueling network is a kind of network, not of
// training: see [miglab/algorithms/rl/nn.QNetwork].
//
// It is deterministic and cut into segments as package ppo is. The replay buffer is
// too large for a checkpoint, so each segment begins with an empty one, whether or
// not training was interrupted there; see [Trainer.Restart].
//
// Sources: Mnih et al., "Human-level control through deep reinforcement learning",
// Nature 518 (2015); van Hasselt, Guez and Silver, "Deep reinforcement learning with
// double Q-learning", AAAI (2016).
package dqn
