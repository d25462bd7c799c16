//go:build cgo && linux

package nvml

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/harness/mig"
	"miglab/profiling"
)

// A device is one GPU. Its fields never change, except the model; every method asks the driver.
type device struct {
	lib nvml.Interface
	gpu nvml.Device
	// models receives the models that are built from the profiles of the driver.
	models *mig.Catalog
	// id is its identity when it was listed. err says why it could not be identified; id is zero then.
	id  profiling.Identity
	err error
	// model is the model of the last Identify: by the name while MIG mode is off, and by the driver's profiles when it
	// is on.
	model atomic.Pointer[mig.GPU]
}

var _ profiling.Device = (*device)(nil)

func (d *device) Identify() (profiling.Identity, error) {
	id, err := d.identify("identify the GPU")
	if err == nil && id.Model != nil {
		d.model.Store(id.Model)
	}
	return id, err
}

// isMIGOn reports whether MIG mode is on. The error says what a GPU without MIG is good for.
func (d *device) isMIGOn(op string) (bool, error) {
	current, _, ret := d.gpu.GetMigMode()
	if ret == nvml.ERROR_NOT_SUPPORTED {
		return false, &profiling.DeviceError{Op: op, Err: profiling.ErrUnsupported, Remedy: withoutMIG}
	}
	return current == nvml.DEVICE_MIG_ENABLE, failure(op, ret)
}

// profile returns the driver's description of a profile.
func (d *device) profile(op string, p *mig.Profile) (nvml.GpuInstanceProfileInfo, error) {
	var info nvml.GpuInstanceProfileInfo
	on, err := d.isMIGOn(op)
	if err != nil {
		return info, err
	}
	if !on {
		return info, &profiling.DeviceError{
			Op: op, Err: profiling.ErrMIGOff, Remedy: "turn it on, as root: nvidia-smi -mig 1 -i " + d.id.UUID,
		}
	}
	all, err := enumerate(op, d.gpu.GetGpuInstanceProfileInfo)
	if err != nil {
		return info, err
	}
	i := slices.IndexFunc(all, func(i nvml.GpuInstanceProfileInfo) bool { return int(i.Id) == p.ID })
	if i < 0 {
		err := fmt.Errorf("%w: the driver has no profile %d", profiling.ErrUnsupported, p.ID)
		return info, &profiling.DeviceError{Op: op, Err: err}
	}
	return all[i], nil
}

// enumerate returns the profiles that the GPU or the instance supports. As nvml.h says, they are asked for by number
// until the driver has no more. No driver has nearly as many as 64; the limit is for one that never says so.
func enumerate[T any](op string, ask func(number int) (T, nvml.Return)) (all []T, _ error) {
	for i := range 64 {
		switch info, ret := ask(i); ret {
		case nvml.SUCCESS:
			all = append(all, info)
		case nvml.ERROR_NOT_SUPPORTED: // by this GPU or instance
		case nvml.ERROR_INVALID_ARGUMENT:
			return all, nil
		default:
			return nil, failure(op, ret)
		}
	}
	return all, nil
}

func (d *device) Existing() []mig.Instance { return nil }

func (d *device) Instances() ([]profiling.Instance, error) {
	const op = "list instances"
	if on, err := d.isMIGOn(op); err != nil || !on {
		return nil, err
	}
	all, err := describeProfiles(d.gpu, op)
	if err != nil {
		return nil, err
	}
	var out []profiling.Instance
	for _, p := range all {
		gis, ret := d.gpu.GetGpuInstances(&p.GpuInstanceProfileInfo)
		if ret != nvml.SUCCESS {
			return nil, failure(op, ret)
		}
		for _, gi := range gis {
			i, err := d.describe(op, gi, &p)
			switch {
			case errors.Is(err, profiling.ErrUnknownInstance): // destroyed since it was listed
			case err != nil:
				return nil, err
			default:
				out = append(out, i)
			}
		}
	}
	slices.SortFunc(out, func(a, b profiling.Instance) int { return cmp.Compare(a.Start, b.Start) })
	return out, nil
}

// describe describes an instance of a profile. It has the UUID of its first compute instance, if any.
func (d *device) describe(op string, gi nvml.GpuInstance, profile *described) (out profiling.Instance, _ error) {
	info, ret := gi.GetInfo()
	if ret != nvml.SUCCESS {
		return out, instanceFailure(op, ret)
	}
	model := d.model.Load()
	out.ID, out.Start = int(info.Id), mig.Slices(info.Placement.Start)/driverSlices(model)
	listed := model.AllProfiles()
	known := slices.IndexFunc(listed, func(p *mig.Profile) bool { return p.ID == int(info.ProfileId) })
	if known >= 0 {
		out.Profile = listed[known]
	} else {
		out.Profile = profile.profile(d.id.MemoryMiB)
		out.Profile.Length = mig.Slices(info.Placement.Size) / driverSlices(model)
	}
	cis, err := computeInstances(op, gi)
	if err == nil && len(cis) > 0 {
		err = d.name(op, &out, cis[0])
	}
	if errors.Is(err, profiling.ErrUnknownInstance) {
		// The compute instance is gone. Only the GPU instance itself tells whether it is, too.
		out.UUID, out.Env = "", nil
		_, ret := gi.GetInfo()
		err = instanceFailure(op, ret)
	}
	return out, err
}

// instanceFailure returns the error for a return value about an instance that existed. An invalid argument means that
// it no longer exists.
func instanceFailure(op string, ret nvml.Return) error {
	if ret == nvml.ERROR_INVALID_ARGUMENT {
		ret = nvml.ERROR_NOT_FOUND
	}
	return failure(op, ret)
}

// name gives an instance the UUID of its compute instance. That is the UUID of the MIG device with the numbers of both:
// the device in a compute instance's own description is the whole GPU, as nvml.h says.
func (d *device) name(op string, i *profiling.Instance, ci nvml.ComputeInstance) error {
	for range longestSearch {
		info, ret := ci.GetInfo()
		if ret != nvml.SUCCESS {
			return instanceFailure(op, ret)
		}
		device, err := d.migDevice(op, i.ID, int(info.Id))
		if err != nil {
			return err
		}
		if device == nil {
			time.Sleep(searchPause)
			continue
		}
		uuid, ret := device.GetUUID()
		if ret != nvml.SUCCESS {
			return instanceFailure(op, ret)
		}
		if !strings.HasPrefix(uuid, "MIG-") {
			err := fmt.Errorf("%w: the UUID of the MIG device is %s, which does not begin with MIG-",
				profiling.ErrUnsupported, uuid)
			return &profiling.DeviceError{Op: op, Err: err, Remedy: "install a newer driver"}
		}
		i.UUID, i.Env = uuid, []string{"CUDA_VISIBLE_DEVICES=" + uuid}
		return nil
	}
	return instanceFailure(op, nvml.ERROR_NOT_FOUND)
}

// longestSearch is how often the MIG device of a compute instance is looked for, which may appear a moment later than
// the instance; searchPause is the pause between two times.
const (
	longestSearch = 5
	searchPause   = 2 * time.Millisecond
)

// migDevice returns the MIG device with the numbers of a GPU and a compute instance; nil if it does not exist.
func (d *device) migDevice(op string, gpuInstance, computeInstance int) (nvml.Device, error) {
	devices, err := d.migDevices(op)
	for _, device := range devices {
		gi, hasGI := device.GetGpuInstanceId()
		ci, hasCI := device.GetComputeInstanceId()
		switch ret := cmp.Or(hasGI, hasCI); {
		case ret == nvml.ERROR_INVALID_ARGUMENT || ret == nvml.ERROR_NOT_FOUND: // destroyed since it was listed
			continue
		case ret != nvml.SUCCESS:
			return nil, failure(op, ret)
		case gi == gpuInstance && ci == computeInstance:
			return device, nil
		}
	}
	return nil, err
}

// migDevices returns the GPU's MIG devices. There is one for each compute instance. The driver may give them other
// indices meanwhile, so that they are listed until two lists have the same devices.
func (d *device) migDevices(op string) (devices []nvml.Device, _ error) {
	n, ret := d.gpu.GetMaxMigDeviceCount()
	if ret != nvml.SUCCESS {
		return nil, failure(op, ret)
	}
	for k := range longestSearch {
		var now []nvml.Device
		for i := range n {
			device, ret := d.gpu.GetMigDeviceHandleByIndex(i)
			switch ret {
			case nvml.SUCCESS:
				if !slices.Contains(now, device) {
					now = append(now, device)
				}
			// no device with that number or any more, or MIG mode is off now
			case nvml.ERROR_NOT_FOUND, nvml.ERROR_INVALID_ARGUMENT, nvml.ERROR_NOT_SUPPORTED:
			default:
				return nil, failure(op, ret)
			}
		}
		moved := func(device nvml.Device) bool { return !slices.Contains(devices, device) }
		if k > 0 && len(now) == len(devices) && !slices.ContainsFunc(now, moved) {
			break
		}
		devices = now
	}
	return devices, nil
}

// computeProfiles returns the kinds of compute instances that a GPU instance can have.
func computeProfiles(op string, gi nvml.GpuInstance) ([]nvml.ComputeInstanceProfileInfo, error) {
	return enumerate(op, func(number int) (nvml.ComputeInstanceProfileInfo, nvml.Return) {
		return gi.GetComputeInstanceProfileInfo(number, nvml.COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED)
	})
}

func computeInstances(op string, gi nvml.GpuInstance) (all []nvml.ComputeInstance, err error) {
	profiles, err := computeProfiles(op, gi)
	for _, p := range profiles {
		if p.InstanceCount == 0 {
			continue
		}
		cis, ret := gi.GetComputeInstances(&p)
		if ret != nvml.SUCCESS {
			return nil, instanceFailure(op, ret)
		}
		all = append(all, cis...)
	}
	return all, err
}

func (d *device) Create(at mig.Instance) (profiling.Instance, error) {
	op := fmt.Sprintf("create %s at %d", at.Profile, at.Start)
	info, err := d.profile(op, at.Profile)
	if err != nil {
		return profiling.Instance{}, err
	}
	unit := driverSlices(d.model.Load())
	placement := nvml.GpuInstancePlacement{Start: uint32(unit * at.Start), Size: uint32(unit * at.Profile.Length)}
	before := time.Now()
	gi, ret := d.gpu.CreateGpuInstanceWithPlacement(&info, &placement)
	took := time.Since(before)
	switch ret {
	case nvml.SUCCESS:
	case nvml.ERROR_INVALID_ARGUMENT:
		return profiling.Instance{}, &profiling.DeviceError{Op: op, Err: profiling.ErrPlacement}
	case nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_NO_PERMISSION, nvml.ERROR_INSUFFICIENT_RESOURCES, nvml.ERROR_IN_USE:
		return profiling.Instance{}, failure(op, ret)
	default: // According to nvml.h the other values are not refusals. IN_USE is one, though nvml.h does not list it.
		return profiling.Instance{}, &profiling.LeftoverError{ID: -1, Err: failure(op, ret)}
	}
	out, err := d.fill(op, gi, info.SliceCount)
	if err == nil {
		out.Instance = at
		out.Took += took
		return out, nil
	}
	undo := d.destroyInstance("destroy what was made", gi)
	if undo != nil && !errors.Is(undo, profiling.ErrUnknownInstance) {
		err = &profiling.LeftoverError{ID: out.ID, Err: err, Undo: undo}
	}
	return profiling.Instance{}, err
}

// fill makes the compute instance that fills a GPU instance. The result has an ID even with an error; the ID is -1 if
// the driver did not report it. It has the time of that call alone.
func (d *device) fill(op string, gi nvml.GpuInstance, size uint32) (out profiling.Instance, err error) {
	out.ID = -1
	info, ret := gi.GetInfo()
	if ret != nvml.SUCCESS {
		return out, instanceFailure(op, ret)
	}
	out.ID = int(info.Id)
	profiles, err := computeProfiles(op, gi)
	if err != nil {
		return out, err
	}
	profile := wholeProfile(profiles, size)
	if profile == nil {
		err := fmt.Errorf("%w: the driver has no compute instance with all %d slices", profiling.ErrUnsupported, size)
		return out, &profiling.DeviceError{Op: op, Err: err}
	}
	before := time.Now()
	ci, ret := gi.CreateComputeInstance(profile)
	out.Took = time.Since(before)
	if ret != nvml.SUCCESS {
		return out, failure(op, ret)
	}
	return out, d.name(op, &out, ci)
}

// wholeProfile returns the profile of the compute instance that fills a GPU instance: of those with all its slices, the
// one with most multiprocessors.
func wholeProfile(profiles []nvml.ComputeInstanceProfileInfo, size uint32) (most *nvml.ComputeInstanceProfileInfo) {
	for i := range profiles {
		p := &profiles[i]
		if p.SliceCount == size && (most == nil || p.MultiprocessorCount > most.MultiprocessorCount) {
			most = p
		}
	}
	return most
}

func (d *device) Destroy(id int) error {
	op := fmt.Sprintf("destroy instance %d", id)
	gi, ret := d.gpu.GetGpuInstanceById(id)
	switch ret {
	case nvml.SUCCESS:
		return d.destroyInstance(op, gi)
	case nvml.ERROR_NOT_SUPPORTED: // MIG mode is off: there is none
		ret = nvml.ERROR_NOT_FOUND
	}
	return instanceFailure(op, ret)
}

// destroyInstance destroys the compute instances of a GPU instance, then the GPU instance. Compute
// instances may have disappeared, but the GPU instance must exist. The error is [profiling.ErrBusy] if the driver
// says that it destroyed the instance and still lists it, as has been seen on H100 (go-nvml 146).
func (d *device) destroyInstance(op string, gi nvml.GpuInstance) error {
	was, ret := gi.GetInfo()
	if ret != nvml.SUCCESS {
		return instanceFailure(op, ret)
	}
	cis, err := computeInstances(op, gi)
	if err != nil && !errors.Is(err, profiling.ErrUnknownInstance) {
		return err
	}
	for _, ci := range cis {
		switch ret := ci.Destroy(); ret {
		case nvml.SUCCESS, nvml.ERROR_INVALID_ARGUMENT, nvml.ERROR_NOT_FOUND:
		default:
			return failure(op, ret)
		}
	}
	if ret := gi.Destroy(); ret != nvml.SUCCESS {
		return instanceFailure(op, ret)
	}
	if d.lists(op, was) {
		err := fmt.Errorf("%w: the driver says that it destroyed the instance, and lists it", profiling.ErrBusy)
		return &profiling.DeviceError{Op: op, Err: err}
	}
	return nil
}

// lists reports whether the driver lists a GPU instance without compute instances. One with them has been made since
// by somebody else.
func (d *device) lists(op string, was nvml.GpuInstanceInfo) bool {
	gi, ret := d.gpu.GetGpuInstanceById(int(was.Id))
	if ret != nvml.SUCCESS {
		return false
	}
	info, ret := gi.GetInfo()
	cis, err := computeInstances(op, gi)
	return ret == nvml.SUCCESS && info.ProfileId == was.ProfileId && info.Placement == was.Placement && err == nil &&
		len(cis) == 0
}

// Processes implements [profiling.Device]. It asks the GPU and its MIG devices, since the answer for the GPU includes
// the instances only for privileged users.
func (d *device) Processes() ([]profiling.Process, error) {
	const op = "list processes"
	divided, err := d.migDevices(op)
	if err != nil {
		return nil, err
	}
	return d.processesOn(op, append([]nvml.Device{d.gpu}, divided...))
}

// processesOn returns the processes on the GPU and its MIG devices, or on some of them.
func (d *device) processesOn(op string, devices []nvml.Device) ([]profiling.Process, error) {
	pids := map[int]bool{}
	for _, device := range devices {
		for _, ask := range []func() ([]nvml.ProcessInfo, nvml.Return){
			device.GetComputeRunningProcesses, device.GetGraphicsRunningProcesses, device.GetMPSComputeRunningProcesses,
		} {
			infos, ret := ask()
			switch {
			case ret == nvml.ERROR_NOT_SUPPORTED: // there are no processes of that kind
			// destroyed meanwhile
			case device != d.gpu && (ret == nvml.ERROR_INVALID_ARGUMENT || ret == nvml.ERROR_NOT_FOUND):
			case ret != nvml.SUCCESS:
				return nil, failure(op, ret)
			}
			for _, info := range infos {
				pids[int(info.Pid)] = true
			}
		}
	}
	var out []profiling.Process
	for _, pid := range slices.Sorted(maps.Keys(pids)) {
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // no name if it ended or belongs to another user
		out = append(out, profiling.Process{PID: pid, Name: strings.TrimSpace(string(comm))})
	}
	return out, nil
}

func (d *device) Close() error {
	return failure("close NVML", d.lib.Shutdown())
}
