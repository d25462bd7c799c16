package profiling

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"miglab/harness/mig"
)

// An Identity says which GPU a device is and which MIG mode it is in.
type Identity struct {
	// UUID comes from the driver, for example GPU-5c89....
	UUID string
	// Name comes from the driver, for example NVIDIA A100-SXM4-40GB.
	Name string
	// Model follows from name and memory (see [Model]).
	Model *mig.GPU
	// MemoryMiB is the GPU's memory in MiB.
	MemoryMiB int
	// Driver is the driver's version.
	Driver string
	// MIG is the current MIG mode, MIGPending the mode after the next reset.
	MIG, MIGPending bool
	// Source says what confines a kernel to a part of the GPU, as [mig.SourceMIG] does. Every measurement carries it,
	// so that one kind is not mistaken for another.
	Source string
}

// An Instance is a GPU instance that exists on a device.
type Instance struct {
	// Instance is its profile and place. The profile does not belong to the model if somebody made an instance that
	// the model's table does not list.
	mig.Instance
	// ID is the driver's number of the GPU instance.
	ID int
	// UUID identifies it, for example MIG-1b2c....
	UUID string
	// Env holds the environment variables, as KEY=VALUE, with which a process runs on this instance and on no other.
	Env []string
	// Took is how long the driver's two calls took that made it, if Create has just returned it; 0 if not measured.
	Took time.Duration
}

// A Process uses the GPU.
type Process struct {
	PID int
	// Name is the executable; empty if the driver does not report it.
	Name string
}

// A Device is one GPU. Methods are safe for concurrent use; the driver decides whether it does two things at once.
// An error is a [*DeviceError], except as Create says; it wraps one of the errors of this package if that is the cause.
type Device interface {
	// Identify reads identity and MIG mode from the driver.
	Identify() (Identity, error)
	// Existing returns the instances that exist, from left to right, if the device uses these and makes no others (the
	// mode mig-existing); otherwise nil. Their starts only tell them apart.
	Existing() []mig.Instance
	// Instances returns the GPU instances that exist, whoever made them, by start.
	Instances() ([]Instance, error)
	// Create makes a GPU instance and one compute instance that fills it. If the second step fails, it undoes the
	// first. The error is a [*LeftoverError] if a part of the instance exists or may exist; after any other error
	// the instance does not exist. The error is ErrBusy if the driver refuses for the moment.
	Create(at mig.Instance) (Instance, error)
	// Destroy removes the compute instances of a GPU instance, then the instance. It does not wait: the error is
	// ErrBusy while the instance is in use, and the next call continues. The error is ErrUnknownInstance if the
	// instance does not exist.
	Destroy(id int) error
	// Processes returns the processes that use the GPU or one of its instances.
	Processes() ([]Process, error)
	// Watch samples the device about ten times a second until the watch is closed.
	Watch() (*Watch, error)
	// Close releases the device. It destroys no instance.
	Close() error
}

// The refusals of hardware.
var (
	ErrNoDriver     = errors.New("the NVIDIA driver is not installed")
	ErrMIGOff       = errors.New("MIG mode is off")
	ErrPermission   = errors.New("no permission")
	ErrInsufficient = errors.New("insufficient resources: the slices are taken, or the GPU holds no more instances " +
		"of the profile")
	ErrPlacement       = errors.New("the profile cannot begin at that slice")
	ErrBusy            = errors.New("still in use")
	ErrUnknownInstance = errors.New("there is no such instance")
	ErrLost            = errors.New("the GPU has fallen off the bus or needs a reset")
	ErrUnsupported     = errors.New("the GPU cannot do that")
)

// A DeviceError says which operation of a device failed and why.
type DeviceError struct {
	// Op is the operation, for example "create 3g.20gb at 4".
	Op string
	// Err is one of this package's errors, or the driver's message.
	Err error
	// Remedy tells the user how to go on; it may be empty.
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

// WithoutCgo is the error of an operation that needs NVIDIA's libraries in a program that cannot load them.
func WithoutCgo(op string) error {
	return &DeviceError{
		Op: op, Err: errors.New("this program was built without cgo or not for Linux"),
		Remedy: "build it on Linux with a C compiler: make build-nvml, or make build-gpu for the GPU commands alone",
	}
}

// A LeftoverError says that a create failed and may have left a part of the instance: its GPU instance could not be
// destroyed, or the driver did not say whether it made one. It wraps the reasons. Callers must check for it first,
// since without it the same reasons mean that the instance does not exist.
type LeftoverError struct {
	// ID is the driver's number of the GPU instance. It is -1 if the driver did not report it; then an instance
	// without a compute instance may exist at the place.
	ID int
	// Err is why the create failed.
	Err error
	// Undo is why the GPU instance could not be destroyed; nil if its number is unknown.
	Undo error
}

func (e *LeftoverError) Error() string {
	if e.Undo == nil {
		return fmt.Sprintf("%v; a part of the instance may exist", e.Err)
	}
	return fmt.Sprintf("%v; a part of the instance remains: %v", e.Err, e.Undo)
}

// Unwrap returns the reasons.
func (e *LeftoverError) Unwrap() []error {
	if e.Undo == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Undo}
}

// Seconds converts a measured time to the harness's unit.
func Seconds(d time.Duration) mig.Seconds { return mig.Seconds(d.Seconds()) }

// Environ returns this process's environment without the variables that choose a GPU or a part of it: only the instance
// may set those.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "CUDA_VISIBLE_DEVICES=") || strings.HasPrefix(variable, "CUDA_MPS_")
	})
}
