//go:build cgo && linux

package nvml

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/harness/mig"
	"miglab/profiling"
)

// described is a profile with all that the driver says about it.
type described struct {
	nvml.GpuInstanceProfileInfo
	// kind is its number in nvml.h, NVML_GPU_INSTANCE_PROFILE_1_SLICE and so on.
	kind int
	// placements is nil if the driver does not tell them to this user.
	placements []nvml.GpuInstancePlacement
}

// readModel returns the model of a GPU in MIG mode: the one of package mig with its name if the driver's standard
// profiles agree with the table, and otherwise one that is built from the driver's profiles and added to models. The
// error wraps [profiling.ErrUnsupported] if neither is possible.
func readModel(models *mig.Catalog, gpu nvml.Device, id profiling.Identity, op string) (*mig.GPU, error) {
	all, err := placeProfiles(gpu, op)
	if err != nil {
		return nil, err
	}
	known, _ := profiling.Model(id.Name, id.MemoryMiB) // nil if the table lacks it
	g, err := build(all, id, known)
	if err == nil && known != nil && agrees(known, g) {
		return known, nil
	}
	if err == nil {
		g, err = models.Add(g)
	}
	if err != nil {
		return nil, &profiling.DeviceError{
			Op: op, Err: fmt.Errorf("%w: no model can be built from the driver's profiles of %q: %w",
				profiling.ErrUnsupported, id.Name, err),
			Remedy: "compare nvidia-smi mig -lgip and -lgipp with miglab list gpus",
		}
	}
	return g, nil
}

// variants are the ends of the names of profiles with other engines, by their numbers in nvml.h.
var variants = map[int]string{
	nvml.GPU_INSTANCE_PROFILE_1_SLICE_GFX: "+gfx", nvml.GPU_INSTANCE_PROFILE_2_SLICE_GFX: "+gfx",
	nvml.GPU_INSTANCE_PROFILE_3_SLICE_GFX: "+gfx", nvml.GPU_INSTANCE_PROFILE_4_SLICE_GFX: "+gfx",
	nvml.GPU_INSTANCE_PROFILE_1_SLICE_NO_ME: "-me", nvml.GPU_INSTANCE_PROFILE_2_SLICE_NO_ME: "-me",
	nvml.GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME: "+me.all", nvml.GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME: "+me.all",
}

// describeProfiles returns the profiles of which the GPU can have instances, without placements.
func describeProfiles(gpu nvml.Device, op string) ([]described, error) {
	all, err := enumerate(op, func(kind int) (described, nvml.Return) {
		info, ret := gpu.GetGpuInstanceProfileInfo(kind)
		return described{GpuInstanceProfileInfo: info, kind: kind}, ret
	})
	return slices.DeleteFunc(all, func(p described) bool { return p.InstanceCount == 0 }), err
}

// placeProfiles returns the profiles by size, with their placements.
func placeProfiles(gpu nvml.Device, op string) ([]described, error) {
	all, err := describeProfiles(gpu, op)
	if err != nil {
		return nil, err
	}
	for i := range all {
		placements, ret := gpu.GetGpuInstancePossiblePlacements(&all[i].GpuInstanceProfileInfo)
		if ret != nvml.SUCCESS && ret != nvml.ERROR_NO_PERMISSION && ret != nvml.ERROR_NOT_SUPPORTED {
			return nil, failure(op, ret)
		}
		all[i].placements = placements
	}
	slices.SortStableFunc(all, func(a, b described) int { return cmp.Compare(a.SliceCount, b.SliceCount) })
	return all, nil
}

// profile returns the profile of a GPU with some memory. Its length and starts are 0.
func (p *described) profile(gpuMiB int) *mig.Profile {
	return &mig.Profile{
		ID: int(p.Id), Size: mig.Slices(p.SliceCount), Max: int(p.InstanceCount), SMs: int(p.MultiprocessorCount),
		MemoryGB:     gigabytes(int(p.MemorySizeMB), gpuMiB),
		DoubleMemory: p.kind == nvml.GPU_INSTANCE_PROFILE_1_SLICE_REV2,
		MediaExtensions: p.kind == nvml.GPU_INSTANCE_PROFILE_1_SLICE_REV1 ||
			p.kind == nvml.GPU_INSTANCE_PROFILE_2_SLICE_REV1,
		Variant: variants[p.kind],
	}
}

// driverSlices returns how many memory slices of the driver are one of the model.
func driverSlices(g *mig.GPU) mig.Slices { return max(1, g.DriverSlices) }

// agrees reports whether the driver's model has all standard profiles of the table's. Older drivers lack some of the
// others, which schedulers do not use. Costs are not the driver's.
func agrees(table, driver *mig.GPU) bool {
	for _, size := range table.Sizes() {
		p := *table.Profile(size)
		if !slices.ContainsFunc(driver.Profiles, func(q *mig.Profile) bool {
			p.Create, p.Destroy = q.Create, q.Destroy
			return reflect.DeepEqual(&p, q)
		}) {
			return false
		}
	}
	return driverSlices(table) == driverSlices(driver)
}

// place gives a profile its length and starts in memory slices of the driver. Where the driver does not tell them, they
// come from another model.
func (d *described) place(p *mig.Profile, like *mig.GPU) error {
	for _, at := range d.placements {
		p.Starts, p.Length = append(p.Starts, mig.Slices(at.Start)), mig.Slices(at.Size)
	}
	slices.Sort(p.Starts)
	if d.placements != nil {
		return nil
	}
	same := slices.IndexFunc(like.Profiles, func(k *mig.Profile) bool {
		return k.Size == p.Size && k.DoubleMemory == p.DoubleMemory
	})
	if same < 0 {
		return fmt.Errorf("the driver lists the placements of %s only for root", p)
	}
	p.Length = driverSlices(like) * like.Profiles[same].Length
	for _, start := range like.Profiles[same].Starts {
		p.Starts = append(p.Starts, driverSlices(like)*start)
	}
	return nil
}

// build makes a model of the driver's profiles. Its name has the GPU's name and the number of
// multiprocessors of its largest instance, for example H100-PCIe-114SM. known is the table's model of the
// name; nil if the table lacks it.
func build(all []described, id profiling.Identity, known *mig.GPU) (*mig.GPU, error) {
	if len(all) == 0 {
		return nil, errors.New("there are none")
	}
	largest := &all[len(all)-1]
	costs := nearestCosts(id.Name, mig.Slices(largest.SliceCount))
	g := &mig.GPU{
		Name:   fmt.Sprintf("%s-%dSM", profiling.Label(id.Name), largest.MultiprocessorCount),
		Origin: "from the driver's profiles and placements of " + id.Name,
	}
	like := cmp.Or(known, costs)
	if slices.ContainsFunc(all, func(d described) bool { return d.placements == nil }) {
		g.Origin = "from the driver's profiles of " + id.Name + "; the placements are those of " + like.Name +
			", since the driver lists them only for root"
	}
	for i := range all {
		p := all[i].profile(id.MemoryMiB)
		if err := all[i].place(p, like); err != nil {
			return nil, err
		}
		g.Profiles = append(g.Profiles, p)
	}
	g.Complete(costs)
	return g, nil
}

// nearestCosts returns the model of FAR Table 1 that is nearest to a GPU without published times to create and destroy
// instances.
func nearestCosts(name string, slices mig.Slices) *mig.GPU {
	switch label := profiling.Label(name); {
	case slices <= 4:
		return mig.MustLookup("A30")
	case strings.HasPrefix(label, "A1") || strings.HasPrefix(label, "A8"): // Ampere: A100, A800
		return mig.MustLookup("A100")
	default:
		return mig.MustLookup("H100")
	}
}
