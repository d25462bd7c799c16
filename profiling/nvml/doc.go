// Package nvml is a GPU under MIG through NVIDIA's management library. The library is
// loaded when a device is opened; programs built without cgo have a version that says so.
package nvml
