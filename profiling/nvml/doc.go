// Package nvml accesses GPUs under MIG through NVIDIA's management library. [Open] returns
// a [profiling.Device], [List] lists the GPUs. Both load the library, which comes with the
// driver.
//
// The package needs cgo, Linux and driver 535 or later. In other builds both functions fail and say how to
// build the program.
//
// Before it makes an instance, the package compares the driver's profiles with the
// placement table of package mig. It refuses a board whose table differs, since schedules
// for it would be wrong.
package nvml
