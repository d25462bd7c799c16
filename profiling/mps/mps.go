package mps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/internal/filelock"
)

// A Device is a GPU on which MPS limits the multiprocessors.
type Device struct {
	// Device is the whole GPU, as the driver describes it.
	profiling.Device
	// Server is its daemon, which gives co-runs shares of the multiprocessors.
	Server
	model *mig.GPU
	// SMs is how many multiprocessors the whole GPU has.
	SMs int

	mu sync.Mutex
	// lock is nil once the device is closed.
	lock *os.File
	// made are the instances, by start. last is the last ID.
	made []profiling.Instance
	last int
}

var _ profiling.Device = (*Device)(nil)

// Open starts the MPS daemon of a GPU, and closes the GPU with the device. dir holds the daemon's folder, mps-UUID; ""
// is the working directory. Its path must be short, since it holds UNIX sockets. count tells the multiprocessors of a
// GPU that the program's table lacks. The error wraps [profiling.ErrNoDriver] if the daemon's program is missing. It
// wraps [profiling.ErrUnsupported] if MIG mode is on or nobody knows the number of multiprocessors, and
// [profiling.ErrBusy] if another living run has the GPU's daemon.
func Open(ctx context.Context, whole profiling.Device, dir string, count CountSMs) (_ *Device, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, whole.Close())
		}
	}()
	if err := installed(); err != nil {
		return nil, err
	}
	id, err := whole.Identify()
	if err != nil {
		return nil, err
	}
	op := "limit the multiprocessors of " + id.UUID
	if id.MIG {
		return nil, &profiling.DeviceError{
			Op: op, Err: fmt.Errorf("%w while MIG mode is on", profiling.ErrUnsupported),
			Remedy: "measure MIG instances instead, or have MIG mode turned off",
		}
	}
	model, sms, err := modelOf(ctx, id, count)
	if err != nil {
		return nil, &profiling.DeviceError{Op: op, Err: fmt.Errorf("%w: %w", profiling.ErrUnsupported, err)}
	}
	d := &Device{Device: whole, model: model, SMs: sms}
	if d.daemon, err = newDaemon(dir, id.UUID); err != nil {
		return nil, err
	}
	lock := filepath.Join(filepath.Dir(d.daemon.pipe), "lock")
	if d.lock, err = filelock.Open(lock); err != nil {
		return nil, err
	}
	if d.lock == nil {
		return nil, &profiling.DeviceError{
			Op: op, Err: fmt.Errorf("%s: %w", lock, profiling.ErrBusy),
			Remedy: "wait for the other run of miglab on this GPU, or end it",
		}
	}
	if err := d.daemon.start(ctx); err != nil {
		return nil, errors.Join(err, d.lock.Close())
	}
	return d, nil
}

// Identify reads the identity from the driver.
func (d *Device) Identify() (profiling.Identity, error) {
	id, err := d.Device.Identify()
	id.Model, id.Source = d.model, mig.SourceMPS
	return id, err
}

// SetMIG fails: this device is for GPUs whose MIG mode may not be changed.
func (d *Device) SetMIG(on bool) error {
	return &profiling.DeviceError{Op: "turn MIG mode " + profiling.OnOff(on), Err: profiling.ErrUnsupported}
}

// Placements returns where MIG instances of the profile may begin.
func (d *Device) Placements(p *mig.Profile) ([]mig.Slices, error) {
	return slices.Clone(p.Starts), nil
}

// Instances returns what Create made and Destroy did not remove. It does not know those of
// other processes, which have daemons of their own.
func (d *Device) Instances() ([]profiling.Instance, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.made), nil
}

// Create returns a limit at the profile's number of multiprocessors. Instances must have
// places as under MIG, although the limit has none, so that the same instances would exist
// under MIG. It changes nothing on the GPU, and its time means nothing.
func (d *Device) Create(at mig.Instance) (profiling.Instance, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.refusal(at); err != nil {
		op := fmt.Sprintf("create %s at %d", at.Profile, at.Start)
		return profiling.Instance{}, &profiling.DeviceError{Op: op, Err: err}
	}
	d.last++
	i := profiling.Instance{
		Instance: at, ID: d.last, UUID: fmt.Sprintf("MPS-%s/%s@%d", d.daemon.gpu, at.Profile, at.Start),
		Env: d.daemon.limits(Percentage(at.Profile.SMs, d.SMs)),
	}
	d.made = append(d.made, i)
	slices.SortFunc(d.made, func(a, b profiling.Instance) int { return cmp.Compare(a.Start, b.Start) })
	return i, nil
}

// refusal says why an instance cannot be made; nil if it can.
func (d *Device) refusal(at mig.Instance) error {
	if !slices.Contains(at.Profile.Starts, at.Start) {
		return profiling.ErrPlacement
	}
	same := 0
	for _, i := range d.made {
		if i.Profile == at.Profile {
			same++
		}
		if i.Overlaps(at) || same == at.Profile.Max {
			return profiling.ErrInsufficient
		}
	}
	return d.daemon.check(context.Background())
}

// Destroy forgets an instance.
func (d *Device) Destroy(id int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.made)
	d.made = slices.DeleteFunc(d.made, func(i profiling.Instance) bool { return i.ID == id })
	if len(d.made) == n {
		return &profiling.DeviceError{Op: fmt.Sprintf("destroy instance %d", id), Err: profiling.ErrUnknownInstance}
	}
	return nil
}

// Processes returns the processes that use the GPU, without the servers of this device's daemon.
func (d *Device) Processes() ([]profiling.Process, error) {
	own, err := d.daemon.servers(context.Background())
	if err != nil {
		return nil, &profiling.DeviceError{Op: "list the processes on the GPU", Err: err}
	}
	all, err := d.Device.Processes()
	return slices.DeleteFunc(all, func(p profiling.Process) bool { return slices.Contains(own, p.PID) }), err
}

// Conditions reads clock and power limit. It fails if the daemon is gone or limits its clients.
func (d *Device) Conditions() (profiling.Conditions, error) {
	if err := d.daemon.check(context.Background()); err != nil {
		return profiling.Conditions{}, &profiling.DeviceError{Op: "read clocks and power limit", Err: err}
	}
	return d.Device.Conditions()
}

// Close ends the daemon, releases its lock and closes the GPU. The daemon's clients have a few seconds to end.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock == nil {
		return nil
	}
	err := errors.Join(d.daemon.stop(context.Background()), d.lock.Close(), d.Device.Close())
	d.lock = nil
	return err
}
