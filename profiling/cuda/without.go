//go:build !cgo || !linux

package cuda

import (
	"errors"
	"time"

	"miglab/profiling"
)

// A Device is one GPU or MIG instance.
type Device struct {
	queue
	Facts Facts
}

// A Partition is a part of a device's multiprocessors.
type Partition struct {
	queue
	SMs int
}

// A queue has methods of devices and partitions. Without a device they are never called.
type queue struct{}

func (queue) Load([]byte) error                        { return nil }
func (queue) Alloc(uint64) (Pointer, error)            { return 0, nil }
func (queue) Write(Pointer, []byte) error              { return nil }
func (queue) Read([]byte, Pointer) error               { return nil }
func (queue) Fill(Pointer, byte, uint64) error         { return nil }
func (queue) Launch(string, Dim, Dim, ...uint64) error { return nil }
func (queue) Sync() error                              { return nil }
func (queue) Mark(bool) error                          { return nil }
func (queue) Elapsed() (time.Duration, error)          { return 0, nil }
func (queue) Free() error                              { return nil }
func (queue) Close() error                             { return nil }

// Installed always fails (see the package comment).
func Installed() error {
	return &profiling.DeviceError{
		Op:  "load libcuda.so.1",
		Err: errors.New("this program was built without cgo or not for Linux"),
		Remedy: "build it on Linux with a C compiler: make build-nvml (CGO_ENABLED=1 go build -o bin/miglab " +
			"./harness/cmd/miglab)",
	}
}

// Open always fails (see the package comment).
func Open() (*Device, error) { return nil, Installed() }

// Split always fails (see the package comment).
func (d *Device) Split([]int, bool) ([]*Partition, error) { return nil, Installed() }

// Share always fails (see the package comment).
func (d *Device) Share(int) ([]*Partition, error) { return nil, Installed() }

// Use makes the partition that of the calling goroutine until Done.
func (p *Partition) Use() error { return nil }

// Done ends what Use began.
func (p *Partition) Done() {}
