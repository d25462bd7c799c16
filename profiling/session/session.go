// Package session guards a GPU during an experiment. It takes a lock against a second run, keeps a journal of the
// instances it makes, removes on start what a killed run left behind, and refuses a GPU that others use. It never
// changes the MIG mode, and destroys exactly what it created.
//
// # What is destroyed after a kill
//
// The next Open on the GPU, with the same [Options].Dir and in the same boot of the system, destroys the instances
// that the killed run made and did not destroy, and logs each. Profile, place, the driver's number and the UUID
// must be those in the journal. The UUID does not count if the journal or the driver lacks it, for example if the
// instance lacks its compute instance.
//
// The driver does not report who made an instance, and it may use a number and a UUID again. Suppose that after the
// kill somebody destroys the run's instance and makes one of the same profile at the same place, and it receives
// the same number. Then Open cannot tell them apart and destroys it, unless a process uses it: the driver refuses
// that, and after [Options].Patience Open fails and names the processes.
//
// If the run was killed while it created an instance, the journal has neither number nor UUID. Then profile and
// place decide, and the log says so. Open leaves the instance alone if one of the profile existed at the place when
// the run began.
package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/profiling"
)

// Options are the user's choices.
type Options struct {
	// Dir holds a lock and a journal for each GPU. It may be a folder in memory, since instances do not survive a
	// reboot either.
	Dir string
	// WithOthers lets the session run while other processes use the GPU.
	WithOthers bool
	// Patience is how long the session tries to destroy an instance that is in use; 0 means 30 s.
	Patience time.Duration
	// Log receives messages for the user, one line each, from Open and Close; it may be nil.
	Log func(format string, args ...any)
}

// A Session owns a GPU. Methods are safe for concurrent use and do not make one call to the driver wait for another.
type Session struct {
	device   profiling.Device
	identity profiling.Identity
	o        Options
	lock     *os.File
	// path is the journal's file.
	path string

	mu sync.Mutex
	// journal is the file's content but for the instances, which are ours.
	journal journal
	ours    map[mig.Instance]entry
	// closed refuses new work. Close waits for working.
	closed  bool
	working sync.WaitGroup
}

// Open takes the lock, cleans up after a killed run and prepares the GPU. Errors say what to do. The error wraps
// [profiling.ErrMIGOff] if MIG is off.
func Open(ctx context.Context, d profiling.Device, o Options) (_ *Session, err error) {
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	s := &Session{device: d, o: o, ours: map[mig.Instance]entry{}}
	if s.identity, err = d.Identify(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	if s.lock, err = lockGPU(filepath.Join(o.Dir, s.identity.UUID+".lock"), s.identity.UUID); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.lock.Close())
		}
	}()
	s.path = filepath.Join(o.Dir, s.identity.UUID+".journal")
	if err := s.recover(ctx); err != nil {
		return nil, err
	}
	if err := s.admit(); err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	return s, nil
}

// recover finishes the session of a killed run.
func (s *Session) recover(ctx context.Context) error {
	model := s.identity.Model
	if !s.identity.MIG {
		model = nil // There are no instances, and the driver may not tell the model before MIG is on.
	}
	j, left, err := readJournal(s.path, model)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	boot, err := bootID()
	if err != nil {
		return err
	}
	if j.Boot != boot {
		clear(left) // Instances do not survive a reboot.
	}
	old := &Session{device: s.device, identity: s.identity, o: s.o, path: s.path, journal: j, ours: left}
	return old.finish(ctx, func(i profiling.Instance, e entry) {
		by := "its number"
		if e.Creating {
			by = "its place alone, since it was being created"
		}
		s.o.Log("destroyed %s, GPU instance %d, which a killed run (process %d) left; it was recognised by %s",
			describe(i), i.ID, j.PID, by)
	})
}

// admit refuses a GPU that is not ready for this run.
func (s *Session) admit() error {
	id := s.identity
	processes, err := s.device.Processes()
	if err != nil {
		return err
	}
	switch {
	case id.MIG != id.MIGPending:
		return fmt.Errorf("MIG mode of %s is %s and will be %s after a reset%s; end the processes that use "+
			"the GPU (%s) and run nvidia-smi --gpu-reset -i %s",
			id.UUID, profiling.OnOff(id.MIG), profiling.OnOff(id.MIGPending), s.heldBy(),
			monitors, id.UUID)
	case !id.MIG:
		return fmt.Errorf("%w on %s; turn it on, as root: nvidia-smi -i %s -mig 1", profiling.ErrMIGOff, id.UUID,
			id.UUID)
	case len(processes) > 0 && !s.o.WithOthers:
		return fmt.Errorf("%s is in use by %s; end them (%s), or run beside them with --with-others", id.UUID,
			processList(processes), monitors)
	case len(processes) > 0:
		s.o.Log("%s is also in use by %s, which influences the times", id.UUID, processList(processes))
	}
	return nil
}

// begin starts a journal, with the instances that belong to others.
func (s *Session) begin() (err error) {
	s.journal.PID = os.Getpid()
	if s.journal.Boot, err = bootID(); err != nil {
		return err
	}
	exist, err := s.device.Instances()
	if err != nil {
		return err
	}
	for _, i := range exist {
		s.o.Log("%s exists already and is left alone", describe(i))
		s.journal.Before = append(s.journal.Before, newEntry(i))
	}
	return s.write()
}

// Identity returns the GPU's identity as Open read it.
func (s *Session) Identity() profiling.Identity { return s.identity }

// Device returns the device for reading. Only the session may make instances.
func (s *Session) Device() profiling.Device { return s.device }

// Close destroys the instances that are left and releases the lock, even if the work was cancelled. It waits for
// running calls of Create and Destroy; later calls fail. If something cannot be cleaned up, the journal stays, and the
// next Open tries again. A second Close has no effect.
func (s *Session) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.working.Wait()
	return errors.Join(s.finish(context.Background(), func(profiling.Instance, entry) {}), s.lock.Close())
}

// finish destroys the instances that the session made and removes the journal, which stays if something is left. It
// calls destroyed as destroyAll does.
func (s *Session) finish(ctx context.Context, destroyed func(profiling.Instance, entry)) error {
	err := s.destroyAll(ctx, destroyed)
	if err == nil {
		return os.Remove(s.path)
	}
	return fmt.Errorf("%w; the next run on this GPU tries again, with the journal %s", err, s.path)
}

// monitors are services that hold a GPU to watch it. The driver does not list all of them among the processes.
const monitors = "monitoring too: systemctl stop nvidia-dcgm nvsm, and dcgm-exporter"

// heldBy says in brackets which processes use the GPU, if the driver tells any.
func (s *Session) heldBy() string {
	by, err := s.device.Processes()
	if err != nil || len(by) == 0 {
		return ""
	}
	return " (held by " + processList(by) + ")"
}

func processList(ps []profiling.Process) string {
	return strings.Join(nearest.Names(ps, func(p profiling.Process) string {
		return strings.TrimSpace(fmt.Sprintf("process %d %s", p.PID, p.Name))
	}), ", ")
}
