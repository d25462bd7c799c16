// Package algorithms holds the schedulers of the batch and stream tracks. Each scheduler registers itself; a program
// only has to import the package. Files without a registration hold parts of schedulers.
//
// Most schedulers make a plan, which package plan times. Some decide at every event of a stream and may move tasks.
// They record their times as they go (preemptor.go), with the same durations of operations.
//
// While they search, some schedulers estimate times: phase 2 of FAR (repartition.go), MISO and FIXPART do so as in
// their papers. No schedule contains such an estimate.
package algorithms
