//go:build cgo && linux

package nvml

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/harness/mig"
	"miglab/profiling"
)

// Open opens a GPU under MIG. [profiling.Choose] explains the selector. The model of a GPU that package mig does not
// know is built from the driver's profiles, and added to models. The error is [profiling.ErrUnsupported] for a GPU
// without MIG, and for one that package mig does not know while its MIG mode is off: the driver lists no profiles then.
func Open(models *mig.Catalog, selector string) (_ profiling.Device, err error) {
	lib, err := loadLibrary()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			lib.Shutdown()
		}
	}()
	gpus, err := listGPUs(lib, models)
	if err != nil {
		return nil, err
	}
	d, err := chooseGPU(gpus, selector)
	if err != nil {
		return nil, err
	}
	op := "open " + d.id.Name
	if _, err := d.isMIGOn(op); err != nil {
		return nil, err
	}
	if d.id.MIG && d.id.Model == nil {
		// identify has tried this and dropped the error, which says why the profiles give no model.
		if d.id.Model, err = readModel(models, d.gpu, d.id, op); err != nil {
			return nil, err
		}
		d.model.Store(d.id.Model)
	}
	if d.id.Model != nil {
		return d, nil
	}
	_, err = profiling.Model(d.id.Name, d.id.MemoryMiB)
	return nil, &profiling.DeviceError{
		Op: op, Err: fmt.Errorf("%w: %w", profiling.ErrUnsupported, err),
		Remedy: "turn MIG mode on, as root, with nvidia-smi -mig 1 -i " + d.id.UUID +
			": then the driver lists the profiles of which a model is built; or " + withoutMIG,
	}
}

// loadLibrary loads the library. It refuses drivers before 535: they lack functions that this package calls,
// and a call of a missing function ends the process.
func loadLibrary() (nvml.Interface, error) {
	const op = "load NVML"
	lib := nvml.New()
	if ret := lib.Init(); ret != nvml.SUCCESS {
		return nil, failure(op, ret)
	}
	if lib.Extensions().LookupSymbol("nvmlDeviceGetCurrentClocksEventReasons") != nil { // new in 535
		version, _ := lib.SystemGetDriverVersion()
		lib.Shutdown()
		err := fmt.Errorf("%w: the driver %s is too old", profiling.ErrUnsupported, version)
		return nil, &profiling.DeviceError{Op: op, Err: err, Remedy: "install driver 535 or later"}
	}
	return lib, nil
}

func listGPUs(lib nvml.Interface, models *mig.Catalog) ([]*device, error) {
	n, ret := lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return nil, failure("count GPUs", ret)
	}
	gpus := make([]*device, n)
	for i := range gpus {
		d, op := &device{lib: lib, models: models}, fmt.Sprintf("identify GPU %d", i)
		gpus[i] = d
		if d.gpu, ret = lib.DeviceGetHandleByIndex(i); ret != nvml.SUCCESS {
			d.err = failure(op, ret)
			continue
		}
		d.id, d.err = d.identify(op)
		d.model.Store(d.id.Model)
	}
	return gpus, nil
}

// identify reads the identity of a GPU. While MIG mode is off, the model follows from the name; it is nil if
// package mig does not know it. A GPU without MIG has MIG mode off, and one without memory of its own has 0 MiB.
// Containers may keep the memory of a GPU in MIG mode secret; then it follows from the profiles.
func (d *device) identify(op string) (profiling.Identity, error) {
	lib, gpu := d.lib, d.gpu
	id := profiling.Identity{Source: mig.SourceMIG}
	var driver, name, uuid nvml.Return
	id.Driver, driver = lib.SystemGetDriverVersion()
	id.Name, name = gpu.GetName()
	id.UUID, uuid = gpu.GetUUID()
	memory, hasMemory := gpu.GetMemoryInfo()
	current, pending, hasMIG := gpu.GetMigMode()
	if memory.Total == 0 && hasMIG == nvml.SUCCESS && current == nvml.DEVICE_MIG_ENABLE {
		profiles, err := describeProfiles(gpu, op)
		if err != nil {
			return profiling.Identity{}, err
		}
		memory.Total, hasMemory = inferMemory(id.Name, profiles)<<20, nvml.SUCCESS
	}
	if ret := cmp.Or(driver, name, uuid, optional(hasMemory), optional(hasMIG)); ret != nvml.SUCCESS {
		return profiling.Identity{}, failure(op, ret)
	}
	id.MemoryMiB = int(memory.Total >> 20)
	id.Model, _ = profiling.Model(id.Name, id.MemoryMiB)
	id.MIG, id.MIGPending = current == nvml.DEVICE_MIG_ENABLE, pending == nvml.DEVICE_MIG_ENABLE
	if !id.MIG {
		return id, nil
	}
	g, err := readModel(d.models, gpu, id, op)
	if err != nil && !errors.Is(err, profiling.ErrUnsupported) {
		return profiling.Identity{}, err
	}
	id.Model = g
	return id, nil
}

// optional turns the refusal of a feature that a GPU lacks into a success.
func optional(ret nvml.Return) nvml.Return {
	if ret == nvml.ERROR_NOT_SUPPORTED {
		return nvml.SUCCESS
	}
	return ret
}

// chooseGPU finds the GPU that a selector names. An error about another GPU is returned only if the selector does not
// name exactly one.
func chooseGPU(gpus []*device, selector string) (*device, error) {
	var ids []profiling.Identity
	for _, g := range gpus {
		ids = append(ids, g.id)
	}
	i, err := profiling.Choose(selector, ids)
	if err == nil {
		return gpus[i], gpus[i].err
	}
	for _, g := range gpus {
		if g.err != nil {
			return nil, g.err
		}
	}
	return nil, err
}

// gigabytes returns a profile's memory in GB as in NVIDIA's name of the profile: a number of eighths of the GPU's
// memory, which is rounded up to whole GB (go-nvlib, pkg/nvlib/device/mig_profile.go).
func gigabytes(profileMiB, gpuMiB int) int {
	gb := (gpuMiB + 1023) / 1024
	eighths := (8*profileMiB + gpuMiB - 1) / max(1, gpuMiB)
	return (2*eighths*gb + 8) / 16 // halves are rounded up
}

// inferMemory estimates a GPU's memory in MiB. Its largest profile has slightly less. If the name of the GPU's model
// says at most a sixteenth more than the profile, the name is exact.
func inferMemory(name string, profiles []described) uint64 {
	largest := 0
	for _, p := range profiles {
		largest = max(largest, int(p.MemorySizeMB))
	}
	if g, err := profiling.Model(name, largest); err == nil {
		if total := g.Profile(g.ComputeSlices).MemoryMB(); total >= largest && total-largest < largest/16 {
			return uint64(total)
		}
	}
	return uint64(largest)
}
