package mig

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"miglab/harness/nearest"
	"miglab/harness/spec"
)

// Seconds is a duration or a point in time, in seconds. A task with the duration +Inf does not fit.
type Seconds float64

// Slices is a number of slices or the position of a slice. Sizes count compute slices (the
// |I| of FAR 2.2). Positions and lengths count memory slices.
type Slices int

// MaxSize is the largest instance size of any model, in compute slices.
const MaxSize Slices = 7

// MaxMemorySlices is the largest number of memory slices of any model. They fit into a [Mask].
const MaxMemorySlices Slices = 8

// Mask is a set of memory slices: bit i is memory slice i.
type Mask uint8

// Count returns the number of memory slices in the set.
func (m Mask) Count() Slices { return Slices(bits.OnesCount8(uint8(m))) }

// Reconfiguration says how long the creation and destruction of instances takes and how much of it may happen at once.
type Reconfiguration uint8

const (
	// Sequential allows one create or destroy at a time on a GPU, as FAR 2.1 measured on A30, A100 and H100. It is the
	// default, and leaderboards use it.
	Sequential Reconfiguration = iota
	// Parallel allows disjoint instances to be created and destroyed at once, as the DRL paper's environment does.
	Parallel
	// Free takes no time. The FAR paper timed MISO and FIXPART this way.
	Free
)

var reconfigurationNames = [...]string{Sequential: "sequential", Parallel: "parallel", Free: "free"}

// String returns the name that files and the command line use.
func (r Reconfiguration) String() string { return reconfigurationNames[r] }

// Cost returns the time of an operation under the model: 0 under [Free], takes otherwise.
func (r Reconfiguration) Cost(takes Seconds) Seconds {
	if r == Free {
		return 0
	}
	return takes
}

// ParseReconfiguration reads "sequential", "parallel" or "free". The error is a [*nearest.UnknownError].
func ParseReconfiguration(s string) (Reconfiguration, error) {
	i := slices.Index(reconfigurationNames[:], s)
	if i < 0 {
		return 0, nearest.Unknown("reconfiguration model", s, reconfigurationNames[:])
	}
	return Reconfiguration(i), nil
}

// A Profile is a kind of GPU instance that a model offers.
type Profile struct {
	ID              int      `json:"id"`                         // the GPU instance profile number of the NVIDIA driver
	Size            Slices   `json:"size"`                       // compute slices: the instance size of the papers
	Length          Slices   `json:"length"`                     // the memory slices that a placement occupies
	Starts          []Slices `json:"starts"`                     // where a placement may begin, ascending
	Max             int      `json:"max"`                        // how many of them a GPU can hold at once
	MemoryGB        int      `json:"memory_gb"`                  // the memory in NVIDIA's profile name, in GB
	SMs             int      `json:"sms"`                        // streaming multiprocessors; 0 if not published
	DoubleMemory    bool     `json:"double_memory,omitempty"`    // marks the one-slice profile with two memory slices
	MediaExtensions bool     `json:"media_extensions,omitempty"` // marks the "+me" profile
	// Variant is the end of the name of a profile with other engines: "+gfx" has graphics, "+me.all" has all
	// media engines, "-me" has no media engine.
	Variant string `json:"variant,omitempty"`
	// Create and Destroy are the times to create and to destroy an instance (FAR Table 1).
	Create  Seconds `json:"create_s"`
	Destroy Seconds `json:"destroy_s"`
}

// String returns NVIDIA's name of the profile, for example 3g.20gb or 1g.5gb+me.
func (p *Profile) String() string {
	s := fmt.Sprintf("%dg.%dgb", p.Size, p.MemoryGB)
	if p.MediaExtensions {
		s += "+me"
	}
	return s + p.Variant
}

// MemoryMB returns the memory in NVIDIA's profile name in MB, 1024 to a GB.
func (p *Profile) MemoryMB() int { return 1024 * p.MemoryGB }

// Standard reports whether the profile has neither double memory nor additional engines. As in all papers, schedulers
// use the standard profiles in [GPU.Profiles], one for each size.
func (p *Profile) Standard() bool {
	return !p.DoubleMemory && !p.MediaExtensions && !strings.HasPrefix(p.Variant, "+")
}

// An Instance is a profile placed at a memory slice of a GPU. Two values of one model are equal under == if and only if
// they are the same instance.
type Instance struct {
	Profile *Profile
	Start   Slices // the first memory slice
}

// Size returns the number of compute slices.
func (i Instance) Size() Slices { return i.Profile.Size }

// Mask returns the memory slices that the instance occupies.
func (i Instance) Mask() Mask { return Mask((1<<i.Profile.Length - 1) << i.Start) }

// Overlaps reports whether the two instances share a memory slice, so that they cannot exist at the same time.
func (i Instance) Overlaps(o Instance) bool { return i.Mask()&o.Mask() != 0 }

// String returns "size@start", for example 3@4.
func (i Instance) String() string { return fmt.Sprintf("%d@%d", i.Profile.Size, i.Start) }

// A GPU is a GPU model. All methods are safe for concurrent use. Callers must not change the values that they return.
type GPU struct {
	Name string `json:"gpu"` // in files and on the command line
	// Origin is the source of a model that this package's table lacks, such as the driver of a GPU; "" for the others.
	Origin  string   `json:"origin,omitempty"`
	Aliases []string `json:"aliases,omitempty"` // further names that [Catalog.Lookup] accepts
	// Like names the model from which this one differs only in its costs; "" for most models. Name contains the costs.
	Like          string `json:"like,omitempty"`
	ComputeSlices Slices `json:"compute_slices"` // 7, or 4 on A30: the #slices_G of the papers
	MemorySlices  Slices `json:"memory_slices"`  // 8, or 4 on A30
	// DriverSlices is the number of the driver's memory slices in one memory slice of the model: 3 on RTX PRO 6000,
	// where the driver counts 12 and starts instances only at the borders of the model's 4. 0 means 1.
	DriverSlices Slices     `json:"driver_slices,omitempty"`
	Profiles     []*Profile `json:"profiles"` // the profiles that algorithms may use, by ascending size
	// Others lists further profiles of the driver. Each takes the slices of one in Profiles and has other engines.
	Others     []*Profile `json:"others,omitempty"`
	CostSource string     `json:"cost_source"` // says where the create and destroy times come from
	// Assumed says which other numbers have no source, and which values are assumed instead.
	Assumed string `json:"assumed,omitempty"`
	// Power says what a board draws. It is nil, and results have no energy, if neither the file nor the name gives it.
	Power *Power `json:"power,omitempty"`

	file       string // the file that the model was read from, for errors; "" without one
	sizes      []Slices
	bySize     [MaxSize + 1]*Profile
	tree       []Node
	partitions func() []Partition
	values     *sync.Map // the results of [Derived], by function
}

// GPUs returns the models of this package's table in a fixed order.
func GPUs() []*GPU { return models }

// String returns the model's name.
func (g *GPU) String() string { return g.Name }

// Sizes returns the instance sizes C_G in ascending order (FAR 2.2).
func (g *GPU) Sizes() []Slices { return g.sizes }

// Profile returns the standard profile of a size, or nil if the model has no such profile.
func (g *GPU) Profile(size Slices) *Profile {
	if size < 1 || size > MaxSize {
		return nil
	}
	return g.bySize[size]
}

// Instance returns the standard instance of a size that begins at a memory slice.
func (g *GPU) Instance(size, start Slices) (Instance, error) {
	p := g.Profile(size)
	if p == nil {
		return Instance{}, fmt.Errorf("%s has no instances of size %d", g.Name, size)
	}
	if !slices.Contains(p.Starts, start) {
		return Instance{}, fmt.Errorf("%s cannot place size %d at slice %d; it may start at %v", g.Name, size,
			start, p.Starts)
	}
	return Instance{p, start}, nil
}

// ProfileByName finds a profile by NVIDIA's name, for example 1g.10gb+me. Names are unique: profiles with the same
// memory differ in their compute slices (1g.10gb, 2g.10gb) or engines. The error is a [*nearest.UnknownError].
func (g *GPU) ProfileByName(name string) (*Profile, error) {
	return nearest.Find("profile of "+g.Name, name, g.AllProfiles(), (*Profile).String)
}

// AllProfiles returns Profiles and Others.
func (g *GPU) AllProfiles() []*Profile { return slices.Concat(g.Profiles, g.Others) }

// Definition returns [GPU.JSON] without the origin. Equal models have equal definitions.
func (g *GPU) Definition() []byte {
	anywhere := *g
	anywhere.Origin = ""
	return anywhere.JSON()
}

// JSON returns the model as the text of a file, which [Catalog.Parse] reads.
func (g *GPU) JSON() []byte {
	// All fields are numbers, names and lists of them; times are finite.
	return append(spec.Must(json.MarshalIndent(g, "", "  ")), '\n')
}
