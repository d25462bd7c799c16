// Package ppo trains a policy by proximal policy optimisation with masked actions:
// clipped surrogate, generalised advantage estimation (GAE), entropy bonus, and Adam
// on minibatches, as in MaskablePPO of sb3-contrib, which the DRL paper used.
//
// For one seed, every iteration gives the same bits for any number of workers: environments and minibatches are split
// into a fixed number of shards, and the gradients of the shards are added in order. An interrupted training gives the
// same result, too, because training is split into segments and each segment restarts all environments; see
// [Trainer.Restart].
//
// Sources: Schulman et al., "Proximal policy optimization algorithms", arXiv:1707.06347 (2017); Schulman et al.,
// "High-dimensional continuous control using generalized advantage estimation", ICLR (2016); Huang and Ontañón, "A
// closer look at invalid action masking in policy gradient algorithms", FLAIRS (2022).
package ppo
