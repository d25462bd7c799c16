// Package advise answers the questions of the operator of a MIG cluster about one trace of requests: the demand over
// time, the policy, the number of GPUs, the fixed geometry, the order in which a driver should list its devices, and
// what moving requests would gain.
//
// Requests that fit nowhere wait, as in [sim.RunWaiting], and the referee checks every simulation. A trace is a single
// instance. Its intervals come from blocks of time ([stats.BlockMean]), which are the same for all policies. All
// requests count, as in the bounds.
//
// A snapshot, all requests of one moment, has no waits. The only question about it is how many GPUs hold all its
// requests.
//
// A number of GPUs is bounded from both sides: a simulation shows that some number is enough, and a bound proves that
// every policy needs at least another number. Every simulation and search is a [work.Unit], so that a second call
// reuses it.
package advise
