// Package ppo trains a policy by proximal policy optimisation with masked actions:
// clipped surrogate, generalised advantage estimation (GAE), entropy bonus, and Adam
// on minibatches, as MaskablePPO of sb3-contrib does it, which the DRL paper used.
//
// For one seed every iteration gives the same bits however many workers compute
// it: environments and minibatches are split into a fixed number of shards, whose
// gradients are added in order. What was trained is reproduced after an
// interruption as well, because training is cut into segments, each of which begins
// all environments anew; see [Trainer.Restart].
//
// Sources: Schulman et al., "Proximal policy optimization algorithms",
// arXiv:1707.06347 (2017); Schulman et al., "High-dimensional continuous control
// using generalized advantage estimation", ICLR (2016); Huang and Ontañón, "A closer
// look at invalid action masking in policy gradient algorithms", FLAIRS (2022).
package ppo
