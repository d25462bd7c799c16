//go:build cgo && linux

package cuda

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;

// The functions of the driver, by the names that libcuda.so.1 exports. Where it has a later
// version of a function, it is that.
#define FUNCTIONS(F)                                                      \
  F(cuInit, (unsigned flags), (flags))                                    \
  F(cuDeviceGet, (CUdevice *device, int ordinal), (device, ordinal))      \
  F(cuDeviceGetName, (char *name, int length, CUdevice device), (name, length, device)) \
  F(cuDeviceGetUuid_v2, (unsigned char *uuid, CUdevice device), (uuid, device)) \
  F(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device), (bytes, device)) \
  F(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device), (value, attribute, device)) \
  F(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device), (context, device)) \
  F(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))            \
  F(cuCtxSetCurrent, (CUcontext context), (context))                      \
  F(cuCtxSynchronize, (void), ())                                         \
  F(cuModuleLoadData, (CUmodule *module, const void *image), (module, image)) \
  F(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name), (function, module, name)) \
  F(cuMemAlloc_v2, (CUdeviceptr *pointer, size_t bytes), (pointer, bytes)) \
  F(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes)) \
  F(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes)) \
  F(cuMemsetD8_v2, (CUdeviceptr at, unsigned char value, size_t bytes), (at, value, bytes)) \
  F(cuLaunchKernel, (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
     unsigned shared, void *stream, void **arguments, void **extra), (f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra)) \
  F(cuGetErrorString, (CUresult error, const char **text), (error, text))

#define DECLARE(name, parameters, arguments)              \
  static CUresult (*name##_at) parameters;                \
  static CUresult name parameters { return name##_at arguments; }
FUNCTIONS(DECLARE)

// Loads the library and returns NULL, or the name of what is missing.
static const char *load(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return "libcuda.so.1";
#define FIND(name, parameters, arguments) \
  if ((*(void **)&name##_at = dlsym(library, #name)) == NULL) return #name;
  FUNCTIONS(FIND)
  return NULL;
}

// Launches a kernel whose arguments stand in slots of 8 bytes.
static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, uint64_t *slots, int n) {
  void *arguments[16];
  for (int i = 0; i < n; i++) arguments[i] = &slots[i];
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, 0, NULL, arguments, NULL);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"miglab/profiling"
)

// A Device is one GPU or MIG instance, and the kernels that were loaded into it. Only the
// goroutine that opened it may use it.
type Device struct {
	number    C.CUdevice
	facts     Facts
	module    C.CUmodule
	functions map[string]C.CUfunction
}

const (
	attributeSMs = 16 // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
	attributeL2  = 38 // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
)

var load = sync.OnceValue(func() string { return C.GoString(C.load()) })

// Installed returns nil if the driver's library is there and has what this package needs. It
// touches no GPU. The error is a [*profiling.DeviceError].
func Installed() error {
	const op = "load the CUDA driver"
	switch missing := load(); missing {
	case "":
		return nil
	case "libcuda.so.1":
		return &profiling.DeviceError{
			Op: op, Err: profiling.ErrNoDriver,
			Remedy: "install it: libcuda.so.1 was not found (in a container: start it with the NVIDIA container runtime)",
		}
	default:
		return &profiling.DeviceError{Op: op, Err: fmt.Errorf("libcuda.so.1 has no %s", missing), Remedy: "install a driver of CUDA 11.4 or later"}
	}
}

// Open opens the first device that the process may see, which is what the environment
// variable CUDA_VISIBLE_DEVICES names if it is set. The error is a [*profiling.DeviceError].
func Open() (*Device, error) {
	if err := Installed(); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // a context belongs to a thread
	d := &Device{}
	if err := d.open(); err != nil {
		runtime.UnlockOSThread()
		return nil, &profiling.DeviceError{Op: "open the CUDA device", Err: err, Remedy: remedy(err)}
	}
	return d, nil
}

// remedy returns what the user can do about a device that cannot be opened.
func remedy(err error) string {
	refusal, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return ""
	case refusal.Code == 100 || refusal.Code == 101: // CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE
		return "check CUDA_VISIBLE_DEVICES; in a container, the instance's files in /dev/nvidia-caps must exist (nvidia-smi or nvidia-modprobe makes them)"
	case refusal.Code == 803: // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
		return "the driver's library and its kernel module are of different versions: reboot, or reload the module"
	}
	return ""
}

func (d *Device) open() error {
	var context C.CUcontext
	if err := check("cuInit", C.cuInit(0)); err != nil {
		return err
	}
	if err := check("cuDeviceGet", C.cuDeviceGet(&d.number, 0)); err != nil {
		return err
	}
	if err := d.ask(); err != nil {
		return err
	}
	if err := check("cuDevicePrimaryCtxRetain", C.cuDevicePrimaryCtxRetain(&context, d.number)); err != nil {
		return err
	}
	return check("cuCtxSetCurrent", C.cuCtxSetCurrent(context))
}

// ask reads the device's facts.
func (d *Device) ask() error {
	var name [256]C.char
	var uuid [16]C.uchar
	var memory C.size_t
	var sms, l2 C.int
	for _, err := range []error{
		check("cuDeviceGetName", C.cuDeviceGetName(&name[0], C.int(len(name)), d.number)),
		check("cuDeviceGetUuid_v2", C.cuDeviceGetUuid_v2(&uuid[0], d.number)),
		check("cuDeviceTotalMem_v2", C.cuDeviceTotalMem_v2(&memory, d.number)),
		check("cuDeviceGetAttribute", C.cuDeviceGetAttribute(&sms, attributeSMs, d.number)),
		check("cuDeviceGetAttribute", C.cuDeviceGetAttribute(&l2, attributeL2, d.number)),
	} {
		if err != nil {
			return err
		}
	}
	u := C.GoBytes(unsafe.Pointer(&uuid), 16)
	d.facts = Facts{
		Name: C.GoString(&name[0]), SMs: int(sms), MemoryMiB: int(memory >> 20), L2Bytes: int(l2),
		UUID: fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]),
	}
	return nil
}

func check(call string, result C.CUresult) error {
	if result == 0 {
		return nil
	}
	var text *C.char
	if C.cuGetErrorString(result, &text); text == nil {
		return &Error{Call: call, Code: int(result), Text: "unknown error"}
	}
	return &Error{Call: call, Code: int(result), Text: C.GoString(text)}
}

// Facts returns what the device is.
func (d *Device) Facts() Facts { return d.facts }

// Load translates kernels in PTX for the device, in place of those of an earlier call.
func (d *Device) Load(ptx []byte) error {
	image := C.CBytes(append(ptx[:len(ptx):len(ptx)], 0))
	defer C.free(image)
	d.functions = map[string]C.CUfunction{}
	return check("cuModuleLoadData", C.cuModuleLoadData(&d.module, image))
}

// Alloc reserves memory. Close frees it.
func (d *Device) Alloc(bytes uint64) (Pointer, error) {
	var p C.CUdeviceptr
	err := check("cuMemAlloc", C.cuMemAlloc_v2(&p, C.size_t(bytes)))
	return Pointer(p), err
}

// Write copies data into the device's memory.
func (d *Device) Write(to Pointer, data []byte) error {
	return check("cuMemcpyHtoD", C.cuMemcpyHtoD_v2(C.CUdeviceptr(to), unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data))))
}

// Read copies from the device's memory, after all kernels that were launched.
func (d *Device) Read(data []byte, from Pointer) error {
	return check("cuMemcpyDtoH", C.cuMemcpyDtoH_v2(unsafe.Pointer(unsafe.SliceData(data)), C.CUdeviceptr(from), C.size_t(len(data))))
}

// Fill sets bytes of the device's memory.
func (d *Device) Fill(at Pointer, value byte, bytes uint64) error {
	return check("cuMemsetD8", C.cuMemsetD8_v2(C.CUdeviceptr(at), C.uchar(value), C.size_t(bytes)))
}

// Launch starts a kernel and does not wait for it. Each argument is a pointer or an integer;
// a kernel's parameter of 32 bits takes the low half. There are at most 16.
func (d *Device) Launch(name string, grid, block Dim, arguments ...uint64) error {
	f, known := d.functions[name]
	if !known {
		text := C.CString(name)
		defer C.free(unsafe.Pointer(text))
		if err := check("cuModuleGetFunction "+name, C.cuModuleGetFunction(&f, d.module, text)); err != nil {
			return err
		}
		d.functions[name] = f
	}
	slots := (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(arguments)))
	result := C.launch(f, C.uint(grid.X), C.uint(grid.Y), C.uint(grid.Z), C.uint(block.X), C.uint(block.Y), C.uint(block.Z), slots, C.int(len(arguments)))
	if result == 0 {
		return nil
	}
	return check("launch "+name, result)
}

// Sync waits for all kernels that were launched.
func (d *Device) Sync() error { return check("cuCtxSynchronize", C.cuCtxSynchronize()) }

// Close frees the device and all its memory.
func (d *Device) Close() error {
	defer runtime.UnlockOSThread()
	return check("cuDevicePrimaryCtxRelease", C.cuDevicePrimaryCtxRelease_v2(d.number))
}
