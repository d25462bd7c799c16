// Package nvml accesses GPUs through NVIDIA's management library, which comes with the driver. [Open] returns a GPU
// under MIG as a [profiling.Device], [OpenExisting] one whose instances exist.
//
// The package needs cgo, Linux and driver 535 or later. In other builds its functions fail and say how to
// build the program.
//
// The model of a GPU under MIG comes from the table of package mig if the driver's profiles and placements of the sizes
// that schedulers use agree with it; otherwise it is built from them.
package nvml
