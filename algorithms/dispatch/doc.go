// Package dispatch holds the schedulers of the dispatch track: each puts the job of the earliest deadline on one of the
// free slices of a fleet with fixed partitions. There is no waiting; [sim.Dispatch] has the rules. The
// rules work alike on a pre-emptive fleet, on which the head is a job that starts or one that has run before.
//
// On the days of the dataset deadline/report, random takes its numbers from NumPy's stream, as
// the report's script does; elsewhere they depend on the cell's seed.
//
// eft, largest-first, smallest-first and random are the heuristics of the deadline report (its 2.5.5 and Table 7;
// "Improved Implementation and Experimental Analysis", December 2025). The others are our own.
//
// If several slices are equally good for a rule, the first one in the order of [sim.Queue.Slices] is taken, as argmin
// and argmax of the released code do. The choice matters for the energy, as power is concave in the busy slices of a
// GPU: over 300 days EFT takes 2.487 in the report's unit with the first slice, 2.540 with the last and 2.529 with a
// random one; Table 7 has 2.48. Which jobs are late depends on sizes alone, and so on ties only where sizes tie, as 3
// and 4 do for eft.
package dispatch
