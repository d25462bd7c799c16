package bounds

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// The kinds of [Witness], by the argument that proves the bound.
const (
	// KindArea is the occupied area with what reconfiguring and idling add.
	KindArea = "area"
	// KindLongestTask is the task that ends last when each runs at once where it ends first.
	KindLongestTask = "longest-task"
	// KindSliceWeights is a dual solution of the configuration linear program.
	KindSliceWeights = "slice-weights"
	// KindChains is the least over all assignments of what the slices have to do one after the other.
	KindChains = "chains"
	// KindSearch is an exhaustive search.
	KindSearch = "search"
)

// A Witness says why no schedule is faster than a bound.
type Witness struct {
	// Kind is the argument.
	Kind string `json:"kind"`
	// Bound is what it proves.
	Bound mig.Seconds `json:"bound_s"`
	// Threshold, of slice weights, leaves out the options that end then or later when
	// they start as early as they can; 0 leaves out none.
	Threshold mig.Seconds `json:"threshold_s,omitempty"`
	// Weights, of slice weights, has one weight a compute slice, by position.
	Weights []float64 `json:"weights,omitempty"`
}

// Prove returns the best lower bound on the makespan of every schedule that the
// referee accepts, with its witness. atMost is the makespan of a known schedule,
// +Inf where none is known: the terms look no further, so the bound exceeds it by
// no more than rounding.
//
// The error says what is wrong with the tasks (see [task.Batch.Validate]).
func Prove(p algo.Problem, atMost mig.Seconds) (Witness, error) {
	bound, err := Certified(p)
	return Witness{Kind: KindArea, Bound: bound}, err
}
