//go:build cgo && linux

package nvml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/harness/mig"
	"miglab/profiling"
)

// described is a profile with everything that the driver says about it.
type described struct {
	nvml.GpuInstanceProfileInfo
	// kind is its number in nvml.h, NVML_GPU_INSTANCE_PROFILE_1_SLICE and so on.
	kind int
	// placements is nil if the driver does not tell them to this user.
	placements []nvml.GpuInstancePlacement
}

// modelOf returns the model of a GPU in MIG mode: the one of package mig with its name if the
// driver's standard profiles are those of the table, and otherwise one that is built from what
// the driver says. The error wraps [profiling.ErrUnsupported] if neither is possible.
func modelOf(gpu nvml.Device, id profiling.Identity, op string) (*mig.GPU, error) {
	all, err := describeProfiles(gpu, op)
	if err != nil {
		return nil, err
	}
	if known, err := profiling.Model(id.Name, id.MemoryMiB); err == nil && agrees(known, all, id.MemoryMiB) {
		return known, nil
	}
	unsupported := func(err error) error {
		return &profiling.DeviceError{
			Op: op, Err: fmt.Errorf("%w: no model can be built from the driver's profiles of %q: %w",
				profiling.ErrUnsupported, id.Name, err),
			Remedy: "compare nvidia-smi mig -lgip and -lgipp with miglab list gpus",
		}
	}
	if id.MemoryMiB == 0 {
		return nil, unsupported(errors.New("the driver does not say how much memory it has"))
	}
	g, err := build(all, id)
	if err == nil {
		g, err = mig.Register(g)
	}
	if err != nil {
		return nil, unsupported(err)
	}
	return g, nil
}

// describeProfiles returns the profiles of the kinds that package mig models: a standard one
// for each size, with media engines (+me), and with double memory.
func describeProfiles(gpu nvml.Device, op string) (all []described, _ error) {
	profiles, err := enumerate(op, func(kind int) (described, nvml.Return) {
		info, ret := gpu.GetGpuInstanceProfileInfo(kind)
		return described{GpuInstanceProfileInfo: info, kind: kind}, ret
	})
	if err != nil {
		return nil, err
	}
	for _, p := range profiles {
		if p.kind > nvml.GPU_INSTANCE_PROFILE_1_SLICE_REV2 || p.InstanceCount == 0 {
			continue
		}
		placements, ret := gpu.GetGpuInstancePossiblePlacements(&p.GpuInstanceProfileInfo)
		if ret != nvml.SUCCESS && ret != nvml.ERROR_NO_PERMISSION && ret != nvml.ERROR_NOT_SUPPORTED {
			return nil, failure(op, ret)
		}
		p.placements = placements
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b described) int { return cmp.Compare(a.SliceCount, b.SliceCount) })
	return all, nil
}

// starts returns where instances may begin, and how many memory slices they take.
func (p *described) starts() (starts []mig.Slices, length mig.Slices) {
	for _, at := range p.placements {
		starts, length = append(starts, mig.Slices(at.Start)), mig.Slices(at.Size)
	}
	slices.Sort(starts)
	return starts, length
}

// agrees reports whether the driver has all standard profiles of a model as the table has them.
// Older drivers lack some of the others, which schedulers do not use.
func agrees(g *mig.GPU, all []described, memoryMiB int) bool {
	for _, size := range g.Sizes() {
		p := g.Profile(size)
		i := slices.IndexFunc(all, func(d described) bool { return int(d.Id) == p.ID })
		if i < 0 {
			return false
		}
		d := &all[i]
		q := profileOf(&d.GpuInstanceProfileInfo, memoryMiB)
		starts, length := d.starts()
		if q.Size != p.Size || q.Max != p.Max || q.MemoryGB != p.MemoryGB || p.SMs != 0 && q.SMs != p.SMs ||
			d.placements != nil && (length != p.Length || !slices.Equal(starts, p.Starts)) {
			return false
		}
	}
	return true
}

// build makes a model of the driver's profiles. Its name is that of the GPU and the number of
// multiprocessors of its largest instance, for example H100-PCIe-114SM.
func build(all []described, id profiling.Identity) (*mig.GPU, error) {
	if len(all) == 0 {
		return nil, errors.New("there are none")
	}
	largest := &all[len(all)-1]
	like := costsOf(id.Name, mig.Slices(largest.SliceCount))
	g := &mig.GPU{
		Name:          fmt.Sprintf("%s-%dSM", profiling.Label(id.Name), largest.MultiprocessorCount),
		Origin:        "from the driver's profiles and placements of " + id.Name,
		ComputeSlices: mig.Slices(largest.SliceCount),
	}
	for i := range all {
		d := &all[i]
		p := profileOf(&d.GpuInstanceProfileInfo, id.MemoryMiB)
		p.DoubleMemory = d.kind == nvml.GPU_INSTANCE_PROFILE_1_SLICE_REV2
		p.MediaExtensions = d.kind == nvml.GPU_INSTANCE_PROFILE_1_SLICE_REV1 ||
			d.kind == nvml.GPU_INSTANCE_PROFILE_2_SLICE_REV1
		p.Create, p.Destroy, g.CostSource = like.CostsLike(p.Size)
		if p.Starts, p.Length = d.starts(); d.placements == nil {
			g.Origin = "from the driver's profiles of " + id.Name + "; the placements are those of " + like.Name +
				", since the driver lists them only for root"
			same := slices.IndexFunc(like.Profiles, func(k *mig.Profile) bool {
				return k.Size == p.Size && k.DoubleMemory == p.DoubleMemory
			})
			if same < 0 {
				return nil, fmt.Errorf("the driver lists the placements of %s only for root", p)
			}
			p.Starts, p.Length = like.Profiles[same].Starts, like.Profiles[same].Length
		}
		g.MemorySlices = max(g.MemorySlices, p.Length)
		g.Profiles = append(g.Profiles, p)
	}
	return g, nil
}

// costsOf is the model of FAR Table 1 that is nearest to a GPU without published times to create and destroy instances.
func costsOf(name string, slices mig.Slices) *mig.GPU {
	switch label := profiling.Label(name); {
	case slices <= 4:
		return mig.MustLookup("A30")
	case strings.HasPrefix(label, "A1") || strings.HasPrefix(label, "A8"): // Ampere: A100, A800
		return mig.MustLookup("A100")
	default:
		return mig.MustLookup("H100")
	}
}
