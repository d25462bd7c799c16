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

// signs maps a policy for nodes, or for the GPUs of a node, to the sign of its score: 1 prefers the least used.
var signs = map[string]int{"binpack": -1, "spread": 1}

var _ = algo.Register(algo.Spec{
	Name: "hami-2.10", Version: 1,
	Cite: "HAMi 4707fb02, pkg/device/nvidia: device.go (selectMigCandidate), mig_topology.go; " +
		"charts/hami/values.yaml",
	Summary: "node, then GPU by share of memory in use; 1g and 3g at the highest free start, others at the lowest",
	Params: []algo.Param{
		{
			Name: "node", Default: "binpack", Values: []string{"binpack", "spread"},
			Doc: "fullest nodes first, or emptiest",
		},
		{Name: "gpu", Default: "spread", Values: []string{"binpack", "spread"}, Doc: "the same for the GPUs of a node"},
	},
	New: algo.NewPlacer(func(a algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		h := &hami210{perNode: cmp.Or(s.PerNode, s.GPUs), node: signs[a["node"]], gpu: signs[a["gpu"]]}
		for _, p := range task.RequestProfiles(s.GPU) {
			starts := slices.Clone(p.Starts)
			if p.Size == 1 || p.Size == 3 {
				slices.Reverse(starts)
			}
			h.starts = append(h.starts, starts)
		}
		return h, nil
	}),
})

// hami210 looks at every GPU.
type hami210 struct {
	perNode   int
	node, gpu int // signs
	starts    [][]mig.Slices
}

// Place returns the first free start on the best GPU of the best node, by the share of memory in use. If the profile
// has no free start on a GPU, HAMi tries larger profiles; on every model these have no free start there either.
func (h *hami210) Place(c *sim.Cluster, profile int) (best sim.Spot, ok bool) {
	least := [2]float64{math.Inf(1), math.Inf(1)}
	for first := 0; first < c.GPUs(); first += h.perNode {
		gpus, used := min(h.perNode, c.GPUs()-first), 0 // the last node may have fewer GPUs
		for gpu := first; gpu < first+gpus; gpu++ {
			used += int(c.Mask(gpu).Count())
		}
		for gpu := first; gpu < first+gpus; gpu++ {
			score := [2]float64{float64(h.node*used) / float64(gpus), float64(h.gpu * int(c.Mask(gpu).Count()))}
			if slices.Compare(score[:], least[:]) >= 0 {
				continue
			}
			if start, free := firstFree(c.Profile(gpu, profile), h.starts[profile], c.Mask(gpu)); free {
				least, best, ok = score, sim.Spot{GPU: gpu, Start: start}, true
			}
		}
	}
	return best, ok
}
