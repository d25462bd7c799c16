// Package sim holds the deterministic event engines of the tracks in which requests arrive over time: a cluster on
// which MIG profiles are placed as they are requested (placement, MFI), and a queue of jobs with deadlines that wait
// for partitioned GPUs (dispatch, deadline report).
//
// An engine owns the state and computes all times and metrics. A scheduler only makes choices, through the one-method
// interface of its track, and does not know the future. A scheduler that can also move running workloads is a [Mover].
// An engine refuses an impossible choice with a [*ChoiceError], and impossible requests or jobs with an error.
package sim
