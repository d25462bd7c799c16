package mig

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"
)

// modelsText holds the models in the format of [GPU.JSON]. Their numbers come from nvidia-smi mig -lgip and -lgipp
// and from NVIDIA's MIG user guide. [GPU.Assumed] names the numbers without a source; 0 multiprocessors means not
// published. The times to create and to destroy an instance are the averages of FAR Table 1, for the model that
// [GPU.CostSource] names.
//
//go:embed models.json
var modelsText []byte

var models = readModels()

func readModels() []*GPU {
	out := embedded[[]*GPU]("models.json", modelsText)
	for _, g := range out {
		g.derive()
	}
	return out
}

// embedded reads JSON that is part of the program. It panics on a mistake in the text.
func embedded[T any](file string, text []byte) (out T) {
	if err := json.Unmarshal(text, &out); err != nil {
		panic("mig: " + file + ": " + err.Error())
	}
	return out
}

// derive computes the sizes, the profile of each size, the tree and the partitions from the profiles.
func (g *GPU) derive() {
	for _, p := range g.Profiles {
		if p.Standard() {
			g.sizes = append(g.sizes, p.Size)
			g.bySize[p.Size] = p
		}
	}
	g.tree = buildTree(g)
	g.partitions = sync.OnceValue(func() []Partition { return g.PartitionsOf((*Profile).Standard) })
	g.values = new(sync.Map)
}

// With returns a model with one more profile, which must not be a standard one.
func (g *GPU) With(p *Profile) *GPU {
	more := *g
	more.Profiles = append(slices.Clone(g.Profiles), p)
	more.sizes = nil
	more.derive()
	return &more
}

// Derived returns a function that computes a value from a model when the model is first used, and keeps it in the
// model. The value is shared and must not be changed.
func Derived[T any](compute func(*GPU) T) func(*GPU) T {
	key := &compute // one of its own for each call
	return func(g *GPU) T {
		value, ok := g.values.Load(key)
		if !ok {
			value, _ = g.values.LoadOrStore(key, sync.OnceValue(func() T { return compute(g) }))
		}
		return value.(func() T)()
	}
}
