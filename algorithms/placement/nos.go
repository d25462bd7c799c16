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
	Name: "nos", Version: 1, Track: algo.TrackPlacement,
	Cite: "nebuly-ai/nos 12e0a728, internal/partitioning/core/planner.go and pkg/gpu/mig; its lists of geometries " +
		"are here all maximal ones of the model, and of equally good ones the first is taken",
	Summary: "makes instances for all requests that wait: GPU by GPU the geometry, by numbers, that provides most",
	New: func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		n := &nos{profiles: task.RequestProfiles(s.GPU), gpus: make([]nosGPU, s.GPUs)}
		switch {
		case len(n.profiles) > len(numbers{}):
			return nil, &algo.UnsupportedError{
				What:   fmt.Sprintf("%s, which has %d profiles", s.GPU, len(n.profiles)),
				Reason: fmt.Sprintf("it counts those of %d", len(numbers{})),
			}
		case s.Geometry != nil:
			return nil, &algo.UnsupportedError{What: "a fixed geometry", Reason: "it changes geometries"}
		case s.Waiting == task.FIFO:
			return nil, &algo.UnsupportedError{What: "queue=fifo", Reason: "it may serve later requests first"}
		}
		for _, p := range s.GPU.PartitionsOf(func(p *mig.Profile) bool { return !p.MediaExtensions }) {
			geometry, _ := count(n.profiles, p, 0)
			n.geometries = append(n.geometries, geometry)
		}
		return n, nil
	},
})

// nos chooses geometries by the numbers of instances and not by their starts, so that one can be impossible beside the
// instances in use. The GPU then gets most of it.
type nos struct {
	profiles   []*mig.Profile
	geometries []numbers
	gpus       []nosGPU
	// changes are the geometries that GPUs were given, and impossible those of them that could not exist.
	changes, impossible int
}

type nosGPU struct {
	geometry numbers
	exist    mig.Partition
}

// Place takes a free instance, if need be after another plan for all that wait.
func (n *nos) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	spot, ok := n.take(c, profile)
	if !ok {
		n.plan(c, profile)
		spot, ok = n.take(c, profile)
	}
	return spot, ok
}

// Report implements [sim.Reporter].
func (n *nos) Report() []sim.Metric {
	share := float64(n.impossible) / float64(max(n.changes, 1))
	return []sim.Metric{
		{Name: "geometry_changes", Value: float64(n.changes)}, {Name: "geometries_impossible", Value: share},
	}
}

func (n *nos) take(c *sim.Cluster, profile int) (sim.Spot, bool) {
	for gpu := range n.gpus {
		for _, in := range n.gpus[gpu].exist {
			if in.Profile == n.profiles[profile] && in.Mask()&c.Mask(gpu) == 0 {
				return sim.Spot{GPU: gpu, Start: in.Start}, true
			}
		}
	}
	return sim.Spot{}, false
}

// plan changes geometries for what the requests that wait lack, one for the profile among them. The source takes the
// changes of a node back if no request then fits it; by numbers, one always does.
func (n *nos) plan(c *sim.Cluster, profile int) {
	var lacking numbers
	for p := range n.profiles {
		lacking[p] = c.Waiting(p)
	}
	lacking[profile] = max(lacking[profile], 1)
	for gpu := range n.gpus {
		free, _ := count(n.profiles, n.gpus[gpu].exist, c.Mask(gpu))
		lacking = lacking.without(free)
	}
	for gpu := range n.gpus {
		free, used := count(n.profiles, n.gpus[gpu].exist, c.Mask(gpu))
		if best, ok := mostProvided(n.geometries, free, used, lacking); ok {
			free = best.without(used)
			n.apply(&n.gpus[gpu], best, free, c.Mask(gpu))
		}
		lacking = lacking.without(free)
	}
}

// apply makes the free instances of a geometry.
func (n *nos) apply(g *nosGPU, geometry, free numbers, occupied mig.Mask) {
	var want []*mig.Profile
	for p := len(n.profiles) - 1; p >= 0; p-- {
		want = append(want, slices.Repeat(n.profiles[p:p+1], free[p])...)
	}
	made := arrange(want, occupied)
	g.exist = append(slices.DeleteFunc(g.exist, func(in mig.Instance) bool { return in.Mask()&occupied == 0 }), made...)
	if g.geometry != geometry {
		n.changes++
		n.impossible += min(len(want)-len(made), 1)
	}
	g.geometry = geometry
}
