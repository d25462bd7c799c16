//go:build cgo && linux

package nvml_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"

	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/harness/mig"
)

// A fakeDriver is NVML with one GPU, in this process, as far as this program calls it. It does what
// the driver does that a simple stub does not: the device of a compute instance is the whole GPU,
// destroying is refused for a while, creating is refused now and then, the MIG mode can stay
// pending, a privilege can be missing, and the order of the MIG devices changes with every
// instance. It shares no code with package mig but the rows of the placement table.
//
// It can stop a program in the middle of any call, before or after the call had its effect: the
// goroutine of every call from then on ends, as all of a process does that is killed.
type fakeDriver struct {
	driver.Interface
	model *mig.GPU
	uuid  string

	mu             sync.Mutex
	r              *rand.Rand
	current, wants bool // MIG modes
	forbidden      bool
	gis            []*gpuInstance
	next           int // number of the next UUID
	// order is the order of the MIG devices; nil is no device.
	order []*gpuInstance
	// processes are those that use the instance of a UUID.
	processes map[string]int
	// left is the number of calls until the program is killed; a negative one is never reached.
	left int
	dead bool
	// kill ends what the program waits for.
	kill context.CancelFunc
	// endless means that the driver never says that there are no more profiles. asked is how often
	// it was asked.
	endless bool
	asked   int
	// prefix begins the UUIDs of MIG devices; empty means MIG-.
	prefix string
}

// A gpuInstance has at most one compute instance, as those of this program.
type gpuInstance struct {
	driver.GpuInstance
	d    *fakeDriver
	id   int
	at   mig.Instance
	uuid string // empty without a compute instance
	busy int    // how often destroying it is still refused
	gone bool
	sms  int // of the compute instance
}

func newFakeDriver(model *mig.GPU, r *rand.Rand) *fakeDriver {
	return &fakeDriver{
		model: model, r: r, uuid: fmt.Sprintf("GPU-%08x-0000-0000-0000-000000000000", r.Uint32()),
		processes: map[string]int{}, left: -1,
	}
}

// call is a call of the library: it has an effect, unless the program has been killed.
func (d *fakeDriver) call(effect func() driver.Return) driver.Return {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		runtime.Goexit()
	}
	if d.left--; d.left == 0 {
		d.dead = true
		d.kill()
		if d.r.IntN(2) == 0 {
			effect()
		}
		runtime.Goexit()
	}
	return effect()
}

// now and then is true with a probability.
func (d *fakeDriver) chance(p float64) bool { return d.r.Float64() < p }

// ---- the library ----

func (d *fakeDriver) DeviceGetCount() (int, driver.Return) { return 1, driver.SUCCESS }

func (d *fakeDriver) DeviceGetHandleByIndex(int) (driver.Device, driver.Return) {
	return &fakeGPU{d: d}, driver.SUCCESS
}

func (d *fakeDriver) SystemGetDriverVersion() (string, driver.Return) { return "570.1", driver.SUCCESS }
func (d *fakeDriver) Shutdown() driver.Return                         { return driver.SUCCESS }
func (d *fakeDriver) Extensions() driver.ExtendedInterface            { return d }
func (d *fakeDriver) LookupSymbol(string) error                       { return nil }

// ---- the GPU ----

// A fakeGPU is the whole GPU.
type fakeGPU struct {
	driver.Device
	d *fakeDriver
}

func (g *fakeGPU) GetName() (string, driver.Return) {
	names := map[string]string{"A30": "NVIDIA A30", "A100": "NVIDIA A100-SXM4-40GB", "H100": "NVIDIA H100 80GB HBM3"}
	return names[g.d.model.Name], driver.SUCCESS
}
func (g *fakeGPU) GetUUID() (string, driver.Return) { return g.d.uuid, driver.SUCCESS }

func (g *fakeGPU) GetMemoryInfo() (driver.Memory, driver.Return) {
	whole := g.d.model.Profiles[len(g.d.model.Profiles)-1]
	return driver.Memory{Total: uint64(whole.MemoryGB) << 30}, driver.SUCCESS
}

func (g *fakeGPU) GetClockInfo(driver.ClockType) (uint32, driver.Return) { return 1000, driver.SUCCESS }

func (g *fakeGPU) GetTemperature(driver.TemperatureSensors) (uint32, driver.Return) {
	return 40, driver.SUCCESS
}
func (g *fakeGPU) GetEnforcedPowerLimit() (uint32, driver.Return) { return 400000, driver.SUCCESS }

func (g *fakeGPU) GetPowerUsage() (uint32, driver.Return) { return 300000, driver.SUCCESS }

func (g *fakeGPU) GetCurrentClocksEventReasons() (uint64, driver.Return) { return 0, driver.SUCCESS }

func flag(on bool) int {
	if on {
		return driver.DEVICE_MIG_ENABLE
	}
	return driver.DEVICE_MIG_DISABLE
}

func (g *fakeGPU) GetMigMode() (current, pending int, _ driver.Return) {
	ret := g.d.call(func() driver.Return {
		current, pending = flag(g.d.current), flag(g.d.wants)
		return driver.SUCCESS
	})
	return current, pending, ret
}

func (g *fakeGPU) SetMigMode(mode int) (activation, ret driver.Return) {
	ret = g.d.call(func() driver.Return {
		on := mode == driver.DEVICE_MIG_ENABLE
		switch {
		case g.d.forbidden:
			return driver.ERROR_NO_PERMISSION
		case !on && len(g.d.gis) > 0:
			return driver.ERROR_IN_USE
		}
		g.d.wants = on
		if g.d.chance(0.2) { // a client holds the GPU
			activation = driver.ERROR_IN_USE
			return driver.SUCCESS
		}
		g.d.current = on
		return driver.SUCCESS
	})
	return activation, ret
}

// kindOf is the number of a profile in nvml.h.
func kindOf(p *mig.Profile) int {
	switch {
	case p.MediaExtensions:
		return driver.GPU_INSTANCE_PROFILE_1_SLICE_REV1
	case p.DoubleMemory:
		return driver.GPU_INSTANCE_PROFILE_1_SLICE_REV2
	}
	return map[mig.Slices]int{
		1: driver.GPU_INSTANCE_PROFILE_1_SLICE, 2: driver.GPU_INSTANCE_PROFILE_2_SLICE, 3: driver.GPU_INSTANCE_PROFILE_3_SLICE,
		4: driver.GPU_INSTANCE_PROFILE_4_SLICE, 7: driver.GPU_INSTANCE_PROFILE_7_SLICE,
	}[p.Size]
}

func (g *fakeGPU) GetGpuInstanceProfileInfo(kind int) (info driver.GpuInstanceProfileInfo, _ driver.Return) {
	ret := g.d.call(func() driver.Return {
		if g.d.more(kind, driver.GPU_INSTANCE_PROFILE_COUNT) == driver.ERROR_INVALID_ARGUMENT {
			return driver.ERROR_INVALID_ARGUMENT
		}
		for _, p := range g.d.model.Profiles {
			if kindOf(p) == kind {
				info = driver.GpuInstanceProfileInfo{
					Id: uint32(p.ID), SliceCount: uint32(p.Size), InstanceCount: uint32(p.Max), MultiprocessorCount: uint32(p.SMs),
					MemorySizeMB: uint64(p.Length) * g.d.memory() / uint64(g.d.model.MemorySlices),
				}
				return driver.SUCCESS
			}
		}
		return driver.ERROR_NOT_SUPPORTED
	})
	return info, ret
}

// more says whether there are profiles from a number on.
func (d *fakeDriver) more(number, count int) driver.Return {
	if d.asked++; d.endless && d.asked > 1e5 {
		panic("the enumeration does not end")
	}
	if number >= count && !d.endless {
		return driver.ERROR_INVALID_ARGUMENT
	}
	return driver.ERROR_NOT_SUPPORTED
}

// memory is that of the GPU in MiB.
func (d *fakeDriver) memory() uint64 {
	return uint64(d.model.Profiles[len(d.model.Profiles)-1].MemoryGB) << 10
}

func (d *fakeDriver) profile(id uint32) *mig.Profile {
	for _, p := range d.model.Profiles {
		if p.ID == int(id) {
			return p
		}
	}
	return nil
}

func (g *fakeGPU) GetGpuInstancePossiblePlacements(info *driver.GpuInstanceProfileInfo) (all []driver.GpuInstancePlacement, _ driver.Return) {
	ret := g.d.call(func() driver.Return {
		if g.d.forbidden {
			return driver.ERROR_NO_PERMISSION
		}
		p := g.d.profile(info.Id)
		for _, start := range p.Starts {
			all = append(all, driver.GpuInstancePlacement{Start: uint32(start), Size: uint32(p.Length)})
		}
		return driver.SUCCESS
	})
	return all, ret
}

func (g *fakeGPU) GetGpuInstances(info *driver.GpuInstanceProfileInfo) (all []driver.GpuInstance, _ driver.Return) {
	ret := g.d.call(func() driver.Return {
		switch {
		case !g.d.current:
			return driver.ERROR_NOT_SUPPORTED
		case g.d.forbidden:
			return driver.ERROR_NO_PERMISSION
		}
		for _, i := range g.d.gis {
			if i.at.Profile.ID == int(info.Id) {
				all = append(all, i)
			}
		}
		return driver.SUCCESS
	})
	return all, ret
}

func (g *fakeGPU) GetGpuInstanceById(id int) (gi driver.GpuInstance, _ driver.Return) {
	ret := g.d.call(func() driver.Return {
		if !g.d.current {
			return driver.ERROR_NOT_SUPPORTED
		}
		for _, i := range g.d.gis {
			if i.id == id {
				gi = i
				return driver.SUCCESS
			}
		}
		return driver.ERROR_NOT_FOUND
	})
	return gi, ret
}

func (g *fakeGPU) CreateGpuInstanceWithPlacement(info *driver.GpuInstanceProfileInfo, at *driver.GpuInstancePlacement) (gi driver.GpuInstance, _ driver.Return) {
	ret := g.d.call(func() driver.Return {
		p := g.d.profile(info.Id)
		switch {
		case !g.d.current:
			return driver.ERROR_NOT_SUPPORTED
		case g.d.forbidden:
			return driver.ERROR_NO_PERMISSION
		case g.d.chance(0.15):
			return driver.ERROR_IN_USE
		case !slices.Contains(p.Starts, mig.Slices(at.Start)) || at.Size != uint32(p.Length):
			return driver.ERROR_INVALID_ARGUMENT
		}
		made := &gpuInstance{d: g.d, at: mig.Instance{Profile: p, Start: mig.Slices(at.Start)}}
		for _, other := range g.d.gis {
			if made.at.Start < other.at.Start+other.at.Profile.Length && other.at.Start < made.at.Start+p.Length {
				return driver.ERROR_INSUFFICIENT_RESOURCES
			}
		}
		g.d.add(made)
		gi = made
		return driver.SUCCESS
	})
	return gi, ret
}

// add numbers an instance, with the lowest number that is free.
func (d *fakeDriver) add(i *gpuInstance) {
	for slices.ContainsFunc(d.gis, func(o *gpuInstance) bool { return o.id == i.id }) {
		i.id++
	}
	d.gis = append(d.gis, i)
}

// shuffle gives the MIG devices another order, with gaps.
func (d *fakeDriver) shuffle() {
	d.order = make([]*gpuInstance, d.model.ComputeSlices)
	free := d.r.Perm(len(d.order))
	n := 0
	for _, i := range d.gis {
		if i.uuid != "" {
			d.order[free[n]] = i
			n++
		}
	}
}

func (g *fakeGPU) GetMaxMigDeviceCount() (n int, _ driver.Return) {
	ret := g.d.call(func() driver.Return {
		if g.d.current {
			n = len(g.d.order)
		}
		return driver.SUCCESS
	})
	return n, ret
}

func (g *fakeGPU) GetMigDeviceHandleByIndex(i int) (device driver.Device, _ driver.Return) {
	ret := g.d.call(func() driver.Return {
		if i >= len(g.d.order) || g.d.order[i] == nil {
			return driver.ERROR_NOT_FOUND
		}
		device = &migDevice{i: g.d.order[i], uuid: g.d.order[i].uuid}
		return driver.SUCCESS
	})
	return device, ret
}

// users returns the processes that use one of the UUIDs.
func (d *fakeDriver) users(uuids ...string) (all []driver.ProcessInfo, ret driver.Return) {
	ret = d.call(func() driver.Return {
		for uuid, pid := range d.processes {
			if slices.Contains(uuids, uuid) {
				all = append(all, driver.ProcessInfo{Pid: uint32(pid)})
			}
		}
		return driver.SUCCESS
	})
	return all, ret
}

func (g *fakeGPU) GetComputeRunningProcesses() ([]driver.ProcessInfo, driver.Return) {
	return g.d.users(g.d.uuid)
}

func (g *fakeGPU) GetGraphicsRunningProcesses() ([]driver.ProcessInfo, driver.Return) {
	return nil, driver.SUCCESS
}

func (g *fakeGPU) GetMPSComputeRunningProcesses() ([]driver.ProcessInfo, driver.Return) {
	return nil, driver.SUCCESS
}

// ---- GPU instances ----

func (i *gpuInstance) GetInfo() (info driver.GpuInstanceInfo, _ driver.Return) {
	ret := i.d.call(func() driver.Return {
		if i.gone {
			return driver.ERROR_INVALID_ARGUMENT
		}
		info = driver.GpuInstanceInfo{Id: uint32(i.id), ProfileId: uint32(i.at.Profile.ID), Placement: driver.GpuInstancePlacement{
			Start: uint32(i.at.Start), Size: uint32(i.at.Profile.Length),
		}}
		return driver.SUCCESS
	})
	return info, ret
}

// GetComputeInstanceProfileInfo tells of two compute instances with all slices: the first has fewer
// multiprocessors.
func (i *gpuInstance) GetComputeInstanceProfileInfo(kind, _ int) (info driver.ComputeInstanceProfileInfo, _ driver.Return) {
	if ret := i.d.more(kind, driver.COMPUTE_INSTANCE_PROFILE_COUNT); kind > driver.COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1 || ret == driver.ERROR_INVALID_ARGUMENT {
		return info, ret
	}
	sizes := []mig.Slices{1, 2, 3, 4, 7, 8, 6}
	info = driver.ComputeInstanceProfileInfo{
		Id: uint32(kind), SliceCount: uint32(i.at.Profile.Size), InstanceCount: 1, MultiprocessorCount: uint32(i.at.Profile.SMs),
	}
	switch {
	case kind == driver.COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1:
	case sizes[kind] == i.at.Profile.Size:
		info.MultiprocessorCount -= 2
	default:
		return driver.ComputeInstanceProfileInfo{}, driver.ERROR_NOT_SUPPORTED
	}
	return info, driver.SUCCESS
}

func (i *gpuInstance) GetComputeInstances(profile *driver.ComputeInstanceProfileInfo) (all []driver.ComputeInstance, _ driver.Return) {
	ret := i.d.call(func() driver.Return {
		if i.gone {
			return driver.ERROR_INVALID_ARGUMENT
		}
		if i.uuid != "" && i.sms == int(profile.MultiprocessorCount) {
			all = append(all, &computeInstance{i: i})
		}
		return driver.SUCCESS
	})
	return all, ret
}

func (i *gpuInstance) CreateComputeInstance(profile *driver.ComputeInstanceProfileInfo) (ci driver.ComputeInstance, _ driver.Return) {
	ret := i.d.call(func() driver.Return {
		switch {
		case i.d.forbidden:
			return driver.ERROR_NO_PERMISSION
		case i.d.chance(0.1):
			return driver.ERROR_IN_USE
		}
		i.d.next++
		i.uuid, i.sms = fmt.Sprintf("%s%08x", cmp.Or(i.d.prefix, "MIG-"), i.d.next), int(profile.MultiprocessorCount)
		i.d.shuffle()
		ci = &computeInstance{i: i}
		return driver.SUCCESS
	})
	return ci, ret
}

func (i *gpuInstance) Destroy() driver.Return {
	return i.d.call(func() driver.Return {
		switch {
		case i.gone:
			return driver.ERROR_INVALID_ARGUMENT
		case i.d.forbidden:
			return driver.ERROR_NO_PERMISSION
		case i.uuid != "":
			return driver.ERROR_IN_USE
		case i.busy > 0:
			i.busy--
			return driver.ERROR_IN_USE
		}
		i.gone = true
		i.d.gis = slices.DeleteFunc(i.d.gis, func(o *gpuInstance) bool { return o == i })
		return driver.SUCCESS
	})
}

// ---- compute instances and MIG devices ----

type computeInstance struct {
	driver.ComputeInstance
	i *gpuInstance
}

func (c *computeInstance) GetInfo() (driver.ComputeInstanceInfo, driver.Return) {
	// The device is the whole GPU, as nvml.h says.
	return driver.ComputeInstanceInfo{Device: &fakeGPU{d: c.i.d}, GpuInstance: c.i}, driver.SUCCESS
}

func (c *computeInstance) Destroy() driver.Return {
	d := c.i.d
	return d.call(func() driver.Return {
		switch {
		case d.forbidden:
			return driver.ERROR_NO_PERMISSION
		case c.i.uuid == "":
			return driver.ERROR_INVALID_ARGUMENT
		case d.processes[c.i.uuid] != 0:
			return driver.ERROR_IN_USE
		}
		c.i.uuid, c.i.busy = "", d.r.IntN(4)
		d.shuffle()
		return driver.SUCCESS
	})
}

// A migDevice is what CUDA and NVML call a compute instance in its GPU instance.
type migDevice struct {
	driver.Device
	i    *gpuInstance
	uuid string
}

func (m *migDevice) there(effect func()) driver.Return {
	return m.i.d.call(func() driver.Return {
		if m.i.uuid != m.uuid {
			return driver.ERROR_INVALID_ARGUMENT
		}
		effect()
		return driver.SUCCESS
	})
}

func (m *migDevice) GetGpuInstanceId() (id int, _ driver.Return) {
	ret := m.there(func() { id = m.i.id })
	return id, ret
}

func (m *migDevice) GetComputeInstanceId() (int, driver.Return) { return 0, driver.SUCCESS }

func (m *migDevice) GetUUID() (string, driver.Return) { return m.uuid, driver.SUCCESS }

func (m *migDevice) GetComputeRunningProcesses() ([]driver.ProcessInfo, driver.Return) {
	return m.i.d.users(m.uuid)
}

func (m *migDevice) GetGraphicsRunningProcesses() ([]driver.ProcessInfo, driver.Return) {
	return nil, driver.SUCCESS
}

func (m *migDevice) GetMPSComputeRunningProcesses() ([]driver.ProcessInfo, driver.Return) {
	return nil, driver.SUCCESS
}

// device returns the instance on which CUDA runs a process with an environment: the one of the
// UUID, or the first MIG device if a GPU is named.
func (d *fakeDriver) device(env []string) *gpuInstance {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, variable := range env {
		visible, is := strings.CutPrefix(variable, "CUDA_VISIBLE_DEVICES=")
		for _, i := range d.order {
			if is && i != nil && (i.uuid == visible || strings.HasPrefix(visible, "GPU-")) {
				return i
			}
		}
	}
	return nil
}
