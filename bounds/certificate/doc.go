// Package certificate verifies claims about the optimum of a batch: a schedule, and
// why none is shorter. It shares no code with the solvers and bounds that make the
// claims. What it recomputes it computes plainly, however long that takes, so that
// it is the package to read in order to trust a certified optimum; the referee of package
// schedule judges the schedule.
package certificate
