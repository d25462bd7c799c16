// Package sim holds the deterministic event engines of the tracks whose problems
// unfold in time: a cluster on which MIG profiles are placed as they are requested
// (placement, MFI), and a queue of jobs with deadlines before partitioned GPUs
// (dispatch, deadline report).
//
// An engine owns the state and all arithmetic of time and metrics; a scheduler
// only chooses, through the one-method interface of its track, and is told nothing
// about the future.
package sim
