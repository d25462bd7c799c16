// Package dqn trains action values by deep Q-learning with masked actions: uniform replay, a target network, the Huber
// loss, and epsilon-greedy exploration among the allowed actions. With Config.Double the policy chooses the next action
// and the target network gives its value. A dueling network is a kind of network, not of training: see
// [miglab/algorithms/rl/nn.QNetwork].
//
// In an [miglab/algorithms/rl/env.Chooser] the agent values every candidate of a decision. The best one is found when
// the decision is made and kept with the transition. Updates do not look for another one: they
// value the kept candidate again, with the current networks.
//
// Training is deterministic and split into segments as in package ppo. The replay buffer is too large for a checkpoint.
// So each segment begins with an empty one, whether or not training was interrupted there; see [Trainer.Restart].
//
// Sources: Mnih et al., "Human-level control through deep reinforcement learning", Nature 518 (2015); van Hasselt, Guez
// and Silver, "Deep reinforcement learning with double Q-learning", AAAI (2016).
package dqn
