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

// starts returns where instances may begin, and how many memory slices they take, in slices of the driver.
func (p *described) starts() (starts []mig.Slices, length mig.Slices) {
	for _, at := range p.placements {
		starts, length = append(starts, mig.Slices(at.Start)), mig.Slices(at.Size)
	}
	slices.Sort(starts)
	return starts, length
}

// driverSlices returns how many memory slices of the driver are one of the model.
func driverSlices(g *mig.GPU) mig.Slices { return max(1, g.DriverSlices) }

// commonSlices returns the largest number of the driver's memory slices of which all placements are multiples.
func commonSlices(all []described) (unit mig.Slices) {
	for i := range all {
		starts, length := all[i].starts()
		for _, n := range append(starts, length) {
			for n != 0 {
				unit, n = n, unit%n
			}
		}
	}
	return max(1, unit)
}

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

// standardProfiles returns, for each number of slices, the index of the profile that schedulers use: the one with most
// instances among the profiles without double memory and additional engines. If several have as many, it is the one
// with the usual engines.
func standardProfiles(all []described) map[uint32]int {
	best := map[uint32]int{}
	for i := range all {
		old, has := best[all[i].SliceCount]
		if all[i].profile(1).Standard() && (!has || all[i].InstanceCount > all[old].InstanceCount) {
			best[all[i].SliceCount] = i
		}
	}
	return best
}

// place gives a profile its length and starts in memory slices of the model, each of which is unit of the driver's.
// Where the driver does not tell them, they come from another model. Starts at which there could be more instances
// than the driver allows are left out, since schedulers use all starts.
func (d *described) place(p *mig.Profile, unit mig.Slices, like *mig.GPU) error {
	starts, length := d.starts()
	p.Length = length / unit
	for _, start := range starts {
		p.Starts = append(p.Starts, start/unit)
	}
	if d.placements == nil {
		same := slices.IndexFunc(like.Profiles, func(k *mig.Profile) bool {
			return k.Size == p.Size && k.DoubleMemory == p.DoubleMemory
		})
		if same < 0 {
			return fmt.Errorf("the driver lists the placements of %s only for root", p)
		}
		p.Starts, p.Length = like.Profiles[same].Starts, like.Profiles[same].Length
	}
	if !p.Standard() && !p.DoubleMemory {
		return nil
	}
	end, room := mig.Slices(0), 0
	for i, start := range p.Starts {
		if start < end {
			continue
		}
		if room++; room > p.Max {
			p.Starts = p.Starts[:i]
			break
		}
		end = start + p.Length
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
		Name:          fmt.Sprintf("%s-%dSM", profiling.Label(id.Name), largest.MultiprocessorCount),
		Origin:        "from the driver's profiles and placements of " + id.Name,
		ComputeSlices: mig.Slices(largest.SliceCount), DriverSlices: commonSlices(all),
	}
	like := cmp.Or(known, costs)
	if slices.ContainsFunc(all, func(d described) bool { return d.placements == nil }) {
		g.Origin = "from the driver's profiles of " + id.Name + "; the placements are those of " + like.Name +
			", since the driver lists them only for root"
		g.DriverSlices = driverSlices(like)
	}
	standard := standardProfiles(all)
	for i := range all {
		p := all[i].profile(id.MemoryMiB)
		p.Create, p.Destroy, g.CostSource = costs.CostsLike(p.Size)
		if err := all[i].place(p, g.DriverSlices, like); err != nil {
			return nil, err
		}
		usual := standard[all[i].SliceCount]
		if p.MediaExtensions && variants[all[usual].kind] == "" || p.DoubleMemory || usual == i {
			g.Profiles = append(g.Profiles, p)
		} else {
			g.Others = append(g.Others, p)
		}
		g.MemorySlices = max(g.MemorySlices, p.Length)
	}
	if g.DriverSlices == 1 {
		g.DriverSlices = 0
	}
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
