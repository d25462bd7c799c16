package mig

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/harness/wholefile"
)

// Seconds is a duration or a point in time, in seconds. A task with the duration +Inf does not fit.
type Seconds float64

// Slices is a number of slices or the position of a slice. Sizes count compute slices (the
// |I| of FAR 2.2). Positions and lengths count memory slices.
type Slices int

// MaxSize is the largest instance size of any model, in compute slices.
const MaxSize Slices = 7

// Mask is a set of memory slices: bit i is memory slice i.
type Mask uint8

// Count returns the number of memory slices in the set.
func (m Mask) Count() Slices { return Slices(bits.OnesCount8(uint8(m))) }

// Reconfiguration says how long the creation and destruction of instances takes and how
// much of it may happen at once.
type Reconfiguration uint8

const (
	// Sequential lets one create or destroy run at a time on a GPU, as FAR 2.1 measured on
	// A30, A100 and H100. It is the default, and leaderboards use it.
	Sequential Reconfiguration = iota
	// Parallel lets disjoint instances be reconfigured at once, as the DRL paper's environment does.
	Parallel
	// Free takes no time. The FAR paper timed MISO and FIXPART this way.
	Free
)

var reconfigurationNames = [...]string{Sequential: "sequential", Parallel: "parallel", Free: "free"}

// String returns the name that files and the command line use.
func (r Reconfiguration) String() string { return reconfigurationNames[r] }

// Cost returns how long an operation that takes the given time lasts: it is 0 under [Free].
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
	// ID is the GPU instance profile number of the NVIDIA driver.
	ID int `json:"id"`
	// Size is the number of compute slices, which the papers call the instance size.
	Size Slices `json:"size"`
	// Length is the number of memory slices that a placement occupies.
	Length Slices `json:"length"`
	// Starts lists the memory slices at which a placement may begin, ascending.
	Starts []Slices `json:"starts"`
	// Max is the number of instances of the profile that a GPU can hold at once.
	Max int `json:"max"`
	// MemoryGB is the memory in NVIDIA's profile name, in GB.
	MemoryGB int `json:"memory_gb"`
	// SMs is the number of streaming multiprocessors. It is 0 if it is not published.
	SMs int `json:"sms"`
	// DoubleMemory marks the one-slice profile with two memory slices.
	DoubleMemory bool `json:"double_memory,omitempty"`
	// MediaExtensions marks the "+me" profile.
	MediaExtensions bool `json:"media_extensions,omitempty"`
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

// Standard reports whether schedulers use the profile. As in all papers these are the
// profiles without double memory and additional engines, one for each size.
func (p *Profile) Standard() bool {
	return !p.DoubleMemory && !p.MediaExtensions && !strings.HasPrefix(p.Variant, "+")
}

// An Instance is a profile placed at a memory slice of a GPU. Values of the same GPU model
// are equal under == exactly if they are the same instance.
type Instance struct {
	Profile *Profile
	// Start is the first memory slice.
	Start Slices
}

// Size returns the number of compute slices.
func (i Instance) Size() Slices { return i.Profile.Size }

// Mask returns the memory slices that the instance occupies.
func (i Instance) Mask() Mask { return Mask((1<<i.Profile.Length - 1) << i.Start) }

// Overlaps reports whether the two instances share a memory slice, so that they cannot exist at the same time.
func (i Instance) Overlaps(o Instance) bool { return i.Mask()&o.Mask() != 0 }

// String returns "size@start", for example 3@4.
func (i Instance) String() string { return fmt.Sprintf("%d@%d", i.Profile.Size, i.Start) }

// A GPU is a GPU model. All methods are safe for concurrent use. The values that they return
// are shared and must not be changed.
type GPU struct {
	// Name is the model's name in files and on the command line.
	Name string `json:"gpu"`
	// Origin says where a model comes from that is not in the table of this package, for
	// example from the driver of a GPU. It is empty for the others.
	Origin string `json:"origin,omitempty"`
	// Aliases are further names that [Catalog.Lookup] accepts.
	Aliases []string `json:"aliases,omitempty"`
	// Like names the model from which this one differs only in its costs; "" for most models. Name contains the costs.
	Like string `json:"like,omitempty"`
	// ComputeSlices is 7, or 4 on A30: the #slices_G of the papers.
	ComputeSlices Slices `json:"compute_slices"`
	// MemorySlices is 8, or 4 on A30.
	MemorySlices Slices `json:"memory_slices"`
	// DriverSlices is the number of the driver's memory slices in one memory slice of the model: 3 on RTX PRO 6000,
	// where the driver counts 12 and starts instances only at the borders of the model's 4. 0 means 1.
	DriverSlices Slices `json:"driver_slices,omitempty"`
	// Profiles lists the profiles that algorithms may use, by ascending size.
	Profiles []*Profile `json:"profiles"`
	// Others lists further profiles of the driver. Each takes the slices of one in Profiles and has other engines.
	Others []*Profile `json:"others,omitempty"`
	// CostSource says where the create and destroy times come from.
	CostSource string `json:"cost_source"`
	// Assumed says which other numbers have no source, and which values are assumed instead.
	Assumed string `json:"assumed,omitempty"`
	// Power says what a board draws; nil for models without readings, and then results have no energy.
	Power *Power `json:"power,omitempty"`

	// file says in errors which file the model was read from; "" if it was not.
	file       string
	sizes      []Slices
	bySize     [MaxSize + 1]*Profile
	tree       []Node
	partitions []Partition
	// values has what [Derived] derives, by a key of its own for each function.
	values *sync.Map
}

// GPUs returns the models of this package's table in a fixed order.
func GPUs() []*GPU { return models }

// A Catalog has the models that a command knows: those of this package's table, and those that it has read from files
// and results databases. The zero value has the table's. All methods are safe for concurrent use.
type Catalog struct {
	mu    sync.Mutex
	added []*GPU
}

// Lookup finds a model by name or alias and ignores case. Costs may follow the name, as in
// A100?create=0.05&destroy=10x: seconds, or a multiple of the model's. So may a [Power], as in A100?idle=75.4. Lookup
// opens no file, whatever the name. The error is a [*nearest.UnknownError] for an unknown name, or says what is wrong
// with the parameters.
func (c *Catalog) Lookup(name string) (*GPU, error) {
	var names []string
	for _, g := range c.all() {
		for _, n := range g.names() {
			if strings.EqualFold(n, name) {
				return g, nil
			}
			names = append(names, n)
		}
	}
	model, costs := spec.Split(name)
	if costs != nil {
		return c.withCosts(model, costs, c.Lookup)
	}
	return nil, nearest.Unknown("GPU", name, names)
}

func (c *Catalog) all() []*GPU {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Concat(models, c.added)
}

// LookupOrRead is [Catalog.Lookup] for names on the command line. A name that ends with .json is a file
// in the format of [GPU.JSON], for example the gpu.json that miglab profile writes; LookupOrRead
// adds its model. A name that ends with .txt is a file with the output of nvidia-smi mig -lgip and -lgipp. Costs may
// follow the file's name, too.
func (c *Catalog) LookupOrRead(name string) (*GPU, error) {
	file, costs := spec.Split(name)
	isFile := strings.HasSuffix(file, ".json") || strings.HasSuffix(file, listingSuffix)
	if costs != nil && isFile {
		return c.withCosts(file, costs, c.LookupOrRead)
	}
	if !isFile {
		return c.Lookup(name)
	}
	const limit = 1 << 20 // bytes
	text, err := wholefile.Read(name, limit)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, listingSuffix) {
		g, err := parseListing(text, name)
		if err != nil {
			return nil, err
		}
		return c.Add(g)
	}
	return c.Parse(text, name)
}

// MustLookup is [Catalog.Lookup] in the table, for names in the program's text. It panics on an error.
func MustLookup(name string) *GPU {
	return spec.Must(new(Catalog).Lookup(name))
}

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

// ProfileByName finds a profile by NVIDIA's name, for example 1g.10gb+me. Names are unique:
// a double-memory profile and a larger one with the same memory differ in their compute
// slices (1g.10gb, 2g.10gb). The error is a [*nearest.UnknownError].
func (g *GPU) ProfileByName(name string) (*Profile, error) {
	return nearest.Find("profile of "+g.Name, name, g.AllProfiles(), (*Profile).String)
}

// AllProfiles returns Profiles and Others.
func (g *GPU) AllProfiles() []*Profile { return slices.Concat(g.Profiles, g.Others) }

// A Partition is a set of disjoint instances of one GPU, by ascending start.
type Partition []Instance

// String returns the sizes from left to right, for example 4-2-1.
func (p Partition) String() string {
	var b strings.Builder
	for i, in := range p {
		if i > 0 {
			b.WriteByte('-')
		}
		b.WriteString(strconv.Itoa(int(in.Size())))
	}
	return b.String()
}

// Mask returns the memory slices that the partition occupies.
func (p Partition) Mask() Mask {
	var m Mask
	for _, in := range p {
		m |= in.Mask()
	}
	return m
}

// Partitions returns the maximal partitions of standard profiles, those to which no
// instance can be added. They are in descending lexicographic order of their sizes, which
// is the numbering of FAR Fig. 1. There are 19 on the 7-slice models and 5 on A30.
func (g *GPU) Partitions() []Partition { return g.partitions }

// PartitionNames returns the names of the partitions that some model of this package's table has, sorted.
func PartitionNames() []string {
	var out []string
	for _, g := range models {
		out = append(out, nearest.Names(g.Partitions(), Partition.String)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// NamesPartition reports whether a text can name a partition of a model: sizes joined by hyphens, which fit beside
// each other on the largest one. A particular model may not have it, which [GPU.ParsePartition] says.
func NamesPartition(text string) bool {
	left := columns[len(columns)-1]
	for _, size := range strings.Split(text, "-") {
		i := slices.IndexFunc(columns, func(s Slices) bool { return strconv.Itoa(int(s)) == size })
		if i < 0 || columns[i] > left {
			return false
		}
		left -= columns[i]
	}
	return true
}

// PartitionsOf returns the maximal partitions over the profiles that keep
// accepts, in descending lexicographic order of their sizes.
func (g *GPU) PartitionsOf(keep func(*Profile) bool) []Partition {
	var all []Instance
	for _, p := range g.Profiles {
		if !keep(p) {
			continue
		}
		for _, s := range p.Starts {
			all = append(all, Instance{p, s})
		}
	}
	var out []Partition
	var extend func(Partition)
	extend = func(chosen Partition) {
		maximal := true
		for _, in := range all {
			if g.fits(chosen, in) {
				maximal = false
				// Add instances from left to right, so that each set is found once.
				if len(chosen) == 0 || in.Start > chosen[len(chosen)-1].Start {
					extend(append(slices.Clone(chosen), in))
				}
			}
		}
		if maximal {
			out = append(out, chosen)
		}
	}
	extend(nil)
	slices.SortFunc(out, func(a, b Partition) int {
		return -slices.CompareFunc(a, b, func(x, y Instance) int {
			return cmp.Or(int(x.Size()-y.Size()), int(x.Profile.Length-y.Profile.Length))
		})
	})
	return out
}

func (g *GPU) fits(exist Partition, in Instance) bool {
	same := 0
	for _, o := range exist {
		if o.Overlaps(in) {
			return false
		}
		if o.Profile == in.Profile {
			same++
		}
	}
	return same < in.Profile.Max
}

// ParsePartition finds a maximal partition by its sizes, for example 4-2-1. The error is a [*nearest.UnknownError].
func (g *GPU) ParsePartition(s string) (Partition, error) {
	return nearest.Find("partition of "+g.Name, s, g.partitions, Partition.String)
}
