package session

import "fmt"

// A LockedError says that another run has the GPU.
type LockedError struct {
	// GPU is the UUID.
	GPU string
	// PID is the other run's process; 0 where it has not said so yet.
	PID int
	// File is the lock.
	File string
}

func (e *LockedError) Error() string {
	who := "a process"
	if e.PID != 0 {
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
