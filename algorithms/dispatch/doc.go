// Package dispatch holds the schedulers of the dispatch track. Each chooses a free slice of a fleet with fixed
// partitions for the head, which is the job of the earliest deadline. A job may not wait for a better slice;
// [sim.Dispatch] has the rules. On a pre-emptive fleet they are the same, and the head may have run before.
//
// On the days of the dataset deadline/report, random takes its numbers from NumPy's stream, as the report's script
// does. Elsewhere they depend on the cell's seed.
//
// eft, largest-first, smallest-first and random are the heuristics of the deadline report (its 2.5.5 and Table 7;
// "Improved Implementation and Experimental Analysis", December 2025). The others are our own.
//
// If several slices are equally good, a rule takes the first in the order of [sim.Queue.Slices], as argmin and argmax
// of the released code do. The choice matters for the energy, because power is concave in the busy slices of a GPU:
// over 300 days EFT takes 2.487 in the report's unit with the first slice, 2.540 with the last and 2.529 with a random
// slice; Table 7 has 2.48. Lateness depends on sizes alone, and so on ties only if sizes tie, as 3 and 4 do for eft.
package dispatch
