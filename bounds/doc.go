// Package bounds computes lower bounds on makespans, energies and waits, upper bounds on accepted requests, and exact
// optima of small batches. Each is proven, in package certificate or in its doc comment, or marked as only published.
//
//   - [Area]: the area of the tasks spread evenly over all slices (FAR 6.4). Proven.
//   - [LBound]: l_bound as published (DRL 5.2), the base of p_opt. It exceeds the optimum of some batches.
//   - [Certified]: the largest of four terms that hold for every schedule that the referee accepts, including schedules
//     that merge instances; [Prove] also returns a [Witness]. Proven.
//   - [EnergyAtLeast]: the least energy of any schedule. Proven up to rounding.
//   - [Exact]: for few tasks, the optimum over all schedules, including those that merge instances. For more tasks, the
//     best known schedule and a bound on its gap. [Best] also searches for the schedule.
//   - [OptimumFree]: the optimum without reconfiguration costs, by branch and bound.
//
// For the placement track, [ProveOffline] bounds the number of requests of a stream that can be accepted. Where
// requests wait, [TurnaroundAtLeast] bounds their turnaround, [WaitAtLeast] their waits and [LateAtLeast] the number of
// late ones. Proven.
//
// Bounds are rounded numbers of seconds, joules, slots or requests. Package certificate verifies witnesses exactly and
// with code of its own, and [certificate.Exceeds] compares a bound with a makespan.
//
// Schedulers do not import this package; they prune with bounds of their own.
package bounds
