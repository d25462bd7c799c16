package session

import (
	"fmt"
	"os"
)

// A LockedError says that another run has the GPU, or another session of this process:
// then PID is its own.
type LockedError struct {
	// GPU is the UUID.
	GPU string
	// PID is the process that has it; 0 where it has not said so yet.
	PID int
	// File is the lock.
	File string
}

func (e *LockedError) Error() string {
	who := "a process"
	switch e.PID {
	case 0:
	case os.Getpid():
		return fmt.Sprintf("%s is named twice: this process, %d, holds %s already", e.GPU, e.PID, e.File)
	default:
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("another run has %s: %s holds %s; wait until it ends", e.GPU, who, e.File)
}

// A JournalError says that the journal of a killed run cannot be read.
type JournalError struct {
	File string
	// Line counts from 1.
	Line int
	Err  error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("%s:%d: %v; the file says which instances a killed run has left: look with nvidia-smi mig -lgi, "+
		"destroy with nvidia-smi mig -dci and -dgi what nobody needs, and delete the file", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *JournalError) Unwrap() error { return e.Err }
