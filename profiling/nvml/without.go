//go:build !cgo || !linux

package nvml

import (
	"miglab/harness/mig"
	"miglab/profiling"
)

var errWithout = profiling.WithoutCgo("load NVML")

// Open always fails (see the package comment).
func Open(*mig.Catalog, string) (profiling.Device, error) { return nil, errWithout }

// OpenExisting always fails (see the package comment).
func OpenExisting(*mig.Catalog, string) (profiling.Device, error) { return nil, errWithout }

// WatchGPU always fails (see the package comment).
func WatchGPU(string) (w *profiling.Watch, driver string, processes int, err error) {
	return nil, "", -1, errWithout
}
