// Package dispatch holds the schedulers of the dispatch track: each puts the job of
// the earliest deadline on one of the free slices of a fleet with fixed partitions.
// There is no waiting and no pre-emption; [sim.Dispatch] has the rules.
//
// eft, largest-first, smallest-first and random are the heuristics of the deadline
// report (its 2.5.5 and Table 7; "Improved Implementation and Experimental
// Analysis", December 2025), the others our own.
//
// Of slices between which a rule does not choose, all take the first one, in the
// order of [sim.Queue.Slices], as the released code's argmin and argmax do. Late
// jobs and tardiness depend on sizes alone, but power is concave in the busy slices
// of a GPU, so that the energy depends on which GPU it is.
package dispatch
