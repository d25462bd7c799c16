// Package session is what stands between an experiment and a GPU: it takes a lock
// against a second run, keeps a journal of the instances it makes, removes on
// start what a killed run left behind, refuses a GPU that others use, never touches
// the MIG mode unasked, and destroys exactly what it created.
package session

import (
	"context"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
)

// Options are what the user decides.
type Options struct {
	// Dir holds lock and journal, a file each for a GPU.
	Dir string
	// AllowMIGMode lets the session turn MIG on, and off again at the end.
	AllowMIGMode bool
	// WithOthers lets it run while other processes use the GPU.
	WithOthers bool
	// Patience is how long a destroy is tried that the driver says is still in use;
	// 0 means 30 s.
	Patience time.Duration
	// Log gets messages to the user, a line each; nil drops them.
	Log func(format string, args ...any)
}

// A Session owns a GPU. Methods are safe for concurrent use and do not make one
// call to the driver wait for another.
type Session struct{}

// Open takes the lock, cleans up after a run that was killed and makes the GPU
// ready. Errors say what to do.
func Open(ctx context.Context, d profiling.Device, o Options) (*Session, error) {
	panic("not yet")
}

// Identity is the GPU's, as read by Open.
func (s *Session) Identity() profiling.Identity { panic("not yet") }

// Device is the device, for reading; instances are made through the session alone.
func (s *Session) Device() profiling.Device { panic("not yet") }

// Create writes the journal, makes an instance and says how long the driver took.
func (s *Session) Create(ctx context.Context, at mig.Instance) (profiling.Instance, time.Duration, error) {
	panic("not yet")
}

// Destroy takes away an instance that Create made, tries again while it is still in
// use, and says how long the call to the driver took that succeeded.
func (s *Session) Destroy(ctx context.Context, i profiling.Instance) (time.Duration, error) {
	panic("not yet")
}

// Close destroys what is left of the instances it made, restores the MIG mode if
// it changed it, and gives back the lock. It does so even if the work was cancelled.
func (s *Session) Close() error { panic("not yet") }
