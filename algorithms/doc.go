// Package algorithms holds the schedulers of the batch and stream tracks, one file each. Every file registers what it
// defines; a program only has to import the package.
//
// A scheduler decides a plan: which instances are used, in which order and by which tasks. One engine times all plans,
// reconfigurations included (clock.go), so that no scheduler has better terms than another. Schedulers estimate times
// of their own while they search: phase 2 of FAR (repartition.go), MISO and FIXPART follow their papers, and treedp and
// lns compare sets of tasks in a model without some waits (subsets.go). No schedule contains such an estimate.
package algorithms
