//go:build !cgo || !linux

package cuda

import (
	"errors"
	"time"

	"miglab/profiling"
)

// A Device is one GPU or MIG instance.
type Device struct{}

// Open always fails (see the package comment).
func Open() (*Device, error) { return nil, Installed() }

// Installed always fails (see the package comment).
func Installed() error {
	return &profiling.DeviceError{
		Op:  "load libcuda.so.1",
		Err: errors.New("this program was built without cgo or not for Linux"),
		Remedy: "build it on Linux with a C compiler: make build-nvml (CGO_ENABLED=1 go build -o bin/miglab " +
			"./harness/cmd/miglab)",
	}
}

// Without a device these methods are never called.

// Facts returns what the device is.
func (d *Device) Facts() Facts                             { return Facts{} }
func (d *Device) Load([]byte) error                        { return nil }
func (d *Device) Alloc(uint64) (Pointer, error)            { return 0, nil }
func (d *Device) Write(Pointer, []byte) error              { return nil }
func (d *Device) Read([]byte, Pointer) error               { return nil }
func (d *Device) Fill(Pointer, byte, uint64) error         { return nil }
func (d *Device) Launch(string, Dim, Dim, ...uint64) error { return nil }
func (d *Device) Sync() error                              { return nil }

// Close frees the device and all its memory.
func (d *Device) Close() error { return nil }

// A Partition is a part of a device's multiprocessors.
type Partition struct{}

// Split divides the multiprocessors: each count has a partition, and no two partitions share
// one. The driver hands them out in groups, of 8 on Hopper, or of 2 if fine, which ignores
// that clusters of blocks need neighbours. A count is rounded up to whole groups. The only
// partition may have the whole device. The caller closes the partitions before the device.
func (d *Device) Split([]int, bool) ([]*Partition, error) { return nil, Installed() }

// Share returns n streams that share the whole device, without any limit.
func (d *Device) Share(int) ([]*Partition, error) { return nil, Installed() }

func (p *Partition) Load([]byte) error                        { return nil }
func (p *Partition) Alloc(uint64) (Pointer, error)            { return 0, nil }
func (p *Partition) Write(Pointer, []byte) error              { return nil }
func (p *Partition) Read([]byte, Pointer) error               { return nil }
func (p *Partition) Fill(Pointer, byte, uint64) error         { return nil }
func (p *Partition) Launch(string, Dim, Dim, ...uint64) error { return nil }
func (p *Partition) Sync() error                              { return nil }
func (p *Partition) Mark(bool) error                          { return nil }
func (p *Partition) Elapsed() (time.Duration, error)          { return 0, nil }

// SMs returns the number of multiprocessors that the driver gave it.
func (p *Partition) SMs() int { return 0 }

// Use makes the partition that of the calling goroutine, which then is the only one that may
// use it, and stays on its thread until Done.
func (p *Partition) Use() error { return nil }

// Done ends what Use began: a green context may be current on one thread at a time, so the next
// one could not use it otherwise.
func (p *Partition) Done()       {}
func (p *Partition) Free() error { return nil }

// Close frees the partition with its memory.
func (p *Partition) Close() error { return nil }
