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
		Op:     "load libcuda.so.1",
		Err:    errors.New("this program was built without cgo or not for Linux"),
		Remedy: "build it on Linux with a C compiler: make build-nvml (CGO_ENABLED=1 go build -o bin/miglab ./harness/cmd/miglab)",
	}
}

// Without a device these methods are never called.

func (d *Device) Facts() Facts                             { return Facts{} }
func (d *Device) Load([]byte) error                        { return nil }
func (d *Device) Alloc(uint64) (Pointer, error)            { return 0, nil }
func (d *Device) Write(Pointer, []byte) error              { return nil }
func (d *Device) Read([]byte, Pointer) error               { return nil }
func (d *Device) Fill(Pointer, byte, uint64) error         { return nil }
func (d *Device) Launch(string, Dim, Dim, ...uint64) error { return nil }
func (d *Device) Sync() error                              { return nil }
func (d *Device) Close() error                             { return nil }

// A Partition is a part of a device's multiprocessors.
type Partition struct{}

func (d *Device) Split([]int, bool) ([]*Partition, error) { return nil, Installed() }
func (d *Device) Share(int) ([]*Partition, error)         { return nil, Installed() }

func (p *Partition) Load([]byte) error                        { return nil }
func (p *Partition) Alloc(uint64) (Pointer, error)            { return 0, nil }
func (p *Partition) Write(Pointer, []byte) error              { return nil }
func (p *Partition) Read([]byte, Pointer) error               { return nil }
func (p *Partition) Fill(Pointer, byte, uint64) error         { return nil }
func (p *Partition) Launch(string, Dim, Dim, ...uint64) error { return nil }
func (p *Partition) Sync() error                              { return nil }
func (p *Partition) Mark(bool) error                          { return nil }
func (p *Partition) Elapsed() (time.Duration, error)          { return 0, nil }
func (p *Partition) SMs() int                                 { return 0 }
func (p *Partition) Use() error                               { return nil }
func (p *Partition) Done()                                    {}
func (p *Partition) Free() error                              { return nil }
func (p *Partition) Close() error                             { return nil }
