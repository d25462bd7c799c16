package placement

import (
	"fmt"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "nos", Version: 1,
	Cite: "nebuly-ai/nos 12e0a728, internal/partitioning/core/planner.go and pkg/gpu/mig; its lists of geometries " +
		"are here all maximal ones of the model, and of equally good ones the first is taken",
	Summary: "makes instances for all requests that wait: GPU by GPU the geometry, by numbers, that provides most",
	New:     algo.NewPlacer(newNos),
})

// nos chooses geometries by numbers of instances and not by their starts, so that a geometry can be impossible
// beside the instances in use. The GPU then gets as many of its instances as possible. A cluster asks at every arrival
// and departure. So nos caches options, starts, and the demand for which no change helps.
type nos struct {
	profiles   []*mig.Profile
	geometries []counts
	// masks are, by GPU, the occupied slices to which the counts in gpus belong.
	masks []mig.Mask
	gpus  []nosGPU
	free  counts // counts the free instances of all GPUs
	// options and arrangements cache the results of listOptions and arrange.
	options      map[counts][]option
	arrangements map[arrangementKey][]placedInstance
	settled      counts // the demand for which the last plan changed no GPU; zero after a GPU changed
	// changes counts the new geometries of GPUs, and impossible the changes to geometries that could not exist.
	changes, impossible int
}

// A nosGPU is the state of a GPU.
type nosGPU struct {
	// geometry is the last that was chosen. made means that the mask has not changed since.
	geometry counts
	made     bool
	// exist are the instances; free and used count them.
	exist      []placedInstance
	free, used counts
	options    []option // the geometries that contain the instances in use
}

func newNos(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
	n := &nos{
		profiles: task.RequestProfiles(s.GPU), masks: make([]mig.Mask, s.GPUs), gpus: make([]nosGPU, s.GPUs),
		options: map[counts][]option{}, arrangements: map[arrangementKey][]placedInstance{},
	}
	switch {
	case len(n.profiles) > len(counts{}):
		return nil, &algo.UnsupportedError{
			What:   fmt.Sprintf("%s, which has %d profiles", s.GPU, len(n.profiles)),
			Reason: fmt.Sprintf("it counts those of %d", len(counts{})),
		}
	case s.Geometry != nil:
		return nil, &algo.UnsupportedError{What: "a fixed geometry", Reason: "it changes geometries"}
	case s.Gangs:
		return nil, &algo.UnsupportedError{
			What:   "requests for several instances at once or for +me",
			Reason: "it plans geometries by the number of instances of each profile that all requests lack",
		}
	case s.Waiting == task.FIFO:
		return nil, &algo.UnsupportedError{What: "queue=fifo", Reason: "it may serve later requests first"}
	}
	for _, p := range s.GPU.PartitionsOf(func(p *mig.Profile) bool { return !p.MediaExtensions }) {
		n.geometries = append(n.geometries, countProfiles(n.profiles, p))
	}
	for gpu := range n.gpus {
		n.recount(gpu)
	}
	return n, nil
}

// Place takes a free instance. Without one, it first plans for all waiting requests.
func (n *nos) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	for gpu, known := range n.masks {
		if c.Mask(gpu) != known {
			n.masks[gpu], n.gpus[gpu].made = c.Mask(gpu), false
			n.recount(gpu)
		}
	}
	if n.free[profile] == 0 {
		n.plan(c, profile)
	}
	if n.free[profile] > 0 {
		for gpu := range n.gpus {
			for _, in := range n.gpus[gpu].exist {
				if in.profile == profile && in.mask&n.masks[gpu] == 0 {
					return sim.Spot{GPU: gpu, Start: in.start}, true
				}
			}
		}
	}
	return sim.Spot{}, false
}

// Report implements [sim.Reporter].
func (n *nos) Report() []sim.Metric {
	share := float64(n.impossible) / float64(max(n.changes, 1))
	return []sim.Metric{
		{Name: "geometry_changes", Value: float64(n.changes)}, {Name: "geometries_impossible", Value: share},
	}
}

// recount updates the counts of a GPU after its mask or its instances changed.
func (n *nos) recount(gpu int) {
	g := &n.gpus[gpu]
	n.free = n.free.without(&g.free)
	g.free, g.used = counts{}, counts{}
	for _, in := range g.exist {
		if in.mask&n.masks[gpu] == 0 {
			g.free[in.profile]++
			n.free[in.profile]++
		} else {
			g.used[in.profile]++
		}
	}
	options, known := n.options[g.used]
	if !known {
		options = listOptions(n.geometries, g.used)
		n.options[g.used] = options
	}
	g.options, n.settled = options, counts{}
}

// plan changes geometries to provide the instances that the waiting requests lack, with at least one of the profile.
// The source undoes the changes of a node if no request then fits it; by these counts, a request always fits.
func (n *nos) plan(c *sim.Cluster, profile int) {
	var demand counts
	for p := range n.profiles {
		demand[p] = int32(c.Waiting(p))
	}
	demand[profile] = max(demand[profile], 1)
	if demand == n.settled {
		return
	}
	lacking, changed := demand.without(&n.free), false
	for gpu := range n.gpus {
		if lacking == (counts{}) {
			break
		}
		g := &n.gpus[gpu]
		best := bestOption(g.options, &g.free, &lacking)
		if best == nil {
			lacking = lacking.without(&g.free)
			continue
		}
		if !g.made || g.geometry != best.geometry {
			n.apply(gpu, best)
			changed = true
		}
		lacking = lacking.without(&best.fresh)
	}
	if !changed {
		n.settled = demand
	}
}

// apply replaces the free instances of a GPU by the fresh instances of an option.
func (n *nos) apply(gpu int, o *option) {
	g := &n.gpus[gpu]
	key := arrangementKey{o.fresh, n.masks[gpu]}
	made, known := n.arrangements[key]
	if !known {
		var want []int
		for p := len(n.profiles) - 1; p >= 0; p-- {
			want = append(want, slices.Repeat([]int{p}, int(o.fresh[p]))...)
		}
		made = arrange(n.profiles, want, n.masks[gpu])
		n.arrangements[key] = made
	}
	g.exist = slices.DeleteFunc(g.exist, func(in placedInstance) bool { return in.mask&n.masks[gpu] == 0 })
	g.exist = append(g.exist, made...)
	n.recount(gpu)
	if g.geometry != o.geometry {
		n.changes++
		if g.free != o.fresh {
			n.impossible++
		}
	}
	g.geometry, g.made = o.geometry, true
}
