// Package dispatch holds the schedulers of the dispatch track. Each chooses a free slice of a fleet with fixed
// partitions for the head, which is the job of the earliest deadline. A job may not wait for a better slice;
// [sim.Dispatch] has the rules. The same schedulers serve a pre-emptive fleet, where the head may have run before.
//
// On the days of the dataset deadline/report, random takes its numbers from NumPy's stream, as the report's script
// does. Elsewhere they depend on the cell's seed.
//
// eft and eft-true (two readings of EFT), largest-first, smallest-first and random are the heuristics of the deadline
// report (its 2.5.5 and Table 7; "Improved Implementation and Experimental Analysis", December 2025). energy-aware,
// least-slack and look-ahead are our own.
//
// Several slices may be equally good. eft, eft-true, largest-first, smallest-first and least-slack take the first of
// them in the order of [sim.Queue.Slices], as argmin and argmax of the released code do. energy-aware compares the
// power first. look-ahead prefers the smallest size, and takes the first slice of that size.
//
// Ties matter for the energy, because power is concave in the busy slices of a GPU. On 300 days of deadline/relaxed,
// eft takes 2.487 million watt-minutes with the first slice, 2.540 with the last and 2.529 with a random slice;
// Table 7 has 2.48. Lateness depends on sizes alone. So it depends on ties only if sizes tie, as 1 and 2, and 3 and 4,
// do for eft.
package dispatch
