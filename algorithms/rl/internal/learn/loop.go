package learn

import (
	"context"
	"io"
)

// A Loop runs the iterations of a trainer, which end if a value is not finite, and writes
// checkpoints at the end of segments. Trainers embed a Loop.
type Loop struct {
	// Count is the number of steps of all environments since training began.
	Count int64
	// Body runs one iteration with at most workers shards at once. Its error is a
	// *DivergedError.
	Body func(workers int) (Stats, error)
	// State returns the content of a checkpoint.
	State func() Checkpoint

	spent error // a *DivergedError, which blocks the trainer until Load
}

// Steps returns the number of steps of all environments since training began.
func (l *Loop) Steps() int64 { return l.Count }

// Iterate acts for a horizon of steps in every environment, at most workers shards at
// once, and learns from them. It finishes an iteration that has begun even if ctx ends.
// After a *DivergedError it returns that error until Load.
func (l *Loop) Iterate(ctx context.Context, workers int) (Stats, error) {
	if err := ctx.Err(); err != nil {
		return Stats{}, err
	}
	if l.spent != nil {
		return Stats{}, l.spent
	}
	stats, err := l.Body(workers)
	if err != nil {
		l.spent = err
	}
	return stats, err
}

// Save writes the state of training at the end of a segment, with a note for the caller. Call
// Restart afterwards, as after Load.
func (l *Loop) Save(w io.Writer, note string) error {
	if l.spent != nil {
		return l.spent
	}
	return l.State().Write(w, note)
}

// Load reads the state that a trainer with the same network and seed wrote, and returns the
// note. Call Restart afterwards. If it returns an error, the trainer is unchanged; the error is
// a *CheckpointError if the checkpoint is the cause.
func (l *Loop) Load(r io.Reader) (note string, err error) {
	if note, err = l.State().Read(r); err == nil {
		l.spent = nil
	}
	return note, err
}
