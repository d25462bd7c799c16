//go:build !cgo || !linux

package nvml

import (
	"errors"

	"miglab/profiling"
)

// errWithout is the error of every function if the program cannot load the library.
var errWithout = &profiling.DeviceError{
	Op:  "load NVML",
	Err: errors.New("this program was built without cgo or not for Linux"),
	Remedy: "build it on Linux with a C compiler: make build-nvml (CGO_ENABLED=1 go build -o bin/miglab " +
		"./harness/cmd/miglab)",
}

// Open always fails (see the package comment).
func Open(selector string) (profiling.Device, error) { return nil, errWithout }

// OpenWhole always fails (see the package comment).
func OpenWhole(selector string) (profiling.Device, error) { return nil, errWithout }

// OpenExisting always fails (see the package comment).
func OpenExisting(selector string) (profiling.Device, error) { return nil, errWithout }

// WatchGPU always fails (see the package comment).
func WatchGPU(string) (*profiling.Watch, string, int, error) {
	return nil, "", 0, errWithout
}
