package placement

import (
	"miglab/harness/algo"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "rr", Version: 2,
	Cite:    "MFI VI, Round Robin",
	Summary: "next GPU in turn with enough free slices, first free start",
	Params:  []algo.Param{sliceIndex},
	New: algo.NewPlacer(func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		t := fixedTable("rr", args, s.GPU, func() rule { return firstFit(args, s.GPU) })
		return &roundRobin{table: t}, nil
	}),
})

// roundRobin continues after the GPU that it chose last, even if it rejected the request there.
type roundRobin struct {
	table
	next int
}

// Place returns a spot on the next GPU with enough free slices.
func (r *roundRobin) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	k := &r.table[profile]
	if c.Restricted() {
		spot, ok := k.scanFixed(c, profile, r.next)
		if spot.GPU >= 0 {
			r.next = (spot.GPU + 1) % c.GPUs()
		}
		return spot, ok
	}
	gpu, ok := c.Next(&k.classes[0], r.next)
	if !ok {
		return sim.Spot{}, false
	}
	r.next = (gpu + 1) % c.GPUs()
	return k.spot(c, gpu)
}
