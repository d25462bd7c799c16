package schedule

import (
	"errors"
	"fmt"
	"strings"

	"miglab/harness/nearest"
)

// Kind is a rule that a schedule can break, in words.
type Kind string

// The rules of [Check].
const (
	// BadProblem: the problem itself is impossible. No schedule is valid.
	BadProblem Kind = "bad problem"
	// WrongGPU: the schedule is for another GPU model than the problem.
	WrongGPU Kind = "wrong GPU"
	// WrongModel: the schedule follows another reconfiguration model than the problem.
	WrongModel Kind = "wrong reconfiguration model"
	// UnknownTask: a placement's task index is not one of the problem's.
	UnknownTask Kind = "unknown task"
	// MissingTask: a task is never run.
	MissingTask Kind = "missing task"
	// RepeatedTask: a task is run more than once, although tasks cannot be stopped.
	RepeatedTask Kind = "repeated task"
	// BadTime: a time is NaN, infinite or negative, or an end lies before its start.
	BadTime Kind = "bad time"
	// UnknownGPU: a GPU index is not one of the problem's.
	UnknownGPU Kind = "unknown GPU"
	// BadInstance: a profile is not one of the GPU's, or cannot start at that slice.
	BadInstance Kind = "bad instance"
	// UnknownOp: an operation is neither a create nor a destroy.
	UnknownOp Kind = "unknown operation"
	// DoesNotFit: a task is run on instances of a size that it does not fit.
	DoesNotFit Kind = "task does not fit"
	// WrongDuration: a run is not as long as the task, or its remaining work, takes on that size.
	WrongDuration Kind = "wrong duration"
	// EarlyRestart: a stopped task continues too early.
	EarlyRestart Kind = "restart too early"
	// BeforeRelease: a task starts before its release.
	BeforeRelease Kind = "start before release"
	// NoInstance: a task's instance does not exist during the whole run (FAR 2.2, constraint 1).
	NoInstance Kind = "no instance"
	// TaskOverlap: two tasks use a memory slice at the same time.
	TaskOverlap Kind = "tasks overlap"
	// InvalidPartition: two instances that exist, are being created or are being
	// destroyed at the same time share a memory slice (FAR 2.2, constraint 2).
	InvalidPartition Kind = "invalid partition"
	// TooManyInstances: more instances of a profile exist than the GPU can hold.
	TooManyInstances Kind = "too many instances"
	// AlreadyExists: an instance is created that exists.
	AlreadyExists Kind = "instance exists already"
	// NotExisting: an instance is destroyed that does not exist, or not yet.
	NotExisting Kind = "instance does not exist"
	// StillBusy: an instance of the start partition is destroyed before it is idle.
	StillBusy Kind = "instance is busy"
	// WrongCost: an operation does not take the time that the reconfiguration model says.
	WrongCost Kind = "wrong reconfiguration time"
	// OperationOverlap: two operations run on one GPU at the same time under [mig.Sequential] (FAR 2.2, constraint 3).
	OperationOverlap Kind = "operations overlap"
	// TooMuchWork: the utilisation is over 1.
	TooMuchWork Kind = "too much work"
)

// A Violation is one broken rule.
type Violation struct {
	Kind   Kind
	Detail string // names the place, the value found and the correct value
}

func (v Violation) Error() string { return string(v.Kind) + ": " + v.Detail }

// InvalidError says that a schedule was not measured because it breaks rules.
type InvalidError struct {
	Algorithm  string      // the ID of the algorithm that made the schedule
	Violations []Violation // the result of [Check]; it is not empty
}

// List returns an error with all violations, a line each, after a line that says which schedule breaks the rules.
func (e *InvalidError) List(which string) error {
	text := fmt.Sprintf("%s breaks the rules %d times", which, len(e.Violations))
	if len(e.Violations) == 1 {
		text = strings.TrimSuffix(text, "s")
	}
	lines := append([]string{text}, nearest.Names(e.Violations, Violation.Error)...)
	return errors.New(strings.Join(lines, "\n"))
}

// shown is the largest number of violations in an error's text.
const shown = 5

func (e *InvalidError) Error() string {
	text := nearest.Names(e.Violations[:min(shown, len(e.Violations))], Violation.Error)
	more := len(e.Violations) - shown
	if more > 0 {
		text = append(text, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("invalid schedule of %q: %s", e.Algorithm, strings.Join(text, "; "))
}
