// Package advise answers the questions of the operator of a MIG cluster about one trace of requests: the demand over
// time, the policy, the number of GPUs, the fixed geometry, the order in which a driver should list its devices, and
// what moving requests would gain.
//
// Requests that fit nowhere wait, as in [sim.RunWaiting], and the referee checks every simulation. A trace is a single
// instance. Its intervals come from blocks of time: [stats.BlockMean] draws them, with the same blocks for all
// policies. All requests count, as in the bounds.
//
// A snapshot has neither waits nor a time: it is only asked how many GPUs hold all its requests at once.
//
// A number of GPUs is bounded from both sides: a simulation shows that some number is enough, and a bound proves that
// every policy needs at least another number. Every simulation and search is a [work.Unit], so that a second call
// reuses it.
package advise
