package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/profiling"
)

// An Effort has the time and the calls of an operation on an instance.
type Effort struct {
	// Took is the time from the beginning of the first call to the driver to the end of the one that succeeded. It
	// leaves out other questions of Create to the driver, if [profiling.Instance.Took] is known.
	Took time.Duration
	// Attempts is the number of calls.
	Attempts int
}

const (
	firstPause   = 5 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// retry calls the driver until its error is no longer [profiling.ErrBusy], patience ends or ctx ends. The error
// comes from the last call; it also wraps the error of ctx. A call may say how much of its time counts.
func (s *Session) retry(ctx context.Context, call func() (took time.Duration, err error)) (e Effort, err error) {
	start := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		before := time.Since(start)
		var took time.Duration
		took, err = call()
		e.Attempts++
		e.Took = time.Since(start)
		if took > 0 {
			e.Took = before + took
		}
		left := s.o.Patience - e.Took
		_, leftover := errors.AsType[*profiling.LeftoverError](err) // must be dealt with first
		if leftover || !errors.Is(err, profiling.ErrBusy) || left <= 0 {
			return e, err
		}
		select {
		case <-ctx.Done():
			return e, fmt.Errorf("%w; %w", ctx.Err(), err)
		case <-time.After(min(pause, left)):
		}
	}
}

// Create writes the journal, makes an instance and returns what that took. It retries while the driver is busy. An
// error that wraps [profiling.ErrInsufficient] names the instances in the way. If the journal cannot be written,
// Create makes no instance. If the driver fails, Create destroys what the driver left, as Destroy would; if that
// fails too, Close tries again.
func (s *Session) Create(ctx context.Context, at mig.Instance) (profiling.Instance, Effort, error) {
	err := s.work(func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, ok := s.ours[at]; ok {
			return fmt.Errorf("create %s: %w; this run has this instance already", instanceName(at),
				profiling.ErrInsufficient)
		}
		s.ours[at] = entry{Profile: at.Profile.String(), Start: at.Start, Creating: true}
		if err := s.write(); err != nil {
			delete(s.ours, at)
			err = fmt.Errorf("create %s: no instance is made, since the journal cannot be written: %w",
				instanceName(at), err)
			return errors.Join(err, s.write())
		}
		return nil
	})
	if err != nil {
		return profiling.Instance{}, Effort{}, err
	}
	defer s.working.Done()
	var i profiling.Instance
	effort, err := s.retry(ctx, func() (_ time.Duration, err error) {
		i, err = s.device.Create(at)
		return i.Took, err
	})
	if left, ok := errors.AsType[*profiling.LeftoverError](err); ok {
		err = s.takeBack(ctx, at, left)
	} else if err != nil {
		err = s.giveUp(at, err)
	} else if err = s.set(at, newEntry(i)); err != nil {
		err = fmt.Errorf("create %s: the instance is destroyed, since the journal cannot be written: %w",
			instanceName(at), err)
		_, undo := s.destroy(ctx, at, i.ID)
		if undo == nil {
			undo = s.forget(at)
		}
		err = errors.Join(err, undo)
	}
	if err != nil {
		return profiling.Instance{}, Effort{}, err
	}
	return i, effort, nil
}

// giveUp forgets an instance that does not exist, and says what is in its way.
func (s *Session) giveUp(at mig.Instance, cause error) error {
	if errors.Is(cause, profiling.ErrInsufficient) {
		exist, _ := s.device.Instances() // If this fails, the refusal is reported without its cause.
		s.mu.Lock()
		for _, i := range exist {
			did := "did not make"
			if _, ours := s.ours[i.Instance]; ours && i.Instance != at {
				did = "made"
			}
			if i.Overlaps(at) {
				cause = fmt.Errorf("%w; %s is in the way, which this run %s", cause, describe(i), did)
			}
		}
		s.mu.Unlock()
	}
	return errors.Join(cause, s.forget(at))
}

// takeBack destroys what a failed create left. If it cannot destroy or find it, the journal keeps the entry and
// Close tries again.
func (s *Session) takeBack(ctx context.Context, at mig.Instance, left *profiling.LeftoverError) error {
	id := left.ID
	if id < 0 {
		exist, err := s.device.Instances()
		if err != nil {
			return stays(left.Err, err)
		}
		// The create made no compute instance, so an instance with one belongs to somebody else.
		k := slices.IndexFunc(exist, func(i profiling.Instance) bool {
			return i.UUID == "" && s.is(at, entry{Creating: true}, i)
		})
		if k < 0 {
			return s.giveUp(at, left.Err)
		}
		id = exist[k].ID
	}
	unwritten := s.set(at, entry{Profile: at.Profile.String(), Start: at.Start, ID: id})
	if _, err := s.destroy(ctx, at, id); err != nil && !errors.Is(err, profiling.ErrUnknownInstance) {
		return errors.Join(stays(left.Err, err), unwritten)
	}
	return errors.Join(left.Err, s.forget(at))
}

// stays says why a create failed and why a part of the instance may remain. If the GPU is lost, one reason explains
// both.
func stays(cause, why error) error {
	if errors.Is(cause, profiling.ErrLost) && errors.Is(why, profiling.ErrLost) {
		return cause
	}
	return fmt.Errorf("%w; a part of the instance may be left: %w", cause, why)
}

// Destroy removes an instance that Create made. It retries while the instance is in use, and returns what that
// took. The error wraps [profiling.ErrBusy] if the instance is in use for longer than Options.Patience. After that
// error, when ctx ends, or when the driver fails, the instance still belongs to the session. The error wraps
// [profiling.ErrUnknownInstance] if somebody else or a reset removed the instance, or if the session never made it.
func (s *Session) Destroy(ctx context.Context, i profiling.Instance) (Effort, error) {
	var e entry
	err := s.work(func() (err error) {
		if e, err = s.entry(i); err != nil {
			return fmt.Errorf("destroy %s: %w", describe(i), err)
		}
		working := e
		working.destroying = true
		s.ours[i.Instance] = working
		return nil
	})
	if err != nil {
		return Effort{}, err
	}
	defer s.working.Done()
	effort, err := s.destroy(ctx, i.Instance, i.ID)
	if err != nil && !errors.Is(err, profiling.ErrUnknownInstance) {
		return Effort{}, errors.Join(err, s.set(i.Instance, e))
	}
	return effort, errors.Join(err, s.forget(i.Instance))
}

// entry returns the entry of an instance that Create made and Destroy does not have. The caller holds mu.
func (s *Session) entry(i profiling.Instance) (entry, error) {
	e, ok := s.ours[i.Instance]
	if !ok || e.Creating || e.destroying || e.ID != i.ID {
		return e, fmt.Errorf("%w in this run", profiling.ErrUnknownInstance)
	}
	return e, nil
}

// destroy asks the device to destroy an instance until it no longer says that the instance is in use.
func (s *Session) destroy(ctx context.Context, at mig.Instance, id int) (Effort, error) {
	effort, err := s.retry(ctx, func() (time.Duration, error) { return 0, s.device.Destroy(id) })
	switch {
	case !errors.Is(err, profiling.ErrBusy):
	case ctx.Err() != nil:
		err = fmt.Errorf("%s: %w", instanceName(at), err)
	default:
		err = fmt.Errorf("%s, tried for %v: %w%s", instanceName(at), s.o.Patience, err, s.heldBy())
	}
	return effort, err
}

// destroyAll destroys the instances that are left, all at the same time, since each may be in use for a while. It calls
// destroyed with each instance that it destroyed and the instance's entry in the journal.
func (s *Session) destroyAll(ctx context.Context, destroyed func(profiling.Instance, entry)) error {
	places, left := s.places(), maps.Clone(s.ours)
	if len(places) == 0 {
		return nil
	}
	exist, err := s.device.Instances()
	if err != nil {
		return fmt.Errorf("cannot find out which of %q are left: %w", nearest.Names(places, instanceName), err)
	}
	removed, failures := make([]*profiling.Instance, len(places)), make([]error, len(places))
	var wait sync.WaitGroup
	for n, at := range places {
		wait.Go(func() { removed[n], failures[n] = s.destroyEntry(ctx, at, left[at], exist) })
	}
	wait.Wait()
	for n, i := range removed {
		if i != nil {
			destroyed(*i, left[places[n]])
		}
	}
	return errors.Join(failures...)
}

// destroyEntry destroys the instance of an entry and forgets the entry. It returns the instance; nil if somebody else
// or a reset has removed it.
func (s *Session) destroyEntry(ctx context.Context, at mig.Instance, e entry, exist []profiling.Instance) (
	removed *profiling.Instance, _ error,
) {
	k := slices.IndexFunc(exist, func(i profiling.Instance) bool { return s.is(at, e, i) })
	if k >= 0 {
		_, err := s.destroy(ctx, at, exist[k].ID)
		if err != nil && !errors.Is(err, profiling.ErrUnknownInstance) {
			return nil, err
		}
		if err == nil {
			removed = &exist[k]
		}
	}
	_ = s.forget(at) // if this cannot be written, the next run looks for the instance and does not find it
	return removed, nil
}

// is reports whether an existing instance is the one that the session made at a place. The package comment says
// when this cannot be known.
func (s *Session) is(at mig.Instance, e entry, i profiling.Instance) bool {
	if i.Instance != at {
		return false
	}
	if e.Creating {
		return !slices.ContainsFunc(s.journal.Before, func(b entry) bool {
			return b.Profile == at.Profile.String() && b.Start == at.Start
		})
	}
	return e.ID == i.ID && (e.UUID == "" || i.UUID == "" || e.UUID == i.UUID)
}

// work begins work that Close waits for, unless allow returns an error. The caller calls working.Done at its end.
func (s *Session) work(allow func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the session is closed")
	}
	if err := allow(); err != nil {
		return err
	}
	s.working.Add(1)
	return nil
}

// set writes the journal with another entry of an instance.
func (s *Session) set(at mig.Instance, e entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ours[at] = e
	return s.write()
}

// forget writes the journal without an instance. Then another one can be made in its place.
func (s *Session) forget(at mig.Instance) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ours, at)
	return s.write()
}

// instanceName names an instance as NVIDIA does.
func instanceName(at mig.Instance) string { return fmt.Sprintf("%s at %d", at.Profile, at.Start) }

// describe adds the UUID, if the instance has one.
func describe(i profiling.Instance) string {
	if i.UUID == "" {
		return instanceName(i.Instance)
	}
	return fmt.Sprintf("%s (%s)", instanceName(i.Instance), i.UUID)
}
