// Package nvml is a GPU under MIG through NVIDIA's management library: [Open] gives
// a [profiling.Device], [List] says which GPUs there are. The library is loaded when
// they are called, and comes with the driver.
//
// It needs cgo and Linux. In programs built otherwise both functions fail and say how to
// build one in which they do not.
//
// What a driver says about profiles is compared with the placement table of package
// mig before an instance is made: a board whose table differs is refused, since
// schedules for it would be wrong.
package nvml
