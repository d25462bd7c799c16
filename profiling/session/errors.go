package session

import (
	"fmt"
	"os"
)

// A LockedError says that another run has the GPU. If PID is this process's own, another
// session of this process has it.
type LockedError struct {
	// GPU is the UUID.
	GPU string
	// PID is the process that has it; 0 if the process has not written its number yet.
	PID int
	// File is the lock.
	File string
}

func (e *LockedError) Error() string {
	switch e.PID {
	case 0:
		return fmt.Sprintf("another run uses %s: it holds %s; wait until it ends", e.GPU, e.File)
	case os.Getpid():
		return fmt.Sprintf("%s is given twice: this process already holds %s", e.GPU, e.File)
	}
	return fmt.Sprintf("another run uses %s: process %d holds %s; wait until it ends", e.GPU, e.PID, e.File)
}

// A JournalError says that the journal of a killed run cannot be read.
type JournalError struct {
	File string
	Err  error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("%s: %v; the file lists the instances that a killed run left: look at them with nvidia-smi mig "+
		"-lgi, destroy those that nobody needs with nvidia-smi mig -dci and -dgi, and delete the file", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *JournalError) Unwrap() error { return e.Err }
