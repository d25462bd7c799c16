package mig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"miglab/harness/strictjson"
)

// registry holds the models that are not in the table of this package.
type registry struct {
	mu     sync.Mutex
	models []*GPU
}

var registered registry

func (r *registry) all() []*GPU {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.models)
}

// Register adds a model that is not in the table of this package, so that [Lookup] finds it.
// The argument needs the exported fields only. If an equal model is registered already, Register
// returns that one; so pointers to models can be compared. A different model of the same name is
// an error.
func Register(g *GPU) (*GPU, error) {
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("GPU model %q: %w", g.Name, err)
	}
	registered.mu.Lock()
	defer registered.mu.Unlock()
	for _, known := range slices.Concat(models, registered.models) {
		switch {
		case known.Name != g.Name && !slices.Contains(known.Aliases, g.Name):
		case known.equal(g):
			return known, nil
		default:
			return nil, fmt.Errorf("there are two GPU models %s with different profiles: one %s, the other %s", g.Name, known.origin(), g.origin())
		}
	}
	g.derive()
	registered.models = append(registered.models, g)
	return g, nil
}

// check refuses a model that the rest of the program cannot carry.
func (g *GPU) check() error {
	if g.Name == "" || len(g.Profiles) == 0 {
		return errors.New("it needs a name and profiles")
	}
	names, sizes := map[string]bool{}, map[Slices]bool{}
	for _, p := range g.Profiles {
		if p == nil {
			return errors.New("a profile is null")
		}
		name := p.String()
		switch {
		case p.Size < 1 || p.Size > MaxSize || p.Size > g.ComputeSlices:
			return fmt.Errorf("%s has %d compute slices; it must be 1 to %d", name, p.Size, min(MaxSize, g.ComputeSlices))
		case g.MemorySlices < 1 || g.MemorySlices > maxMemory:
			return fmt.Errorf("it has %d memory slices; it must be 1 to %d", g.MemorySlices, maxMemory)
		case p.Length < 1 || p.Length > g.MemorySlices:
			return fmt.Errorf("%s takes %d memory slices; it must be 1 to %d", name, p.Length, g.MemorySlices)
		case len(p.Starts) == 0 || !slices.IsSorted(p.Starts) || len(slices.Compact(slices.Clone(p.Starts))) != len(p.Starts):
			return fmt.Errorf("%s starts at %v; there must be at least one start, in ascending order", name, p.Starts)
		case p.Starts[0] < 0 || p.Starts[len(p.Starts)-1]+p.Length > g.MemorySlices:
			return fmt.Errorf("%s starts at %v and takes %d memory slices; the GPU has %d", name, p.Starts, p.Length, g.MemorySlices)
		case p.Max < 1 || p.MemoryGB < 1 || p.SMs < 0 || !(p.Create > 0) || !(p.Destroy > 0):
			return fmt.Errorf("%s needs positive numbers for max, memory_gb, create_s and destroy_s", name)
		case names[name]:
			return fmt.Errorf("it has two profiles %s", name)
		case p.Standard() && sizes[p.Size]:
			return fmt.Errorf("it has two standard profiles of size %d", p.Size)
		}
		names[name] = true
		sizes[p.Size] = sizes[p.Size] || p.Standard()
	}
	if !slices.IsSortedFunc(g.Profiles, func(a, b *Profile) int { return int(a.Size - b.Size) }) {
		return errors.New("its profiles are not by ascending size")
	}
	return g.checkStandard(sizes)
}

// checkStandard refuses a model whose standard profiles have no root of a repartitioning tree.
func (g *GPU) checkStandard(sizes map[Slices]bool) error {
	if !sizes[g.ComputeSlices] {
		return fmt.Errorf("it has no profile with all %d compute slices", g.ComputeSlices)
	}
	for _, p := range g.Profiles {
		if p.Standard() && p.Size == g.ComputeSlices && p.Length != g.MemorySlices {
			return fmt.Errorf("%s takes %d memory slices; the whole GPU has %d", p, p.Length, g.MemorySlices)
		}
	}
	return nil
}

// maxMemory is the number of memory slices that fit into a [Mask].
const maxMemory Slices = 8

func (g *GPU) origin() string {
	if g.Origin == "" {
		return "from the program's table"
	}
	return g.Origin
}

// equal reports whether two models are the same, wherever they come from.
func (g *GPU) equal(o *GPU) bool {
	mine, other := *g, *o
	mine.Origin, other.Origin = "", ""
	return bytes.Equal(mine.JSON(), other.JSON())
}

// JSON returns the model as the text of a file, which [ReadModel] reads.
func (g *GPU) JSON() []byte {
	text, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		panic(err) // All fields are numbers, names and lists of them; times are finite.
	}
	return append(text, '\n')
}

// ReadModel reads a model from a file of [GPU.JSON], for example the gpu.json that miglab
// profile writes, and registers it.
func ReadModel(file string) (*GPU, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return ParseModel(text, file)
}

// ParseModel reads a model from the text of a file, and registers it. The file's name is used
// only in errors.
func ParseModel(text []byte, file string) (*GPU, error) {
	var g GPU
	if err := strictjson.Unmarshal(text, &g); err != nil {
		return nil, fmt.Errorf("%s is not a GPU model as miglab profile writes it (gpu.json): %w", file, err)
	}
	known, err := Register(&g)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return known, nil
}

// CostsLike returns the times to create and to destroy an instance of a size on a GPU whose
// times were not published: those of a model of FAR Table 1, for its smallest size from this
// one on. The source says so.
func (g *GPU) CostsLike(size Slices) (create, destroy Seconds, source string) {
	for _, s := range g.sizes {
		if p := g.bySize[s]; s >= size || s == g.ComputeSlices {
			return p.Create, p.Destroy, fmt.Sprintf("assumed equal to %s in FAR Table 1", g.Name)
		}
	}
	panic("mig: a model without sizes")
}
