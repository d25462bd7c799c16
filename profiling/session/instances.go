package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
)

// made is what is known of an instance of ours.
type made struct {
	stage stage
	// id and uuid are known unless the stage is creating.
	id   int
	uuid string
}

// A stage is how far the life of an instance has come.
type stage string

const (
	// creating is also that of an instance of which nobody knows whether it exists.
	creating   stage = "being created"
	there      stage = "there"
	destroying stage = "being destroyed"
)

var errClosed = errors.New("the session is closed")

// Create writes the journal, makes an instance and says how long the driver took. An
// error that wraps [profiling.ErrInsufficient] says what is in the way. Where the
// journal cannot be written, nothing is made.
func (s *Session) Create(ctx context.Context, at mig.Instance) (profiling.Instance, time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return profiling.Instance{}, 0, err
	}
	err := s.work(func() error {
		if m, ok := s.ours[at]; ok {
			return fmt.Errorf("create %s: %w; this run has it, and it is %s", name(at), profiling.ErrInsufficient, m.stage)
		}
		s.ours[at] = made{stage: creating}
		return nil
	})
	if err != nil {
		return profiling.Instance{}, 0, err
	}
	defer s.working.Done()
	if err := s.journal.append(entry{Event: intended, Instance: &place{Profile: at.Profile.String(), Start: at.Start}}); err != nil {
		s.forget(at)
		return profiling.Instance{}, 0, fmt.Errorf("create %s: nothing is made without a journal: %w", name(at), err)
	}
	start := time.Now()
	i, err := s.device.Create(at)
	took := time.Since(start)
	if err != nil {
		return profiling.Instance{}, 0, s.notCreated(ctx, at, err)
	}
	s.set(at, made{there, i.ID, i.UUID})
	p := placeOf(i)
	if err := s.journal.append(entry{Event: created, Instance: &p}); err != nil {
		err = fmt.Errorf("create %s: nothing is kept without a journal: %w", name(at), err)
		_, undo := s.destroy(ctx, at, i.ID)
		if undo == nil {
			s.forget(at)
		}
		return profiling.Instance{}, 0, errors.Join(err, undo)
	}
	return i, took, nil
}

// notCreated finds out what is in the way of an instance, and takes away what there
// may be of it.
func (s *Session) notCreated(ctx context.Context, at mig.Instance, cause error) error {
	exist, err := s.device.Instances()
	if err != nil {
		return cause // As with a lost GPU. The intent stays in the journal.
	}
	for _, i := range exist {
		switch {
		case errors.Is(cause, profiling.ErrInsufficient):
			if i.Overlaps(at) {
				cause = fmt.Errorf("%w; %s is in the way, which %s", cause, describe(i), s.maker(i, at))
			}
		case isRefusal(cause), slices.ContainsFunc(s.before, func(b place) bool { return b == placeOf(i) }):
		case i.Instance == at:
			if _, err := s.destroy(ctx, at, i.ID); err != nil {
				return errors.Join(cause, err)
			}
		}
	}
	s.forget(at)
	p := place{Profile: at.Profile.String(), Start: at.Start}
	return errors.Join(cause, s.journal.append(entry{Event: failed, Instance: &p}))
}

// isRefusal reports whether an error means that the driver has not even begun.
func isRefusal(err error) bool {
	return slices.ContainsFunc([]error{profiling.ErrPlacement, profiling.ErrMIGOff, profiling.ErrPermission, profiling.ErrUnsupported},
		func(refusal error) bool { return errors.Is(err, refusal) })
}

// maker says whose an instance is that is in the way of another.
func (s *Session) maker(i profiling.Instance, of mig.Instance) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.ours[i.Instance]; ok && i.Instance != of {
		return "this run made"
	}
	return "this run did not make"
}

// Destroy takes away an instance that Create made, tries again while it is still in
// use, and says how long the call to the driver took that succeeded. The error wraps
// [profiling.ErrBusy] where Options.Patience is over; the instance then remains the
// session's, as it does when ctx ends.
func (s *Session) Destroy(ctx context.Context, i profiling.Instance) (time.Duration, error) {
	var m made
	err := s.work(func() error {
		m = s.ours[i.Instance]
		if m.stage != there || m.id != i.ID {
			return fmt.Errorf("destroy %s: %w among those of this run", describe(i), profiling.ErrUnknownInstance)
		}
		s.ours[i.Instance] = made{destroying, m.id, m.uuid}
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer s.working.Done()
	took, err := s.destroy(ctx, i.Instance, i.ID)
	if err != nil {
		s.set(i.Instance, m)
		return 0, err
	}
	s.forget(i.Instance)
	p := placeOf(i)
	return took, s.journal.append(entry{Event: destroyed, Instance: &p})
}

const (
	firstPause   = 5 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// destroy has the device destroy an instance, as often as it takes.
func (s *Session) destroy(ctx context.Context, at mig.Instance, id int) (time.Duration, error) {
	deadline := time.Now().Add(s.o.Patience)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		start := time.Now()
		err := s.device.Destroy(id)
		if !errors.Is(err, profiling.ErrBusy) {
			return time.Since(start), err
		}
		left := time.Until(deadline)
		if left <= 0 {
			processes, _ := s.device.Processes() // What matters is that it is in use.
			return 0, fmt.Errorf("%s, tried for %v: %w%s", name(at), s.o.Patience, err, held(processes))
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%s: %w; %w", name(at), ctx.Err(), err)
		case <-time.After(min(pause, left)):
		}
	}
}

// destroyAll destroys what is left of ours, all at the same time, since each may be in
// use for a while. It names what it destroyed.
func (s *Session) destroyAll(ctx context.Context) (gone []string, _ error) {
	if len(s.ours) == 0 {
		return nil, nil
	}
	places := slices.SortedFunc(maps.Keys(s.ours), func(a, b mig.Instance) int { return cmp.Compare(a.Start, b.Start) })
	exist, err := s.device.Instances()
	if err != nil {
		var names []string
		for _, at := range places {
			names = append(names, name(at))
		}
		return nil, fmt.Errorf("cannot see what is left of %q: %w", names, err)
	}
	names, failures, unwritten := make([]string, len(places)), make([]error, len(places)), make([]error, len(places))
	var wait sync.WaitGroup
	for n, at := range places {
		m := s.ours[at]
		k := slices.IndexFunc(exist, func(i profiling.Instance) bool { return m.is(at, i) })
		if k < 0 {
			continue // Somebody destroyed it, or a reset did.
		}
		wait.Go(func() {
			p := placeOf(exist[k])
			if _, failures[n] = s.destroy(ctx, at, p.ID); failures[n] == nil {
				names[n] = describe(exist[k])
				unwritten[n] = s.journal.append(entry{Event: destroyed, Instance: &p})
			}
		})
	}
	wait.Wait()
	gone = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	if err := errors.Join(failures...); err != nil {
		return gone, errors.Join(err, errors.Join(unwritten...))
	}
	return gone, nil // A journal that cannot be written does not matter: it has served.
}

// is reports whether an instance that exists is the one that was made at a place. A
// device tells no UUID of a GPU instance whose compute instance does not exist.
func (m made) is(at mig.Instance, i profiling.Instance) bool {
	return i.Instance == at && (m.stage == creating || m.id == i.ID && (i.UUID == "" || i.UUID == m.uuid))
}

// work begins work that Close has to wait for, if allow says nothing against it. The
// caller says when it is done.
func (s *Session) work(allow func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if err := allow(); err != nil {
		return err
	}
	s.working.Add(1)
	return nil
}

func (s *Session) set(at mig.Instance, m made) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ours[at] = m
}

func (s *Session) forget(at mig.Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ours, at)
}

// name says which instance, in NVIDIA's words.
func name(at mig.Instance) string { return fmt.Sprintf("%s at %d", at.Profile, at.Start) }

// describe adds the UUID, where it has one.
func describe(i profiling.Instance) string {
	if i.UUID == "" {
		return name(i.Instance)
	}
	return fmt.Sprintf("%s (%s)", name(i.Instance), i.UUID)
}
