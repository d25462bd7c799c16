//go:build cgo && linux

package nvml

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/profiling"
)

// A shared device is a GPU on which only the MIG instances that exist are used, as Kubernetes, Slurm and clouds hand
// them out. Create takes one of them and Destroy gives it back; the driver makes and destroys no instance. It needs no
// privilege: it only reads the MIG devices.
//
// Without privilege the driver does not tell where an instance begins. So the starts here are made up: places at which
// all instances fit on the GPU together. They only tell the instances apart.
type shared struct {
	*device
	all []profiling.Instance

	mu sync.Mutex
	// taken are the numbers of the instances that were created and not destroyed.
	taken map[int]bool
}

var _ profiling.Device = (*shared)(nil)

// OpenExisting opens a GPU to use the MIG instances that exist on it. If CUDA_VISIBLE_DEVICES is set, it uses only
// instances that the variable names. The selector is a GPU as for [Open], or the UUID of a MIG device. An empty
// selector names the only GPU with such instances. Compute instances that do not fill their GPU instance are left out.
func OpenExisting(models *mig.Catalog, selector string) (_ profiling.Device, err error) {
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
	visible, err := visibleDevices(len(gpus))
	if err != nil {
		return nil, err
	}
	var chosen *device
	if strings.HasPrefix(selector, "MIG-") {
		visible = append(visible, []string{selector})
	} else if selector != "" {
		if chosen, err = chooseGPU(gpus, selector); err != nil {
			return nil, err
		}
	}
	s := search{visible: visible, smallest: "1g.5gb"}
	for i, g := range gpus {
		if chosen != nil && g != chosen {
			continue
		}
		if err := s.add(g, i); err != nil {
			return nil, err
		}
	}
	return s.onlyGPU()
}

// opFind is the operation in the errors of a search.
const opFind = "find MIG instances"

// A search looks for the GPU on which this process may use MIG instances that exist.
type search struct {
	// visible are lists that must all name an instance, see isVisible.
	visible [][]string
	found   []*shared
	// unusable says why GPUs and instances are left out. failed is the first error about a GPU. It counts only if no
	// GPU has instances.
	unusable []string
	failed   error
	// smallest is the name of the smallest profile of a GPU in MIG mode.
	smallest string
}

// add adds the instances of the GPU with an index. The error is one that ends the search.
func (s *search) add(g *device, index int) error {
	switch {
	case g.err != nil:
		s.failed = cmp.Or(s.failed, g.err)
		return nil
	case !g.id.MIG:
		s.unusable = append(s.unusable, "MIG mode of "+g.id.UUID+" is off")
		return nil
	case g.id.Model == nil:
		_, err := readModel(g.models, g.gpu, g.id, opFind)
		s.failed = cmp.Or(s.failed, err, error(profiling.ErrUnsupported))
		return nil
	}
	s.smallest = g.id.Model.Profiles[0].String()
	e := &shared{device: g, taken: map[int]bool{}}
	if err := s.fill(e, index); err != nil {
		return err
	}
	if len(e.all) > 0 {
		s.found = append(s.found, e)
	}
	return nil
}

// fill reads the instances of a GPU with an index, and gives them starts. It leaves out instances that cannot be used,
// and says why in unusable.
func (s *search) fill(e *shared, index int) error {
	devices, err := e.migDevices(opFind)
	if err != nil {
		return err
	}
	hidden := 0
	for _, device := range devices {
		i, why, err := e.instance(device)
		switch {
		case errors.Is(err, profiling.ErrUnknownInstance): // destroyed since it was listed
		case err != nil:
			return err
		case !isVisible(s.visible, i.UUID, e.id.UUID, index):
			hidden++
		case why != "":
			s.unusable = append(s.unusable, i.UUID+" "+why)
		default:
			e.all = append(e.all, i)
		}
	}
	if hidden > 0 {
		s.unusable = append(s.unusable, fmt.Sprintf("%d of %s are not named by --device or CUDA_VISIBLE_DEVICES=%s",
			hidden, e.id.UUID, os.Getenv("CUDA_VISIBLE_DEVICES")))
	}
	if len(devices) == 0 {
		s.unusable = append(s.unusable, e.id.UUID+" is in MIG mode and has no instances, so that CUDA finds no device "+
			"on it (error 100)")
	}
	for !e.place() {
		last := len(e.all) - 1
		s.unusable = append(s.unusable, fmt.Sprintf("%s does not fit beside the others on a %s", e.all[last].UUID,
			e.model.Load()))
		e.all = e.all[:last]
	}
	return nil
}

// onlyGPU returns the one GPU with instances for this process. The error says what there is instead, and that an
// instance of the smallest profile would do.
func (s *search) onlyGPU() (profiling.Device, error) {
	switch {
	case len(s.found) == 1:
		return s.found[0], nil
	case len(s.found) > 1:
		uuids := nearest.Names(s.found, func(e *shared) string { return e.id.UUID })
		err := fmt.Errorf("several GPUs have MIG instances: %s", strings.Join(uuids, ", "))
		return nil, &profiling.DeviceError{Op: opFind, Err: err, Remedy: "name one with --device"}
	case s.failed != nil:
		return nil, s.failed
	}
	return nil, &profiling.DeviceError{
		Op: opFind, Err: fmt.Errorf("there is no MIG instance that this process may use: %s",
			strings.Join(s.unusable, "; ")),
		Remedy: "ask for one (Kubernetes: nvidia.com/mig-" + s.smallest + "; " +
			"Slurm: --gres), or have one made: nvidia-smi mig -cgi " + s.smallest + " -C",
	}
}

// instance describes a MIG device. why says why it cannot be used.
func (e *shared) instance(device nvml.Device) (i profiling.Instance, why string, err error) {
	gi, retID := device.GetGpuInstanceId()
	uuid, retUUID := device.GetUUID()
	a, retAttributes := device.GetAttributes()
	if ret := cmp.Or(retID, retUUID, retAttributes); ret != nvml.SUCCESS {
		return i, "", instanceFailure(opFind, ret)
	}
	i = profiling.Instance{ID: gi, UUID: uuid, Env: []string{"CUDA_VISIBLE_DEVICES=" + uuid}}
	if a.ComputeInstanceSliceCount != a.GpuInstanceSliceCount {
		return i, fmt.Sprintf("has %d of the %d compute slices of its GPU instance", a.ComputeInstanceSliceCount,
			a.GpuInstanceSliceCount), nil
	}
	// Media engines do not show here, nor do they matter to kernels: the standard profile comes first.
	size, gb := mig.Slices(a.GpuInstanceSliceCount), gigabytes(int(a.MemorySizeMB), e.id.MemoryMiB)
	for _, p := range e.model.Load().Profiles {
		if p.Size == size && p.MemoryGB == gb && (p.SMs == 0 || p.SMs == int(a.MultiprocessorCount)) {
			i.Profile = p
			return i, "", nil
		}
	}
	return i, fmt.Sprintf("has %d slices, %d GB and %d multiprocessors, like no profile of %s", size, gb,
		a.MultiprocessorCount, e.model.Load()), nil
}

// place gives each instance a start, so that no two overlap. It reports whether that is possible. The largest instances
// come first, since they have the fewest places.
func (e *shared) place() bool {
	slices.SortStableFunc(e.all, func(a, b profiling.Instance) int { return int(b.Profile.Length - a.Profile.Length) })
	var from func(n int, used mig.Mask) bool
	from = func(n int, used mig.Mask) bool {
		if n == len(e.all) {
			return true
		}
		i := &e.all[n]
		for _, start := range i.Profile.Starts {
			i.Start = start
			if used&i.Mask() == 0 && from(n+1, used|i.Mask()) {
				return true
			}
		}
		return false
	}
	return from(0, 0)
}

// Existing returns all instances by their starts.
func (e *shared) Existing() (all []mig.Instance) {
	for _, i := range e.all {
		all = append(all, i.Instance)
	}
	slices.SortFunc(all, func(a, b mig.Instance) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

// Instances returns the instances that Create has taken.
func (e *shared) Instances() ([]profiling.Instance, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.all), func(i profiling.Instance) bool { return !e.taken[i.ID] }), nil
}

// Create takes an instance that exists.
func (e *shared) Create(at mig.Instance) (none profiling.Instance, _ error) {
	op := fmt.Sprintf("use %s at %d", at.Profile, at.Start)
	k := slices.IndexFunc(e.all, func(i profiling.Instance) bool { return i.Instance == at })
	if k < 0 {
		name := func(i profiling.Instance) string { return fmt.Sprintf("%s at %d", i.Profile, i.Start) }
		err := fmt.Errorf("%w: it does not exist; there are %s", profiling.ErrInsufficient,
			strings.Join(nearest.Names(e.all, name), ", "))
		return none, &profiling.DeviceError{Op: op, Err: err, Remedy: "have it made, or use another mode"}
	}
	i := e.all[k]
	devices, err := e.devicesByUUID(op)
	if err != nil {
		return none, err
	}
	if devices[i.UUID] == nil {
		err := fmt.Errorf("%w any more: %s", profiling.ErrUnknownInstance, i.UUID)
		return none, &profiling.DeviceError{Op: op, Err: err, Remedy: "somebody destroyed it; start again"}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.taken[i.ID] {
		return none, &profiling.DeviceError{Op: op, Err: profiling.ErrInsufficient}
	}
	e.taken[i.ID] = true
	return i, nil
}

// devicesByUUID returns the MIG devices that exist now.
func (e *shared) devicesByUUID(op string) (map[string]nvml.Device, error) {
	all, err := e.migDevices(op)
	devices := map[string]nvml.Device{}
	for _, device := range all {
		uuid, ret := device.GetUUID()
		if ret == nvml.SUCCESS {
			devices[uuid] = device
		} else if failed := instanceFailure(op, ret); !errors.Is(failed, profiling.ErrUnknownInstance) {
			return nil, failed // else it was destroyed since it was listed
		}
	}
	return devices, err
}

// Destroy gives an instance back. The instance stays.
func (e *shared) Destroy(id int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.taken[id] {
		return &profiling.DeviceError{Op: fmt.Sprintf("give back instance %d", id), Err: profiling.ErrUnknownInstance}
	}
	delete(e.taken, id)
	return nil
}

// Processes returns the processes on the instances that may be used. The other instances belong to others.
func (e *shared) Processes() ([]profiling.Process, error) {
	const op = "list processes"
	devices, err := e.devicesByUUID(op)
	if err != nil {
		return nil, err
	}
	var mine []nvml.Device
	for _, i := range e.all {
		if device := devices[i.UUID]; device != nil {
			mine = append(mine, device)
		}
	}
	return e.processesOn(op, mine)
}

// visibleDevices returns the list of CUDA_VISIBLE_DEVICES as the only element, or nil if it is not set. The list is
// empty if the variable hides all devices. As in CUDA, a number that no GPU has hides what follows it. Of several GPUs
// the numbers are the driver's only if CUDA_DEVICE_ORDER says so: without it, CUDA counts from the fastest GPU.
func visibleDevices(gpus int) (lists [][]string, _ error) {
	text, set := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	if !set {
		return nil, nil
	}
	words := []string{}
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		n, err := strconv.Atoi(word)
		isNumber := err == nil
		switch {
		case word == "" || word == "NoDevFiles" || isNumber && (n < 0 || n >= gpus):
			return [][]string{words}, nil
		case isNumber && (gpus == 1 || os.Getenv("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"):
			words = append(words, strconv.Itoa(n))
		case strings.HasPrefix(word, "MIG-") || strings.HasPrefix(word, "GPU-"):
			words = append(words, word)
		case isNumber:
			return nil, badVisible(word,
				fmt.Sprintf("CUDA counts from the fastest of %d GPUs on without CUDA_DEVICE_ORDER=PCI_BUS_ID", gpus))
		default:
			return nil, badVisible(word, "is no UUID and no GPU")
		}
	}
	return [][]string{words}, nil
}

func badVisible(word, why string) error {
	return &profiling.DeviceError{
		Op: opFind, Err: fmt.Errorf("CUDA_VISIBLE_DEVICES has %q, which %s", word, why),
		Remedy: "set it to the UUIDs that nvidia-smi -L lists, or remove it",
	}
}

// isVisible reports whether all lists name a MIG device: by the beginning of its UUID or of its GPU's UUID, or by the
// index of its GPU.
func isVisible(lists [][]string, uuid, gpu string, index int) bool {
	for _, words := range lists {
		if !slices.ContainsFunc(words, func(word string) bool {
			return strings.HasPrefix(word, "MIG-") && strings.HasPrefix(uuid, word) ||
				strings.HasPrefix(word, "GPU-") && strings.HasPrefix(gpu, word) || word == strconv.Itoa(index)
		}) {
			return false
		}
	}
	return true
}
