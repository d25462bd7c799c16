package mig

import (
	"fmt"
	"sync"
)

// placement is a row of a geometry's placement table, in memory slices.
type placement struct {
	id     int
	size   Slices
	length Slices
	starts []Slices
	max    int
	double bool
	media  bool
}

// sevenSlices is the geometry of A100, H100, H200 and B200 (nvidia-smi mig -lgipp). For
// H200 and B200 it is inferred from the profile names; we have no listing.
var sevenSlices = []placement{
	{id: 19, size: 1, length: 1, starts: []Slices{0, 1, 2, 3, 4, 5, 6}, max: 7},
	{id: 20, size: 1, length: 1, starts: []Slices{0, 1, 2, 3, 4, 5, 6}, max: 1, media: true},
	{id: 15, size: 1, length: 2, starts: []Slices{0, 2, 4, 6}, max: 4, double: true},
	{id: 14, size: 2, length: 2, starts: []Slices{0, 2, 4}, max: 3},
	{id: 9, size: 3, length: 4, starts: []Slices{0, 4}, max: 2},
	{id: 5, size: 4, length: 4, starts: []Slices{0}, max: 1},
	{id: 0, size: 7, length: 8, starts: []Slices{0}, max: 1},
}

// fourSlices is the geometry of A30.
var fourSlices = []placement{
	{id: 14, size: 1, length: 1, starts: []Slices{0, 1, 2, 3}, max: 4},
	{id: 5, size: 2, length: 2, starts: []Slices{0, 2}, max: 2},
	{id: 0, size: 4, length: 4, starts: []Slices{0}, max: 1},
}

// cost is an entry of FAR Table 1.
type cost struct{ create, destroy Seconds }

// These are the average seconds to create and to destroy an instance of a size, from FAR
// Table 1.
var (
	costsA30  = map[Slices]cost{1: {0.11, 0.10}, 2: {0.12, 0.10}, 4: {0.13, 0.10}}
	costsA100 = map[Slices]cost{1: {0.16, 0.20}, 2: {0.17, 0.20}, 3: {0.20, 0.21}, 4: {0.21, 0.21}, 7: {0.24, 0.22}}
	costsH100 = map[Slices]cost{1: {0.16, 0.21}, 2: {0.21, 0.23}, 3: {0.33, 0.25}, 4: {0.38, 0.26}, 7: {0.42, 0.26}}
)

// model holds the properties in which GPUs of the same geometry differ. gb and sms are in
// the order of the rows of the placement table.
type model struct {
	name       string
	aliases    []string
	geometry   []placement
	compute    Slices
	memory     Slices
	gb         []int
	sms        []int
	costs      map[Slices]cost
	costSource string
}

const farTable1 = "FAR Table 1"

var models = buildModels([]model{
	{
		name: "A30", aliases: []string{"A30-24GB"}, geometry: fourSlices, compute: 4, memory: 4,
		gb: []int{6, 12, 24}, sms: []int{14, 28, 56}, costs: costsA30, costSource: farTable1,
	},
	{
		name: "A100", aliases: []string{"A100-40GB"}, geometry: sevenSlices, compute: 7, memory: 8,
		gb: []int{5, 5, 10, 10, 20, 20, 40}, sms: []int{14, 14, 14, 28, 42, 56, 98}, costs: costsA100, costSource: farTable1,
	},
	{
		name: "A100-80GB", geometry: sevenSlices, compute: 7, memory: 8,
		gb: []int{10, 10, 20, 20, 40, 40, 80}, sms: []int{14, 14, 14, 28, 42, 56, 98}, costs: costsA100,
		costSource: "assumed equal to A100 in FAR Table 1",
	},
	{
		name: "H100", aliases: []string{"H100-80GB"}, geometry: sevenSlices, compute: 7, memory: 8,
		gb: []int{10, 10, 20, 20, 40, 40, 80}, sms: []int{16, 16, 26, 32, 60, 64, 132}, costs: costsH100,
		costSource: farTable1,
	},
	{
		name: "H200", aliases: []string{"H200-141GB"}, geometry: sevenSlices, compute: 7, memory: 8,
		gb: []int{18, 18, 35, 35, 71, 71, 141}, sms: []int{16, 16, 26, 32, 60, 64, 132}, costs: costsH100,
		costSource: "assumed equal to H100 in FAR Table 1",
	},
	{
		name: "B200", aliases: []string{"B200-180GB"}, geometry: sevenSlices, compute: 7, memory: 8,
		gb: []int{23, 23, 45, 45, 90, 90, 180}, sms: make([]int, len(sevenSlices)), costs: costsH100,
		costSource: "assumed equal to H100 in FAR Table 1",
	},
})

func buildModels(ms []model) []*GPU {
	out := make([]*GPU, len(ms))
	for i, m := range ms {
		g := &GPU{
			Name: m.name, Aliases: m.aliases, ComputeSlices: m.compute, MemorySlices: m.memory,
			CostSource: m.costSource,
		}
		for j, r := range m.geometry {
			c, ok := m.costs[r.size]
			if !ok {
				panic(fmt.Sprintf("mig: %s has no cost for size %d", m.name, r.size))
			}
			p := &Profile{
				ID: r.id, Size: r.size, Length: r.length, Starts: r.starts, Max: r.max,
				MemoryGB: m.gb[j], SMs: m.sms[j], DoubleMemory: r.double, MediaExtensions: r.media,
				Create: c.create, Destroy: c.destroy,
			}
			g.Profiles = append(g.Profiles, p)
		}
		g.derive()
		out[i] = g
	}
	return out
}

// derive computes what follows from the profiles.
func (g *GPU) derive() {
	for _, p := range g.Profiles {
		if p.Standard() {
			g.sizes = append(g.sizes, p.Size)
			g.bySize[p.Size] = p
		}
	}
	g.tree = buildTree(g)
	g.partitions = g.PartitionsOf((*Profile).Standard)
	g.symmetry = lazySymmetry(g)
}

// Derived returns a function that derives a value from a model when the model is first used, and
// keeps it. It works for every model, also for those that [Register] adds later. The value is
// shared and must not be changed.
func Derived[T any](derive func(*GPU) T) func(*GPU) T {
	var values sync.Map // from *GPU to func() T
	return func(g *GPU) T {
		value, ok := values.Load(g)
		if !ok {
			value, _ = values.LoadOrStore(g, sync.OnceValue(func() T { return derive(g) }))
		}
		return value.(func() T)()
	}
}
