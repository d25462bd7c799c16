package placement

import (
	"cmp"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// policies are HAMi's ways to choose among nodes, or among the GPUs of a node: the fullest first, or the emptiest.
var policies = []string{"binpack", "spread"}

var _ = algo.Register(algo.Spec{
	Name: "hami-2.10", Version: 1, Track: algo.TrackPlacement,
	Cite:    "HAMi 4707fb02, pkg/device/nvidia: device.go (selectMigCandidate), mig_topology.go; charts/hami/values.yaml",
	Summary: "node, then GPU by used memory, then the smallest profile with a free start: a request for memory escalates",
	Params: []algo.Param{
		{Name: "node", Default: "binpack", Values: policies, Doc: "nodes with most memory in use first, or with least"},
		{Name: "gpu", Default: "spread", Values: policies, Doc: "the same for the GPUs of a node"},
	},
	New: func(a algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		h := &hami210{perNode: cmp.Or(s.PerNode, s.GPUs), node: signOf(a["node"]), gpu: signOf(a["gpu"])}
		for i, p := range task.RequestProfiles(s.GPU) {
			h.ascending = append(h.ascending, i)
			starts := slices.Clone(p.Starts)
			if p.Size == 1 || p.Size == 3 {
				slices.Reverse(starts)
			}
			h.profiles, h.starts = append(h.profiles, p), append(h.starts, starts)
		}
		slices.SortStableFunc(h.ascending, func(i, k int) int {
			a, b := h.profiles[i], h.profiles[k]
			return cmp.Or(a.MemoryGB-b.MemoryGB, int(a.Size-b.Size))
		})
		return h, nil
	},
})

// signOf is 1 where the least used comes first.
func signOf(policy string) int {
	if policy == "spread" {
		return 1
	}
	return -1
}

// hami210 looks at every GPU.
type hami210 struct {
	perNode   int
	node, gpu int // signs
	profiles  []*mig.Profile
	starts    [][]mig.Slices
	ascending []int // profiles by memory, then slices
}

// Place implements [sim.Placer].
func (h *hami210) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	s, _, ok := h.choose(c, func(p int) bool { return p == profile })
	return s, ok
}

// PlaceIn implements [sim.Chooser].
func (h *hami210) PlaceIn(c *sim.Cluster, _ int, fits []bool) (s sim.Spot, in int, ok bool) {
	return h.choose(c, func(p int) bool { return fits[p] })
}

// choose returns the first place on the best GPU of the best node that has one.
func (h *hami210) choose(c *sim.Cluster, fits func(profile int) bool) (best sim.Spot, in int, ok bool) {
	least := [2]int{math.MaxInt, math.MaxInt}
	for first := 0; first < c.GPUs(); first += h.perNode {
		gpus, used := min(h.perNode, c.GPUs()-first), 0
		for gpu := first; gpu < first+gpus; gpu++ {
			used += int(c.Mask(gpu).Count())
		}
		for gpu := first; gpu < first+gpus; gpu++ {
			score := [2]int{h.node * used, h.gpu * int(c.Mask(gpu).Count())}
			if slices.Compare(score[:], least[:]) >= 0 {
				continue
			}
			if p, start, free := h.placeOn(c.Mask(gpu), fits); free {
				least, best, in, ok = score, sim.Spot{GPU: gpu, Start: start}, p, true
			}
		}
	}
	return best, in, ok
}

// placeOn returns the smallest profile with a free start.
func (h *hami210) placeOn(occupied mig.Mask, fits func(profile int) bool) (profile int, start mig.Slices, ok bool) {
	for _, p := range h.ascending {
		if !fits(p) {
			continue
		}
		for _, start := range h.starts[p] {
			if window(h.profiles[p], start)&occupied == 0 {
				return p, start, true
			}
		}
	}
	return 0, 0, false
}
