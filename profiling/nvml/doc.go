// Package nvml accesses GPUs through NVIDIA's management library, which comes with the driver. [Open] returns a GPU
// under MIG as a [profiling.Device], and [OpenExisting] one whose instances exist. [WatchGPU] samples any GPU.
//
// The package needs cgo, Linux and driver 535 or later. In other builds its functions fail and say how to
// build the program.
//
// The model of a GPU under MIG comes from the table of package mig if the driver reports the same profiles and
// placements for the sizes that schedulers use. Otherwise the model is built from what the driver reports.
package nvml
