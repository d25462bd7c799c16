// Package certificate verifies claims about the optimum of a batch, and about how many requests a
// cluster can accept. A [Certificate] holds a schedule and a witness, which says why no schedule is
// shorter. The referee of package schedule judges the schedule. An [Acceptance] holds prices. The package shares no
// code with the solvers and bounds that make the claims. It computes in the plainest way, however long that takes:
// whoever wants to trust a certified optimum needs to read only this package.
package certificate
