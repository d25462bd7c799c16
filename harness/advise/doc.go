// Package advise answers what the operator of a MIG cluster asks of one trace: what it asks for, which policy, how many
// GPUs, which fixed geometry, and in which order a driver should list its devices.
//
// Requests that fit nowhere wait, as in [sim.RunWaiting], and the referee checks every simulation. A trace is a single
// instance. Its intervals come from blocks of time: [stats.BlockMean] draws them, with the same blocks for all
// policies. All requests count, as in the bounds.
//
// Numbers of GPUs have two ends. A simulation shows that so many are enough, and a bound proves that no policy does
// with fewer than so many. Every simulation and search is a [work.Unit], so that a second call computes nothing.
package advise
