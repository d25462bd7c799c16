// Package bounds computes lower bounds on makespans, and exact optima of small batches.
// Each bound is either proven, in package certificate or its doc comment, or marked as only published.
//
//   - [Area]: the area of the tasks spread evenly over all slices (FAR 6.4). Proven.
//   - [LBound]: l_bound as published (DRL 5.2). It exceeds the optimum of some batches.
//     The DRL paper's p_opt is defined by it.
//   - [Certified]: the largest of four terms that hold for every schedule that the referee accepts, including schedules
//     that merge instances; [Prove] also returns a [Witness]. Proven.
//   - [Exact]: the optimum over all schedules, including those that merge instances, for
//     few tasks. For more tasks, the best known schedule and a bound on its gap.
//   - [OptimumFree]: the optimum without reconfiguration costs, by branch and bound.
//
// For the placement track, [ProveOffline] bounds how many requests of a stream can be accepted. Proven.
//
// All other values are seconds. A bound is rounded; what is proven of it is in package certificate, which verifies
// witnesses exactly and with code of its own. [certificate.Exceeds] compares a bound with a makespan.
//
// Algorithms do not import this package; they have bounds of their own for pruning.
package bounds
