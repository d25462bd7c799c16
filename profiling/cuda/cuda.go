//go:build cgo && linux

package cuda

// #cgo LDFLAGS: -ldl
// #include "driver.h"
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"miglab/profiling"
)

// A Device is one GPU or MIG instance, and the kernels that were loaded into it. Only the goroutine that opened it may
// use it.
type Device struct {
	queue
	// Facts say what the device is.
	Facts Facts
}

// A queue is a [Queue] but for Close: a stream of a context.
type queue struct {
	number  C.CUdevice
	context C.CUcontext
	// stream is the context's default stream if it is nil.
	stream    C.CUstream
	module    C.CUmodule
	functions map[string]C.CUfunction
	// allocated has the pointers that Alloc returned.
	allocated []C.CUdeviceptr
}

const (
	attributeSMs   = 16 // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
	attributeL2    = 38 // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
	attributeMajor = 75 // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
	attributeMinor = 76 // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
	leastMajor     = 7  // of the compute capability that the kernels' PTX is made for, 7.0
)

var load = sync.OnceValue(func() string { return C.GoString(C.load()) })

// Installed returns nil if the driver's library is there and has what this package needs. It touches no GPU. The error
// is a [*profiling.DeviceError].
func Installed() error {
	const op = "load the CUDA driver"
	switch missing := load(); missing {
	case "":
		return nil
	case "libcuda.so.1":
		return &profiling.DeviceError{
			Op: op, Err: profiling.ErrNoDriver,
			Remedy: "install it: libcuda.so.1 was not found (in a container: start it with the NVIDIA " +
				"container runtime)",
		}
	default:
		return &profiling.DeviceError{
			Op: op, Err: fmt.Errorf("libcuda.so.1 has no %s", missing),
			Remedy: "install a driver of CUDA 11.4 or later",
		}
	}
}

// Open opens the first device that the process may see: the first one in the environment variable CUDA_VISIBLE_DEVICES
// if it is set. The error is a [*profiling.DeviceError].
func Open() (*Device, error) {
	if err := Installed(); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // a context belongs to a thread
	d := &Device{}
	if err := d.retain(); err != nil {
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
		return "check CUDA_VISIBLE_DEVICES; with the MIG mode on, a GPU without instances is no device; in a " +
			"container, the instance's files in /dev/nvidia-caps must exist (nvidia-smi or nvidia-modprobe makes them)"
	case refusal.Code == 802: // CUDA_ERROR_SYSTEM_NOT_READY
		return "on a machine with NVSwitch (H100, H200 or B200 SXM), start the service nvidia-fabricmanager, of the " +
			"same version as the driver"
	case refusal.Code == 803: // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
		return "the driver's library and its kernel module are of different versions: reboot, or reload the module"
	}
	return ""
}

func (d *Device) retain() error {
	if err := check("cuInit", C.cuInit(0)); err != nil {
		return err
	}
	if err := check("cuDeviceGet", C.cuDeviceGet(&d.number, 0)); err != nil {
		return err
	}
	if err := d.readFacts(); err != nil {
		return err
	}
	if err := check("cuDevicePrimaryCtxRetain", C.cuDevicePrimaryCtxRetain(&d.context, d.number)); err != nil {
		return err
	}
	return check("cuCtxSetCurrent", C.cuCtxSetCurrent(d.context))
}

// readFacts reads the device's facts.
func (d *Device) readFacts() error {
	var name [256]C.char
	var uuid [16]C.uchar
	var memory C.size_t
	var sms, l2, version, major, minor C.int
	if err := cmp.Or(
		check("cuDriverGetVersion", C.cuDriverGetVersion(&version)),
		check("cuDeviceGetName", C.cuDeviceGetName(&name[0], C.int(len(name)), d.number)),
		check("cuDeviceGetUuid_v2", C.cuDeviceGetUuid_v2(&uuid[0], d.number)),
		check("cuDeviceTotalMem_v2", C.cuDeviceTotalMem_v2(&memory, d.number)),
		check("cuDeviceGetAttribute", C.cuDeviceGetAttribute(&sms, attributeSMs, d.number)),
		check("cuDeviceGetAttribute", C.cuDeviceGetAttribute(&l2, attributeL2, d.number)),
		check("cuDeviceGetAttribute", C.cuDeviceGetAttribute(&major, attributeMajor, d.number)),
		check("cuDeviceGetAttribute", C.cuDeviceGetAttribute(&minor, attributeMinor, d.number)),
	); err != nil {
		return err
	}
	if major < leastMajor {
		return fmt.Errorf("the kernels are made for compute capability %d.0 or higher, and this GPU has %d.%d",
			leastMajor, major, minor)
	}
	u := C.GoBytes(unsafe.Pointer(&uuid), 16)
	d.Facts = Facts{
		Name: C.GoString(&name[0]), SMs: int(sms), MemoryMiB: int(memory >> 20), L2Bytes: int(l2),
		Driver: fmt.Sprintf("CUDA %d.%d", version/1000, version%1000/10),
		UUID:   fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]),
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

func (q *queue) Load(ptx []byte) error {
	image := C.CBytes(append(ptx[:len(ptx):len(ptx)], 0))
	defer C.free(image)
	q.functions = map[string]C.CUfunction{}
	return check("cuModuleLoadData", C.cuModuleLoadData(&q.module, image))
}

func (q *queue) Alloc(bytes uint64) (Pointer, error) {
	var p C.CUdeviceptr
	if err := check("cuMemAlloc", C.cuMemAlloc_v2(&p, C.size_t(bytes))); err != nil {
		return 0, err
	}
	q.allocated = append(q.allocated, p)
	return Pointer(p), nil
}

func (q *queue) Write(to Pointer, data []byte) error {
	return check("cuMemcpyHtoD", C.cuMemcpyHtoDAsync_v2(C.CUdeviceptr(to), unsafe.Pointer(unsafe.SliceData(data)),
		C.size_t(len(data)), q.stream))
}

func (q *queue) Read(data []byte, from Pointer) error {
	if err := check("cuMemcpyDtoH", C.cuMemcpyDtoHAsync_v2(unsafe.Pointer(unsafe.SliceData(data)), C.CUdeviceptr(from),
		C.size_t(len(data)), q.stream)); err != nil {
		return err
	}
	return q.Sync()
}

func (q *queue) Fill(at Pointer, value byte, bytes uint64) error {
	return check("cuMemsetD8", C.cuMemsetD8Async(C.CUdeviceptr(at), C.uchar(value), C.size_t(bytes), q.stream))
}

// maxArguments is the length of the array in launch of driver.h.
const maxArguments = 16

func (q *queue) Launch(name string, grid, block Dim, arguments ...uint64) error {
	if len(arguments) > maxArguments {
		return fmt.Errorf("launch %s: %d arguments; a kernel has at most %d", name, len(arguments), maxArguments)
	}
	f, known := q.functions[name]
	if !known {
		text := C.CString(name)
		defer C.free(unsafe.Pointer(text))
		if err := check("cuModuleGetFunction "+name, C.cuModuleGetFunction(&f, q.module, text)); err != nil {
			return err
		}
		q.functions[name] = f
	}
	slots := (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(arguments)))
	result := C.launch(q.stream, f, C.uint(grid.X), C.uint(grid.Y), C.uint(grid.Z), C.uint(block.X), C.uint(block.Y),
		C.uint(block.Z), slots, C.int(len(arguments)))
	if result == 0 {
		return nil // without a name for every launch
	}
	return check("launch "+name, result)
}

func (q *queue) Sync() error { return check("cuStreamSynchronize", C.cuStreamSynchronize(q.stream)) }

// free waits for the kernels that were launched, then frees all reserved memory and unloads the kernels.
func (q *queue) free() error {
	err := q.Sync()
	for _, p := range q.allocated {
		err = errors.Join(err, check("cuMemFree", C.cuMemFree_v2(p)))
	}
	q.allocated = nil
	if q.module != nil {
		err = errors.Join(err, check("cuModuleUnload", C.cuModuleUnload(q.module)))
	}
	q.module, q.functions = nil, nil
	return err
}

func (q *queue) Timed(do func() error) (time.Duration, error) {
	var begin, end C.CUevent
	for _, mark := range []*C.CUevent{&begin, &end} {
		if err := check("cuEventCreate", C.cuEventCreate(mark, 0)); err != nil {
			return 0, err
		}
		defer C.cuEventDestroy_v2(*mark)
	}
	err := check("cuEventRecord", C.cuEventRecord(begin, q.stream))
	if err == nil {
		err = do()
	}
	if err != nil {
		return 0, err
	}
	var milliseconds C.float
	err = cmp.Or(
		check("cuEventRecord", C.cuEventRecord(end, q.stream)),
		check("cuEventSynchronize", C.cuEventSynchronize(end)),
		check("cuEventElapsedTime", C.cuEventElapsedTime(&milliseconds, begin, end)),
	)
	return time.Duration(float64(milliseconds) * float64(time.Millisecond)), err
}

// Close frees the device and all its memory.
func (d *Device) Close() error {
	defer runtime.UnlockOSThread()
	return check("cuDevicePrimaryCtxRelease", C.cuDevicePrimaryCtxRelease_v2(d.number))
}

const (
	resourceSMs    = 1 // CU_DEV_RESOURCE_TYPE_SM
	ignoreClusters = 1 // CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING
	defaultStream  = 1 // CU_GREEN_CTX_DEFAULT_STREAM, which the driver requires
	nonBlocking    = 1 // CU_STREAM_NON_BLOCKING: the stream waits for no other
)

// A Partition is a part of a device's multiprocessors: a green context with a stream. Memory, cache and bandwidth are
// the device's. A stream on the whole device is a Partition too.
type Partition struct {
	queue
	// SMs is the number of multiprocessors that the driver gave it.
	SMs   int
	green C.CUgreenCtx
	// home is the device's own context.
	home C.CUcontext
}

// Split divides the multiprocessors: each count has a partition, and no two partitions share one. The driver hands
// them out in groups, of 8 on Hopper. Where these do not make up the counts, they are groups of 2, which ignore that
// clusters of blocks need neighbours. A count is rounded up to whole groups. The only partition may have the whole
// device. The caller closes the partitions before the device.
func (d *Device) Split(counts []int) ([]*Partition, error) {
	op := fmt.Sprintf("give %v of %d multiprocessors to partitions", counts, d.Facts.SMs)
	if missing := C.missing_for_partitions(); missing != nil {
		return nil, &profiling.DeviceError{
			Op: op, Err: fmt.Errorf("libcuda.so.1 has no %s", C.GoString(missing)),
			Remedy: "install a driver of CUDA 12.4 or later, which is 550.54 or later",
		}
	}
	shares, err := d.divide(counts, 0)
	if err != nil || !slices.EqualFunc(shares, counts, hasCount) {
		shares, err = d.divide(counts, ignoreClusters)
	}
	if err != nil {
		return nil, &profiling.DeviceError{Op: op, Err: err}
	}
	return d.partitions(op, len(shares), func(p *Partition, i int) error { return p.create(shares[i]) })
}

// partitions opens n partitions on any goroutine. If one fails, it closes the others. The device's context stays the
// thread's.
func (d *Device) partitions(op string, n int, open func(p *Partition, i int) error) (out []*Partition, err error) {
	runtime.LockOSThread() // between a context and what is made in it
	defer runtime.UnlockOSThread()
	for i := 0; i < n && err == nil; i++ {
		out = append(out, &Partition{queue: queue{number: d.number}, home: d.context})
		err = open(out[i], i)
	}
	err = cmp.Or(err, check("cuCtxSetCurrent", C.cuCtxSetCurrent(d.context)))
	if err == nil {
		return out, nil
	}
	for _, p := range out {
		err = errors.Join(err, p.Close())
	}
	return nil, &profiling.DeviceError{Op: op, Err: err}
}

// hasCount reports whether groups have as many multiprocessors as a count says.
func hasCount(groups []C.CUdevResource, count int) bool {
	for i := range groups {
		count -= smCount(&groups[i])
	}
	return count == 0
}

// divide returns the groups of multiprocessors of each count.
func (d *Device) divide(counts []int, flags C.uint) ([][]C.CUdevResource, error) {
	whole := make([]C.CUdevResource, 1)
	if err := check("cuDeviceGetDevResource", C.cuDeviceGetDevResource(d.number, &whole[0], resourceSMs)); err != nil {
		return nil, err
	}
	var n C.uint // the smallest groups that there are
	if err := check("cuDevSmResourceSplitByCount",
		C.cuDevSmResourceSplitByCount(nil, &n, &whole[0], nil, flags, 1)); err != nil {
		return nil, err
	}
	groups := make([]C.CUdevResource, max(n, 1))
	if err := check("cuDevSmResourceSplitByCount",
		C.cuDevSmResourceSplitByCount(&groups[0], &n, &whole[0], nil, flags, 1)); err != nil {
		return nil, err
	}
	groups = groups[:n]
	if n == 0 || smCount(&groups[0]) == 0 {
		return nil, errors.New("the driver makes no groups of multiprocessors")
	}
	size := smCount(&groups[0])
	var out [][]C.CUdevResource
	for _, count := range counts {
		if count < 1 {
			return nil, fmt.Errorf("%d multiprocessors are not a partition; it needs at least 1", count)
		}
		need := (count + size - 1) / size
		all := smCount(&whole[0])
		if len(counts) == 1 && (count == all || count < all && need > len(groups)) {
			return [][]C.CUdevResource{whole}, nil
		}
		if need > len(groups) {
			return nil, fmt.Errorf("there are too few: the driver gives them in groups of %d, of which there are %d",
				size, n)
		}
		out = append(out, groups[:need:need])
		groups = groups[need:]
	}
	return out, nil
}

// smCount reads the number of multiprocessors from a resource.
func smCount(r *C.CUdevResource) int { return int(*(*C.uint)(unsafe.Pointer(&r.u))) }

// create makes the green context and its stream.
func (p *Partition) create(groups []C.CUdevResource) error {
	var description C.CUdevResourceDesc
	if err := check("cuDevResourceGenerateDesc",
		C.cuDevResourceGenerateDesc(&description, &groups[0], C.uint(len(groups)))); err != nil {
		return err
	}
	if err := check("cuGreenCtxCreate",
		C.cuGreenCtxCreate(&p.green, description, p.number, defaultStream)); err != nil {
		return err
	}
	var got C.CUdevResource
	if err := check("cuGreenCtxGetDevResource", C.cuGreenCtxGetDevResource(p.green, &got, resourceSMs)); err != nil {
		return err
	}
	p.SMs = smCount(&got)
	if err := check("cuCtxFromGreenCtx", C.cuCtxFromGreenCtx(&p.context, p.green)); err != nil {
		return err
	}
	return p.newStream()
}

// newStream makes a stream in the partition's context, which stays the thread's.
func (p *Partition) newStream() error {
	if err := check("cuCtxSetCurrent", C.cuCtxSetCurrent(p.context)); err != nil {
		return err
	}
	return check("cuStreamCreate", C.cuStreamCreate(&p.stream, nonBlocking))
}

// Share returns n streams that share the whole device, without any limit.
func (d *Device) Share(n int) ([]*Partition, error) {
	return d.partitions("share the device", n, func(p *Partition, _ int) error {
		p.context, p.SMs = d.context, d.Facts.SMs
		return p.newStream()
	})
}

// Do runs do on one thread, on which the partition is current. Only one goroutine may use a partition at a time.
func (p *Partition) Do(do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := check("cuCtxSetCurrent", C.cuCtxSetCurrent(p.context)); err != nil {
		return err
	}
	defer C.cuCtxSetCurrent(nil) // a green context may be current on one thread at a time
	return do()
}

// Close frees the partition with its memory.
func (p *Partition) Close() error {
	var errs []error
	if p.context != nil {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		errs = append(errs, check("cuCtxSetCurrent", C.cuCtxSetCurrent(p.context)))
	}
	if p.stream != nil {
		errs = append(errs, p.free(), check("cuStreamDestroy", C.cuStreamDestroy_v2(p.stream)))
	}
	if p.green != nil {
		errs = append(errs, check("cuCtxSetCurrent", C.cuCtxSetCurrent(p.home)),
			check("cuGreenCtxDestroy", C.cuGreenCtxDestroy(p.green)))
	}
	return errors.Join(errs...)
}
