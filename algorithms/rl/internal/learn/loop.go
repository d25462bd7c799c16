package learn

import (
	"context"
	"fmt"
	"io"
)

// A Loop is what trainers have in common: iterations that stop for good where values
// are no longer finite, and checkpoints at the end of segments. Trainers embed one.
type Loop struct {
	// Name begins error messages.
	Name string
	// Count is the number of steps of all environments since training began.
	Count int64
	// Body is one iteration with at most workers shards at once; its error is a
	// *DivergedError.
	Body func(workers int) (Stats, error)
	// State is what a checkpoint holds.
	State func() Checkpoint

	spent error // a *DivergedError: nothing further until Load
}

// Steps returns those of all environments since training began.
func (l *Loop) Steps() int64 { return l.Count }

// Iterate acts for a horizon of steps in every environment, at most workers shards at
// once, and learns from them. An iteration that has begun is finished even if ctx
// ends. After a *DivergedError the trainer does nothing further until Load.
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

// Save writes all that training depends on at the end of a segment; Restart is to
// follow, here as after Load.
func (l *Loop) Save(w io.Writer) error {
	if l.spent != nil {
		return l.spent
	}
	return l.State().Write(w)
}

// Load reads what a trainer with the same network and seed wrote; Restart is to
// follow. It changes nothing if it returns an error, which is a *CheckpointError
// where the checkpoint is to blame.
func (l *Loop) Load(r io.Reader) error {
	if err := l.State().Read(r); err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	l.spent = nil
	return nil
}
