// Package bounds computes lower bounds on makespans, and exact optima of small batches.
// Each bound is either proven, in package certificate or its doc comment, or marked as only published.
//
//   - [Area]: the area of the tasks spread evenly over all slices (FAR 6.4). Proven.
//   - [LBound]: l_bound as published (DRL 5.2), the base of p_opt. It exceeds the optimum of some batches.
//   - [Certified]: the largest of four terms that hold for every schedule that the referee accepts, including schedules
//     that merge instances; [Prove] also returns a [Witness]. Proven.
//   - [Exact]: for few tasks, the optimum over all schedules, including those that merge instances. For more tasks, the
//     best known schedule and a bound on its gap.
//   - [OptimumFree]: the optimum without reconfiguration costs, by branch and bound.
//
// For the placement track, [ProveOffline] bounds the number of requests of a stream that can be accepted, and
// [WaitingAtLeast] the turnaround of requests that wait. Proven.
//
// All other values are seconds. They are rounded; package certificate verifies witnesses exactly and with code of its
// own, and [certificate.Exceeds] compares a bound with a makespan.
//
// Schedulers do not import this package; they prune with bounds of their own.
package bounds
