package external

import (
	"fmt"

	"miglab/harness/algo"
)

// The kinds of errors of programs, besides [store.KindTimeout] for one that takes too long,
// [run.KindInfeasible] for one that declines and [run.KindInvalid] for what is no schedule
// of the instance.
const (
	// KindCrashed is a program that ended instead of answering.
	KindCrashed = "crashed"
	// KindProtocol is a program that said what the protocol does not allow, or nobody asked for.
	KindProtocol = "protocol"
)

// Error is what went wrong with a program.
type Error struct {
	// Program is the algorithm's ID.
	Program string
	Kind    string
	// Text completes the sentence "program ... ".
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s", e.Program, e.Text) }

// FailureKind implements [algo.Failure].
func (e *Error) FailureKind() string { return e.Kind }

var _ algo.Failure = (*Error)(nil)
