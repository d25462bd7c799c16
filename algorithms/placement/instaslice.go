package placement

import (
	"cmp"

	"miglab/harness/algo"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "instaslice", Version: 1,
	Cite:    "openshift/instaslice-operator 9f4fc07f, pkg/scheduler/plugins/mig; of nodes with equal scores, the first",
	Summary: "node with the largest free share in whole percent; in it the first GPU and start that are free",
	New: algo.NewPlacer(func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return instaslice{cmp.Or(s.PerNode, s.GPUs)}, nil
	}),
})

// instaslice looks at every GPU.
type instaslice struct{ perNode int }

// Place returns the first free start of the best node. The score is the free share after the placement.
func (n instaslice) Place(c *sim.Cluster, profile int) (best sim.Spot, ok bool) {
	most := -1
	for first := 0; first < c.GPUs(); first += n.perNode {
		spot, found, free := sim.Spot{}, false, 0
		end := min(first+n.perNode, c.GPUs())
		for gpu := first; gpu < end; gpu++ {
			free += freeSlices(c.GPU(), c.Mask(gpu))
			if !found {
				p := c.Profile(gpu, profile)
				spot.GPU = gpu
				spot.Start, found = firstFree(p, p.Starts, c.Mask(gpu))
			}
		}
		free -= int(c.Profiles()[profile].Length)
		score := 100 * free / ((end - first) * int(c.GPU().MemorySlices))
		if found && score > most {
			most, best, ok = score, spot, true
		}
	}
	return best, ok
}
