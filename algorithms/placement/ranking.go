package placement

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// A cost ranks a choice. The least is best; earlier entries count first.
type cost [3]int

func (c *cost) compare(o *cost) int {
	for i, x := range c {
		if x != o[i] {
			return cmp.Compare(x, o[i])
		}
	}
	return 0
}

// nowhere is the start of a choice for a GPU on which no start is free.
const nowhere mig.Slices = -1

// A choice is the decision of a rule for a GPU with a given mask.
type choice struct {
	cost cost
	// start is the start of the instance. If it is nowhere, the request is rejected.
	start mig.Slices
}

// A rule returns the choice for a GPU with these slices occupied; false if the GPU is not a candidate.
type rule func(p *mig.Profile, occupied mig.Mask) (choice, bool)

// ranks holds the choices of a rule for one profile and every mask.
type ranks struct {
	rule    rule
	classes []sim.MaskSet // the sets of masks with equal cost, the best first
	start   [sim.Masks]int8
}

func newRanks(g *mig.GPU, p *mig.Profile, r rule) ranks {
	type ranked struct {
		mask mig.Mask
		cost cost
	}
	out := ranks{rule: r, classes: make([]sim.MaskSet, 0, 32)}
	all := make([]ranked, 0, sim.Masks)
	for m := range 1 << g.MemorySlices {
		if c, ok := r(p, mig.Mask(m)); ok {
			all = append(all, ranked{mig.Mask(m), c.cost})
			out.start[m] = int8(c.start)
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(a.cost.compare(&b.cost), cmp.Compare(a.mask, b.mask))
	})
	for i, m := range all {
		if i == 0 || m.cost != all[i-1].cost {
			out.classes = append(out.classes, sim.MaskSet{})
		}
		out.classes[len(out.classes)-1].Add(m.mask)
	}
	return out
}

func (r *ranks) spot(c *sim.Cluster, gpu int) (sim.Spot, bool) {
	start := mig.Slices(r.start[c.Mask(gpu)])
	return sim.Spot{GPU: gpu, Start: start}, start != nowhere
}

// scanFixed returns the best spot in a cluster with fixed instances. It looks at every GPU, beginning with from. If no
// GPU is a candidate, that of the spot is negative.
func (r *ranks) scanFixed(c *sim.Cluster, profile, from int) (best sim.Spot, ok bool) {
	var least cost
	best = sim.Spot{GPU: -1, Start: nowhere}
	for i := range c.GPUs() {
		gpu := (from + i) % c.GPUs()
		got, candidate := r.rule(c.Profile(gpu, profile), c.Mask(gpu))
		if candidate && (!ok || got.cost.compare(&least) < 0) {
			best, least, ok = sim.Spot{GPU: gpu, Start: got.start}, got.cost, true
		}
	}
	return best, best.Start != nowhere
}

// A table is a scheduler with a fixed rule. It has the ranks of each profile.
type table []ranks

func newTable(g *mig.GPU, r rule) table {
	var t table
	for _, p := range task.RequestProfiles(g) {
		t = append(t, newRanks(g, p, r))
	}
	return t
}

// tables caches the tables that depend only on the GPU model and the algorithm's name and arguments. Making a table
// takes longer than placing a thousand requests.
var tables = mig.Derived(func(*mig.GPU) *sync.Map { return new(sync.Map) })

// fixedTable returns the table of a named scheduler. Once it is kept, newRule is not called again.
func fixedTable(name string, args algo.Args, g *mig.GPU, newRule func() rule) table {
	scheme := fmt.Sprint(name, args) // a map is printed in the order of its keys
	if t, ok := tables(g).Load(scheme); ok {
		return t.(table)
	}
	t := newTable(g, newRule())
	tables(g).Store(scheme, t)
	return t
}

// newTabled returns the constructor of a table without further state.
func newTabled(name string, newRule func(algo.Args, *mig.GPU) rule) algo.NewPlacer {
	return func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return fixedTable(name, args, s.GPU, func() rule { return newRule(args, s.GPU) }), nil
	}
}

// Place returns the best spot in the cluster.
func (t table) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	if c.Restricted() {
		return t[profile].scanFixed(c, profile, 0)
	}
	occurs := c.Occurs()
	for i := range t[profile].classes {
		class := &t[profile].classes[i]
		if class.Meets(occurs) {
			gpu, _ := c.Lowest(class)
			return t[profile].spot(c, gpu)
		}
	}
	return sim.Spot{}, false
}

func freeSlices(g *mig.GPU, occupied mig.Mask) int { return int(g.MemorySlices - occupied.Count()) }

// window returns the memory slices of a profile at a start.
func window(p *mig.Profile, start mig.Slices) mig.Mask {
	return mig.Instance{Profile: p, Start: start}.Mask()
}

// firstFree returns the first of some starts that the profile has and at which all its slices are free.
func firstFree(p *mig.Profile, starts []mig.Slices, occupied mig.Mask) (mig.Slices, bool) {
	for _, start := range starts {
		if window(p, start)&occupied == 0 && slices.Contains(p.Starts, start) {
			return start, true
		}
	}
	return nowhere, false
}

// freeStarts iterates over the starts of a profile at which all its slices are free.
type freeStarts struct {
	p        *mig.Profile
	occupied mig.Mask
}

// all yields the starts and their slices. It is a method because a function that returns an iterator makes the compiler
// allocate the variables that the bodies of loops change.
func (f freeStarts) all(yield func(mig.Slices, mig.Mask) bool) {
	for _, start := range f.p.Starts {
		w := window(f.p, start)
		if w&f.occupied == 0 && !yield(start, w) {
			return
		}
	}
}
