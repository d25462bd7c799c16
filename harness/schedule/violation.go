package schedule

import (
	"fmt"
	"strings"
)

// Kind is a rule that a schedule can break.
type Kind uint8

// The rules of [Check].
const (
	// BadProblem: the problem itself makes no sense. No schedule is valid.
	BadProblem Kind = iota
	// WrongGPU: the schedule is for another GPU model than the problem.
	WrongGPU
	// WrongModel: the schedule follows another reconfiguration model than the problem.
	WrongModel
	// UnknownTask: a placement's task index is not one of the problem's.
	UnknownTask
	// MissingTask: a task is never run.
	MissingTask
	// RepeatedTask: a task is run more than once.
	RepeatedTask
	// BadTime: a time is NaN, infinite or negative, or an end lies before its start.
	BadTime
	// UnknownGPU: a GPU index is not one of the problem's.
	UnknownGPU
	// BadInstance: a profile is not one of the GPU's, or cannot start at that slice.
	BadInstance
	// UnknownOp: an operation is neither a create nor a destroy.
	UnknownOp
	// DoesNotFit: a task is run on instances of a size that it does not fit.
	DoesNotFit
	// WrongDuration: a run is not as long as the task takes on that size.
	WrongDuration
	// BeforeRelease: a task starts before its release.
	BeforeRelease
	// NoInstance: a task's instance does not exist during the whole run (FAR 2.2, constraint 1).
	NoInstance
	// TaskOverlap: two tasks use a memory slice at the same time.
	TaskOverlap
	// InvalidPartition: two instances that exist, are being created or are being
	// destroyed at the same time share a memory slice (FAR 2.2, constraint 2).
	InvalidPartition
	// TooManyInstances: more instances of a profile exist than the GPU can hold.
	TooManyInstances
	// AlreadyExists: an instance is created that exists.
	AlreadyExists
	// NotExisting: an instance is destroyed that does not exist, or not yet.
	NotExisting
	// StillBusy: an instance of the start partition is destroyed before it is idle.
	StillBusy
	// WrongCost: an operation does not take what the reconfiguration model says.
	WrongCost
	// OperationOverlap: two operations run on one GPU at the same time under
	// [mig.Sequential] (FAR 2.2, constraint 3).
	OperationOverlap
	// TooMuchWork: the utilisation is over 1.
	TooMuchWork
)

var kindNames = [...]string{
	BadProblem: "bad problem", WrongGPU: "wrong GPU", WrongModel: "wrong reconfiguration model",
	UnknownTask: "unknown task", MissingTask: "missing task", RepeatedTask: "repeated task",
	BadTime: "bad time", UnknownGPU: "unknown GPU", BadInstance: "bad instance", UnknownOp: "unknown operation",
	DoesNotFit: "task does not fit", WrongDuration: "wrong duration", BeforeRelease: "start before release",
	NoInstance: "no instance", TaskOverlap: "tasks overlap", InvalidPartition: "invalid partition",
	TooManyInstances: "too many instances", AlreadyExists: "instance exists already",
	NotExisting: "instance does not exist", StillBusy: "instance is busy",
	WrongCost: "wrong reconfiguration time", OperationOverlap: "operations overlap", TooMuchWork: "too much work",
}

// String returns the rule in words.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return fmt.Sprintf("violation %d", uint8(k))
	}
	return kindNames[k]
}

// A Violation is one thing that is wrong with a schedule.
type Violation struct {
	Kind Kind
	// Detail says where it is, what was found and what would be right.
	Detail string
}

func (v Violation) Error() string {
	return v.Kind.String() + ": " + v.Detail
}

// InvalidError says that a schedule was not measured since it breaks rules.
type InvalidError struct {
	// Algorithm is what made the schedule.
	Algorithm string
	// Violations lists what [Check] found; it is not empty.
	Violations []Violation
}

// shown is the number of violations that an error's text lists at most.
const shown = 5

func (e *InvalidError) Error() string {
	var text []string
	for _, v := range e.Violations[:min(shown, len(e.Violations))] {
		text = append(text, v.Error())
	}
	if more := len(e.Violations) - shown; more > 0 {
		text = append(text, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("invalid schedule of %q: %s", e.Algorithm, strings.Join(text, "; "))
}
