//go:build !cgo || !linux

package cuda

import "miglab/profiling"

// A Device is one GPU or MIG instance. This build cannot open it.
type Device struct {
	Queue
	Facts Facts
}

// A Partition is a part of a device's multiprocessors. This build cannot make it.
type Partition struct {
	Queue
	SMs int
}

// Installed always fails (see the package comment).
func Installed() error { return profiling.WithoutCgo("load libcuda.so.1") }

// Open always fails (see the package comment).
func Open() (*Device, error) { return nil, Installed() }

// Split always fails (see the package comment).
func (d *Device) Split([]int) ([]*Partition, error) { return nil, Installed() }

// Share always fails (see the package comment).
func (d *Device) Share(int) ([]*Partition, error) { return nil, Installed() }

// Do always fails (see the package comment).
func (p *Partition) Do(func() error) error { return Installed() }
