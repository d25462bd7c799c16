package profiling

import (
	"errors"
	"fmt"
	"time"

	"miglab/harness/mig"
)

// A Source says what holds a kernel to a part of the GPU. Every measurement
// carries it, so that one is never taken for the other.
type Source string

// The sources of measurements.
const (
	// MIG is a MIG instance: multiprocessors, L2, memory and its bandwidth are the instance's own.
	MIG Source = "mig"
	// MPSSMLimit is an MPS client with a limit of active threads at the number of
	// multiprocessors that the MIG instance would have: SM-limited scaling on a GPU
	// with all its memory; bandwidth, L2 and capacity are not partitioned.
	MPSSMLimit Source = "mps-sm-limit"
	// WholeGPU is nothing: a kernel that has the GPU to itself, without MIG and without
	// MPS. Hardware counters are read so where there is no MIG, since Nsight Compute does
	// not support clients of MPS. It is the source of counters alone, never of times, and
	// no device has it.
	WholeGPU Source = "whole-gpu"
)

// An Identity says which GPU a device is and in which state.
type Identity struct {
	// UUID is the driver's, for example GPU-5c89....
	UUID string
	// Name is the driver's, for example NVIDIA A100-SXM4-40GB.
	Name string
	// Model is what the name and the memory stand for.
	Model *mig.GPU
	// MemoryMiB is the GPU's memory in MiB.
	MemoryMiB int
	// Driver is the driver's version.
	Driver string
	// MIG is the current MIG mode, MIGPending the one after the next reset.
	MIG, MIGPending bool
	Source          Source
}

// An Instance exists on a device.
type Instance struct {
	// Instance is where it is. Its profile is not one of the model's where somebody
	// made an instance that the model's table does not know.
	mig.Instance
	// ID is the driver's number of the GPU instance.
	ID int
	// UUID names it, for example MIG-1b2c....
	UUID string
	// Env is what a process needs in its environment, as KEY=VALUE, to run on this
	// instance and on no other.
	Env []string
}

// A Process uses the GPU.
type Process struct {
	PID int
	// Name is the executable, where the driver tells.
	Name string
}

// Conditions are what times depend on besides the kernel.
type Conditions struct {
	// SMClock and MemoryClock are current clocks in MHz.
	SMClock, MemoryClock int
	// Temperature of the GPU in degrees Celsius.
	Temperature int
	// PowerLimit is the enforced limit in W.
	PowerLimit float64
}

// A Device is one GPU. Methods are safe for concurrent use; whether the driver
// does two things at once is its business, and measured. Errors wrap one of the
// errors of this package where the cause is one of them, in a *DeviceError.
type Device interface {
	// Identify reads identity and MIG mode anew.
	Identify() (Identity, error)
	// SetMIG asks for a MIG mode. The new mode can stay pending: Identify tells.
	SetMIG(on bool) error
	// Placements returns the memory slices at which an instance of a profile may
	// begin, as the driver says, whatever exists; ascending.
	Placements(p *mig.Profile) ([]mig.Slices, error)
	// Instances returns the GPU instances that exist, whoever made them, by start.
	Instances() ([]Instance, error)
	// Create makes a GPU instance and one compute instance that fills it. If the
	// second fails, the first is destroyed again. The error is a [*LeftoverError] where
	// something of the instance exists all the same, or may; with any other, nothing does.
	Create(at mig.Instance) (Instance, error)
	// Destroy takes away the compute instances of a GPU instance and the instance. It
	// does not wait: where the driver says that it is still in use, the error is ErrBusy,
	// and calling again goes on where it was. ErrUnknownInstance says that it is gone.
	Destroy(id int) error
	// Processes returns those that use the GPU or an instance of it.
	Processes() ([]Process, error)
	// Conditions reads clocks, temperature and power limit.
	Conditions() (Conditions, error)
	// Close lets the device go; it destroys nothing.
	Close() error
}

// What hardware refuses.
var (
	ErrNoDriver        = errors.New("the NVIDIA driver is not installed")
	ErrMIGOff          = errors.New("MIG mode is off")
	ErrPermission      = errors.New("no permission")
	ErrInsufficient    = errors.New("insufficient resources: the slices are taken, or there are as many of the profile as can be")
	ErrPlacement       = errors.New("the profile cannot begin at that slice")
	ErrBusy            = errors.New("still in use")
	ErrUnknownInstance = errors.New("there is no such instance")
	ErrLost            = errors.New("the GPU has fallen off the bus or needs a reset")
	ErrUnsupported     = errors.New("the GPU cannot do that")
)

// A DeviceError says what was asked of a device, of what, and why it failed.
type DeviceError struct {
	// Op is what was asked for, for example "create 3g.20gb at 4".
	Op string
	// Err is one of this package's errors, or what the driver said.
	Err error
	// Remedy is what to do about it; may be empty.
	Remedy string
}

func (e *DeviceError) Error() string {
	if e.Remedy == "" {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("%s: %v; %s", e.Op, e.Err, e.Remedy)
}

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }

// A LeftoverError says that a create failed and did not leave the GPU as it was: its
// GPU instance could not be destroyed again, or nobody knows whether the driver made
// one. It wraps the reasons; none of them says here that nothing exists, as a refusal
// does, so that a caller has to look for a LeftoverError first.
type LeftoverError struct {
	// ID is the driver's number of the GPU instance. It is -1 where the driver has not
	// told: then an instance without a compute instance may be at the place, or nothing.
	ID int
	// Err is why the create failed.
	Err error
	// Undo is why the GPU instance could not be destroyed; nil where there was none to
	// try it on.
	Undo error
}

func (e *LeftoverError) Error() string {
	if e.Undo == nil {
		return fmt.Sprintf("%v; a part of it may exist", e.Err)
	}
	return fmt.Sprintf("%v; a part of it exists: %v", e.Err, e.Undo)
}

// Unwrap returns the reasons.
func (e *LeftoverError) Unwrap() []error {
	if e.Undo == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Undo}
}

// Seconds turns a measured time into the harness's unit.
func Seconds(d time.Duration) mig.Seconds { return mig.Seconds(d.Seconds()) }
