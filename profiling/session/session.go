// Package session is what stands between an experiment and a GPU: it takes a lock
// against a second run, keeps a journal of the instances it makes, removes on
// start what a killed run left behind, refuses a GPU that others use, never touches
// the MIG mode unasked, and destroys exactly what it created.
//
// # What is destroyed after a kill
//
// The next Open on the GPU, with the same [Options].Dir and in the same boot of the
// system, destroys what the journal says the killed run has made and not destroyed, and
// logs each: an instance of the profile, at the place, with the driver's number and
// UUID that the journal names. Where the journal or the driver has no UUID, as of an
// instance that lacks its compute instance, the rest decides.
//
// The driver does not tell who made an instance, and may give a number again, and with it
// a UUID. So if, after the kill, somebody destroys the run's instance and makes one of
// the same profile at the same place, and it gets the same number, then it cannot be told
// apart and is destroyed. Not while a process uses it: that the driver refuses, whosever
// process it is, and where it lasts longer than [Options].Patience, Open fails and names
// the processes.
//
// Of an instance that was being created when the run was killed, the journal has
// neither number nor UUID: profile and place alone say which it is, and the log says so.
// It is left alone if there was one of the profile at the place when the run began.
package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
)

// Options are what the user decides.
type Options struct {
	// Dir holds lock and journal, a file each for a GPU. For instances a folder in memory
	// is enough, as they do not survive a reboot either. The MIG mode of Ampere does: if
	// a run that turned it on is killed, and the system rebooted before another run
	// on the GPU, then it stays on if the folder was in memory.
	Dir string
	// AllowMIGMode lets the session turn MIG on, and off again at the end.
	AllowMIGMode bool
	// WithOthers lets it run while other processes use the GPU.
	WithOthers bool
	// Patience is how long a destroy is tried that the driver says is still in use;
	// 0 means 30 s.
	Patience time.Duration
	// Log gets messages to the user, a line each, from Open and Close; nil drops them.
	Log func(format string, args ...any)
}

// A Session owns a GPU. Methods are safe for concurrent use and do not make one
// call to the driver wait for another.
type Session struct {
	device   profiling.Device
	identity profiling.Identity
	o        Options
	lock     *os.File
	journal  *journal
	// before are the instances that existed when the session began: others'.
	before []place
	// turnedOn is whether the MIG mode has to be restored.
	turnedOn bool

	mu sync.Mutex
	// ours is what the journal says exists.
	ours map[mig.Instance]made
	// closed keeps new work out, and Close waits for working.
	closed  bool
	working sync.WaitGroup
}

// Open takes the lock, cleans up after a run that was killed and makes the GPU
// ready. Errors say what to do. They are a [*LockedError] where another run has the
// GPU and a [*JournalError] where the journal of a killed one cannot be read; they
// wrap [profiling.ErrMIGOff] where MIG is off and may not be turned on.
func Open(ctx context.Context, d profiling.Device, o Options) (_ *Session, err error) {
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	s := &Session{device: d, o: o, ours: map[mig.Instance]made{}}
	if s.identity, err = d.Identify(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	if s.lock, err = lock(filepath.Join(o.Dir, s.identity.UUID+".lock"), s.identity.UUID); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.lock.Close())
		}
	}()
	path := filepath.Join(o.Dir, s.identity.UUID+".journal")
	if err := s.recover(ctx, path); err != nil {
		return nil, err
	}
	if err := s.admit(); err != nil {
		return nil, err
	}
	if err := s.begin(path); err != nil {
		return nil, err
	}
	if err := s.turnOn(); err != nil {
		return nil, errors.Join(err, s.finish(ctx))
	}
	return s, nil
}

// recover finishes the session of a run that was killed.
func (s *Session) recover(ctx context.Context, path string) error {
	j, r, err := reopen(path, s.identity.Model)
	if j == nil || err != nil {
		return err
	}
	old := &Session{device: s.device, identity: s.identity, o: s.o, journal: j, before: r.before, turnedOn: r.turnedOn, ours: r.left}
	boot, err := bootID()
	if err != nil {
		return errors.Join(err, j.close())
	}
	if r.boot != boot {
		clear(old.ours) // Instances do not survive a reboot; the MIG mode of Ampere does.
	}
	gone, err := old.destroyAll(ctx)
	for _, i := range gone {
		by := "its number"
		if old.ours[i.Instance].stage == creating {
			by = "its place alone, as it was just being created"
		}
		s.o.Log("destroyed %s, GPU instance %d, which a killed run (process %d) had left; known by %s", describe(i), i.ID, r.pid, by)
	}
	return old.settle(err)
}

// admit refuses a GPU that is not ready for this run, and reads its identity again.
func (s *Session) admit() (err error) {
	if s.identity, err = s.device.Identify(); err != nil {
		return err
	}
	id := s.identity
	processes, err := s.device.Processes()
	if err != nil {
		return err
	}
	switch underMIG := id.Source == profiling.MIG; {
	case underMIG && id.MIG != id.MIGPending:
		return fmt.Errorf("MIG mode of %s is %s and will be %s after a reset%s; end what uses the GPU and run nvidia-smi --gpu-reset -i %s",
			id.UUID, profiling.OnOff(id.MIG), profiling.OnOff(id.MIGPending), held(processes), id.UUID)
	case underMIG && !id.MIG && !s.o.AllowMIGMode:
		return fmt.Errorf("%w on %s; allow it to be changed with --allow-mig-mode, or run nvidia-smi -i %s -mig 1 (both need root)",
			profiling.ErrMIGOff, id.UUID, id.UUID)
	case len(processes) > 0 && !s.o.WithOthers:
		return fmt.Errorf("%s is in use by %s; end them, or run beside them with --with-others", id.UUID, list(processes))
	case len(processes) > 0:
		s.o.Log("%s is also in use by %s: times are not those of a GPU of one's own", id.UUID, list(processes))
	}
	return nil
}

// begin starts a journal that says which instances are not ours.
func (s *Session) begin(path string) error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	exist, err := s.device.Instances()
	if err != nil {
		return err
	}
	for _, i := range exist {
		s.o.Log("%s exists already and is left alone", describe(i))
		s.before = append(s.before, placeOf(i))
	}
	s.journal, err = create(path, entry{Event: begun, Boot: boot, PID: os.Getpid(), Before: s.before})
	return err
}

// Identity is the GPU's, as read by Open.
func (s *Session) Identity() profiling.Identity { return s.identity }

// Device is the device, for reading; instances are made through the session alone.
func (s *Session) Device() profiling.Device { return s.device }

// Close destroys what is left of the instances it made, restores the MIG mode if
// it changed it, and gives back the lock. It does so even if the work was cancelled.
// It waits for a Create or Destroy that is under way; those that come later are
// refused. Where something cannot be taken away, the journal stays, and the next
// Open tries again. A second Close does nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.working.Wait()
	return errors.Join(s.finish(context.Background()), s.lock.Close())
}

// finish takes everything away that the session has made.
func (s *Session) finish(ctx context.Context) error {
	_, err := s.destroyAll(ctx)
	return s.settle(err)
}

// settle restores the MIG mode after all instances were destroyed, and gives up the
// journal: its file is removed unless err or restoring says that something is left.
func (s *Session) settle(err error) error {
	if err == nil {
		err = s.restore()
	}
	if err == nil {
		return s.journal.remove()
	}
	return errors.Join(fmt.Errorf("%w; %s keeps what is left to do, and the next run on this GPU tries again", err, s.journal.path), s.journal.close())
}
