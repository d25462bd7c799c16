//go:build cgo && linux

package nvml

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/harness/mig"
	"miglab/profiling"
)

// Open opens a GPU under MIG. The selector is the GPU's index as nvidia-smi counts, or
// its UUID or the beginning of it; empty, it stands for the only GPU there is. A GPU
// without MIG, or of a model that is not known, is [profiling.ErrUnsupported].
func Open(selector string) (profiling.Device, error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	d, err := open(lib, selector)
	if err != nil {
		lib.Shutdown()
		return nil, err
	}
	return d, nil
}

func open(lib nvml.Interface, selector string) (*device, error) {
	gpus, failed := list(lib)
	g, err := choose(selector, gpus, failed)
	if err != nil {
		return nil, err
	}
	op := "open " + g.id.Name
	d := &device{lib: lib, gpu: g.handle, uuid: g.id.UUID, model: g.id.Model, memory: g.id.MemoryMiB}
	if _, _, err := d.mode(op); err != nil {
		return nil, err
	}
	if d.model == nil {
		_, err := profiling.Model(g.id.Name, g.id.MemoryMiB)
		return nil, &profiling.DeviceError{Op: op, Err: fmt.Errorf("%w: %w", profiling.ErrUnsupported, err), Remedy: withoutMIG}
	}
	return d, nil
}

// List says which GPUs there are, by index. A GPU whose model package mig does not
// know has none, and one without MIG has MIG mode off. Where some cannot be
// identified, it returns the others and an error for each of these, joined.
func List() ([]profiling.Identity, error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	defer lib.Shutdown()
	gpus, failed := list(lib)
	var ids []profiling.Identity
	for _, g := range gpus {
		ids = append(ids, g.id)
	}
	return ids, errors.Join(failed...)
}

// required are the functions that package nvml calls without looking for them first,
// besides nvmlInit and nvmlShutdown: to call one that is missing ends the process. All
// are in drivers that can create an instance at a placement.
var required = []string{
	"nvmlErrorString", "nvmlSystemGetDriverVersion", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex",
	"nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetMemoryInfo",
	"nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetEnforcedPowerLimit",
	"nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses",
	"nvmlDeviceGetMigMode", "nvmlDeviceSetMigMode",
	"nvmlDeviceGetGpuInstanceProfileInfo", "nvmlDeviceGetGpuInstancePossiblePlacements",
	"nvmlDeviceCreateGpuInstanceWithPlacement", "nvmlGpuInstanceDestroy",
	"nvmlDeviceGetGpuInstances", "nvmlDeviceGetGpuInstanceById", "nvmlGpuInstanceGetInfo",
	"nvmlGpuInstanceGetComputeInstanceProfileInfo", "nvmlGpuInstanceCreateComputeInstance", "nvmlComputeInstanceDestroy",
	"nvmlGpuInstanceGetComputeInstances", "nvmlComputeInstanceGetInfo",
	"nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex",
}

// load loads the library and checks that it has what is called.
func load() (nvml.Interface, error) {
	const op = "load NVML"
	lib := nvml.New()
	if ret := lib.Init(); ret != nvml.SUCCESS {
		return nil, failure(op, ret)
	}
	for _, f := range required {
		if !has(lib, f) {
			lib.Shutdown()
			err := fmt.Errorf("%w: the driver's library has no %s", profiling.ErrUnsupported, f)
			return nil, &profiling.DeviceError{Op: op, Err: err, Remedy: "install a newer driver"}
		}
	}
	return lib, nil
}

// has reports whether the library has a function in one of the versions between
// which go-nvml chooses.
func has(lib nvml.Interface, function string) bool {
	for _, version := range []string{"", "_v2", "_v3"} {
		if lib.Extensions().LookupSymbol(function+version) == nil {
			return true
		}
	}
	return false
}

// gpu is a GPU with its number.
type gpu struct {
	index  int
	handle nvml.Device
	id     profiling.Identity
}

// list identifies all GPUs. Where that fails for some, it returns the others and why.
func list(lib nvml.Interface) (gpus []gpu, failed []error) {
	n, ret := lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return nil, []error{failure("count GPUs", ret)}
	}
	for i := range n {
		g := gpu{index: i}
		op := fmt.Sprintf("identify GPU %d", i)
		var err error
		if g.handle, ret = lib.DeviceGetHandleByIndex(i); ret != nvml.SUCCESS {
			err = failure(op, ret)
		} else {
			g.id, err = identify(lib, g.handle, op)
		}
		if err == nil {
			gpus = append(gpus, g)
		} else {
			failed = append(failed, err)
		}
	}
	return gpus, failed
}

// identify reads what is known about a GPU. Its model is nil where package mig does
// not know it, its MIG mode off where it has none, and its memory 0 where it has none of
// its own.
func identify(lib nvml.Interface, gpu nvml.Device, op string) (profiling.Identity, error) {
	id := profiling.Identity{Source: profiling.MIG}
	var ret nvml.Return
	if id.Driver, ret = lib.SystemGetDriverVersion(); ret != nvml.SUCCESS {
		return id, failure(op, ret)
	}
	if id.Name, ret = gpu.GetName(); ret != nvml.SUCCESS {
		return id, failure(op, ret)
	}
	if id.UUID, ret = gpu.GetUUID(); ret != nvml.SUCCESS {
		return id, failure(op, ret)
	}
	memory, ret := gpu.GetMemoryInfo()
	if ret != nvml.SUCCESS && ret != nvml.ERROR_NOT_SUPPORTED {
		return id, failure(op, ret)
	}
	id.MemoryMiB = int(memory.Total >> 20)
	id.Model, _ = profiling.Model(id.Name, id.MemoryMiB)
	current, pending, ret := gpu.GetMigMode()
	if ret != nvml.SUCCESS && ret != nvml.ERROR_NOT_SUPPORTED {
		return id, failure(op, ret)
	}
	id.MIG, id.MIGPending = current == nvml.DEVICE_MIG_ENABLE, pending == nvml.DEVICE_MIG_ENABLE
	return id, nil
}

// choose finds the GPU that a selector means. That some could not be identified (failed)
// matters only where none of the others is named.
func choose(selector string, gpus []gpu, failed []error) (gpu, error) {
	var meant []gpu
	for _, g := range gpus {
		if selector == strconv.Itoa(g.index) || strings.HasPrefix(g.id.UUID, selector) {
			meant = append(meant, g)
		}
	}
	if len(failed) > 0 && (selector == "" || len(meant) == 0) {
		return gpu{}, failed[0]
	}
	if len(meant) == 1 {
		return meant[0], nil
	}
	err := fmt.Errorf("none is %q; there are %s", selector, names(gpus))
	switch {
	case len(gpus) == 0:
		err = errors.New("the driver shows none")
	case selector == "":
		err = fmt.Errorf("there are several: %s", names(gpus))
	case len(meant) > 1:
		err = fmt.Errorf("%q can be each of %s", selector, names(meant))
	}
	return gpu{}, &profiling.DeviceError{Op: "choose a GPU", Err: err, Remedy: "name one by its index or UUID"}
}

func names(gpus []gpu) string {
	var out []string
	for _, g := range gpus {
		out = append(out, fmt.Sprintf("%d: %s, %s", g.index, g.id.Name, g.id.UUID))
	}
	return strings.Join(out, "; ")
}

// gigabytes is a profile's memory in GB as NVIDIA writes it in the profile's name: a
// number of eighths of the GPU's memory, which is rounded up to whole GB (go-nvlib,
// pkg/nvlib/device/mig_profile.go).
func gigabytes(profileMiB, gpuMiB int) int {
	gb := (gpuMiB + 1023) / 1024
	eighths := (8*profileMiB + gpuMiB - 1) / gpuMiB
	return (2*eighths*gb + 8) / 16 // halves are rounded up
}

// standIn is a profile that the model's table lacks, as far as the driver tells.
func standIn(info nvml.GpuInstanceProfileInfo, length mig.Slices, memoryMiB int) *mig.Profile {
	return &mig.Profile{
		ID: int(info.Id), Size: mig.Slices(info.SliceCount), Length: length, Max: int(info.InstanceCount),
		MemoryGB: gigabytes(int(info.MemorySizeMB), memoryMiB), SMs: int(info.MultiprocessorCount),
	}
}
