// Package nvml accesses GPUs through NVIDIA's management library, which comes with the driver. [Open] returns a GPU
// under MIG as a [profiling.Device], [OpenWhole] one that nothing divides, [List] lists the GPUs.
//
// The package needs cgo, Linux and driver 535 or later. In other builds its functions fail and say how to
// build the program.
//
// Before it makes an instance, the package compares the driver's profiles with the placement table of package mig. It
// refuses a board whose table differs, since schedules for it would be wrong.
package nvml
