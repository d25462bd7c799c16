// Package bounds holds what makespans are compared with: lower bounds, each
// either proven in its doc comment or marked as only published, and exact optima
// of small batches.
//
//   - [Area]: the area of the tasks spread evenly over all slices (FAR 6.4). Proven.
//   - [LBound]: l_bound as published (DRL 5.2). It exceeds the optimum of some
//     batches; it is kept because the DRL paper's p_opt is defined by it.
//   - [Certified]: the largest of four terms that hold for every schedule that the
//     referee accepts, merges of instances included; [Prove] gives it with a [Witness]. Proven.
//   - [Exact]: the optimum over all schedules, merges of instances included, for few tasks;
//     for more the best schedule known, and what proves how good it is.
//   - [OptimumFree]: the optimum without reconfiguration costs, by branch and bound.
//
// The placement track has its own: [AcceptedAtMost] bounds how many requests of a stream
// without departures can be accepted. Proven.
//
// All other values are seconds. A proof is one in exact arithmetic: rounding adds a
// relative error of about the number of tasks times 1e-16, so a comparison with a
// makespan needs a tolerance.
//
// Algorithms do not import the package: what they prune with is their own. Package
// certificate verifies what it proves, with code of its own.
package bounds
