// Package algorithms holds the schedulers of the batch and stream tracks. Each scheduler registers itself; a program
// only has to import the package. Files without a registration hold parts of schedulers.
//
// A scheduler decides on a plan: the instances, their order and the tasks that each of them runs. A clock (clock.go)
// times the plans of most schedulers, reconfigurations included, so that no scheduler is timed more favourably than
// another. Some schedulers decide at every event of a stream and may move tasks. They record their times as they go
// (preemptor.go), with the same durations of operations.
//
// While they search, some schedulers estimate times. Phase 2 of FAR (repartition.go), MISO and FIXPART do so as in
// their papers; treedp and lns compare sets of tasks in a model without some waits (subsets.go). No schedule contains
// such an estimate.
package algorithms
