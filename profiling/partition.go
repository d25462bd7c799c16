package profiling

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"miglab/harness/mig"
)

// ParseProfiles returns a partition with the profiles of a list, for example
// 3g.20gb,2g.10gb,1g.5gb+me. Of several partitions it returns the one in which the
// profiles, largest first, begin furthest left. The error says why there is none; for an
// unknown profile it is a [*nearest.UnknownError].
func ParseProfiles(g *mig.GPU, list string) (mig.Partition, error) {
	var want []*mig.Profile
	for name := range strings.SplitSeq(list, ",") {
		p, err := g.ProfileByName(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		want = append(want, p)
	}
	slices.SortFunc(want, larger)
	misfit := func(format string, args ...any) error {
		return fmt.Errorf("%s does not fit on %s: %s", list, g, fmt.Sprintf(format, args...))
	}
	var length mig.Slices
	var starts []string
	number := map[*mig.Profile]int{}
	for _, p := range want {
		length += p.Length
		number[p]++
		if number[p] == 1 {
			starts = append(starts, fmt.Sprintf("%s at %v", p, p.Starts))
		}
		if number[p] > p.Max {
			return nil, misfit("the GPU holds at most %d of %s", p.Max, p)
		}
	}
	if length > g.MemorySlices {
		return nil, misfit("it needs %d memory slices of %d", length, g.MemorySlices)
	}
	found := place(nil, want)
	if found == nil {
		return nil, misfit("two instances overlap wherever they begin (%s)", strings.Join(starts, ", "))
	}
	slices.SortFunc(found, func(a, b mig.Instance) int { return cmp.Compare(a.Start, b.Start) })
	return found, nil
}

// larger orders profiles by size, then by memory. The largest come first, since they have
// the fewest placements.
func larger(a, b *mig.Profile) int {
	return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(b.Length, a.Length), cmp.Compare(b.ID, a.ID))
}

// place adds instances of the profiles to a partition; nil if they do not fit.
func place(exist mig.Partition, profiles []*mig.Profile) mig.Partition {
	if len(profiles) == 0 {
		return exist
	}
	for _, start := range profiles[0].Starts {
		in := mig.Instance{Profile: profiles[0], Start: start}
		if Conflict(exist, in) == nil {
			if p := place(append(slices.Clone(exist), in), profiles[1:]); p != nil {
				return p
			}
		}
	}
	return nil
}

// Conflict says why an instance cannot exist together with others; nil if it can.
func Conflict(exist mig.Partition, in mig.Instance) error {
	same := 0
	for _, o := range exist {
		if o.Overlaps(in) {
			return fmt.Errorf("%s at %d overlaps %s at %d", in.Profile, in.Start, o.Profile, o.Start)
		}
		if o.Profile == in.Profile {
			same++
		}
	}
	if same >= in.Profile.Max {
		return fmt.Errorf("the GPU holds at most %d of %s", in.Profile.Max, in.Profile)
	}
	return nil
}

// WriteMIGParted writes a partition as a labelled configuration of NVIDIA's mig-parted,
// for the devices with these numbers, or for all devices if none is given. The format
// holds profiles without placements.
func WriteMIGParted(w io.Writer, label string, devices []int, p mig.Partition) error {
	type configuration struct {
		Devices any            `yaml:"devices,flow"`
		Enabled bool           `yaml:"mig-enabled"`
		MIG     map[string]int `yaml:"mig-devices"`
	}
	c := configuration{Devices: "all", Enabled: true, MIG: map[string]int{}}
	if len(devices) > 0 {
		c.Devices = devices
	}
	for _, in := range p {
		c.MIG[in.Profile.String()]++
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	err := e.Encode(struct {
		Version        string                     `yaml:"version"`
		Configurations map[string][]configuration `yaml:"mig-configs"`
	}{"v1", map[string][]configuration{label: {c}}})
	return errors.Join(err, e.Close())
}

// WriteNVIDIASMI writes the command that creates a partition with a compute instance in
// each of its instances, on the devices with these numbers, or on all devices if none is
// given. Larger profiles come first, since they have the fewest placements; the driver
// chooses the placements. For an empty partition it writes nothing.
func WriteNVIDIASMI(w io.Writer, devices []int, p mig.Partition) error {
	if len(p) == 0 {
		return nil
	}
	var profiles []*mig.Profile
	for _, in := range p {
		profiles = append(profiles, in.Profile)
	}
	slices.SortFunc(profiles, larger)
	var ids, numbers []string
	for _, p := range profiles {
		ids = append(ids, strconv.Itoa(p.ID))
	}
	for _, d := range devices {
		numbers = append(numbers, strconv.Itoa(d))
	}
	on := ""
	if len(devices) > 0 {
		on = " -i " + strings.Join(numbers, ",")
	}
	_, err := fmt.Fprintf(w, "nvidia-smi mig%s -cgi %s -C\n", on, strings.Join(ids, ","))
	return err
}
