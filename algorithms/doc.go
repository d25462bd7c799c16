// Package algorithms holds the schedulers of the batch and stream tracks, a file
// each. Every file registers what it defines; importing the package for that
// effect is all a program needs.
//
// A scheduler decides a plan: which instances are used, in which order, by which
// tasks. What the plan takes, reconfigurations included, is worked out in one
// place for all of them (timeline.go), so that no scheduler gets better terms
// than another.
package algorithms
