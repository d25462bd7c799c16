// Package cuda runs kernels in PTX on an NVIDIA GPU through the driver's own library, libcuda.so.1. [Installed] and
// [Open] load it. The package needs a driver, but neither the CUDA toolkit nor its runtime.
//
// Like package nvml it needs cgo and Linux. In other builds Open returns an error.
package cuda

import (
	"fmt"
	"time"
)

// A Pointer is an address in a device's memory.
type Pointer uint64

// A Dim is the size of a grid, in blocks, or of a block, in threads.
type Dim struct{ X, Y, Z uint32 }

// A Queue runs kernels one after the other. [Device] and [Partition] are queues.
type Queue interface {
	// Load translates kernels in PTX for the device. They replace the kernels of an earlier call.
	Load(ptx []byte) error
	// Alloc reserves memory. Close frees it.
	Alloc(bytes uint64) (Pointer, error)
	// Write copies data into the device's memory.
	Write(to Pointer, data []byte) error
	// Read copies from the device's memory, after all kernels that were launched, and waits for it.
	Read(data []byte, from Pointer) error
	// Fill sets bytes of the device's memory.
	Fill(at Pointer, value byte, bytes uint64) error
	// Launch starts a kernel and does not wait for it. Each argument is a pointer or an integer; a kernel's parameter
	// of 32 bits takes the low half. More than 16 arguments are an error.
	Launch(name string, grid, block Dim, arguments ...uint64) error
	// Sync waits for all kernels that were launched.
	Sync() error
	// Timed calls do and returns how long the device took for the kernels that do launched, by its own clock.
	Timed(do func() error) (time.Duration, error)
	// Close ends the queue and frees its memory.
	Close() error
}

// Facts describe a device as CUDA sees it: a GPU, or one of its MIG instances.
type Facts struct {
	Name string
	// SMs is the number of multiprocessors.
	SMs int
	// MemoryMiB is the size of its memory in MiB.
	MemoryMiB int
	// L2Bytes is the size of its L2 cache.
	L2Bytes int
	// Driver is the version of CUDA that the driver supports, for example CUDA 12.4.
	Driver string
	// UUID has no prefix such as GPU- or MIG-.
	UUID string
}

// An Error is a refusal of the driver.
type Error struct {
	// Call is the function of the driver's API.
	Call string
	// Code is its result, and Text the driver's description of it.
	Code int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (CUDA error %d)", e.Call, e.Text, e.Code) }

// OutOfMemory reports whether the device has too little free memory.
func (e *Error) OutOfMemory() bool { return e.Code == outOfMemory }

const outOfMemory = 2 // CUDA_ERROR_OUT_OF_MEMORY
