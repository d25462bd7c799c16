//go:build !cgo || !linux

package cuda

import (
	"errors"

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
