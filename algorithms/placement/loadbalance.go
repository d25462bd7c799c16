package placement

import (
	"miglab/harness/algo"
	"miglab/harness/sim"
	"miglab/harness/spec"
)

var _ = algo.Register(algo.Spec{
	Name: "load-balance-migrate", Version: 1,
	Cite: "after An Online Fragmentation-Aware Scheduler for Managing GPU-Sharing Workloads on MIG, arXiv " +
		"2512.16099, as described; the thresholds are ours",
	Summary: "low load: the GPU with the most free slices; high load: mfi; moves once F is above a threshold",
	Params: []algo.Param{
		{Name: "load", Default: "0.4", Type: spec.Number(0, 1), Doc: "share of used slices from which it packs"},
	},
	New: algo.NewPlacer(func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		feasible := algo.Args{index.Name: index.Default}
		spread := fixedTable("wf-bi", feasible, s.GPU, func() rule { return bestFit(-1)(feasible, s.GPU) })
		return &loadBalance{mover: newMover(s.GPU), spread: spread, load: args.Float("load")}, nil
	}),
})

// loadBalance spreads requests while the load is low, and packs them otherwise. It moves a workload for a request that
// fits nowhere, and, while it packs, to lower F as long as the mean of F over the GPUs is above mostF.
type loadBalance struct {
	mover
	spread table
	load   float64
}

// mostF is the mean of F over the GPUs above which loadBalance moves workloads.
const mostF = 4

func (m *loadBalance) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	used, _ := m.state(c)
	if used < m.load {
		return m.spread.Place(c, profile)
	}
	return m.mover.Place(c, profile)
}

func (m *loadBalance) Move(r *sim.Residents, profile int) (sim.Move, bool) {
	c := r.Cluster()
	if _, fits := m.mover.Place(c, profile); !fits {
		return m.makeRoom(r, profile)
	}
	used, f := m.state(c)
	if used < m.load || f <= mostF {
		return sim.Move{}, false
	}
	return m.tidy(r, 1)
}

// state returns the share of used slices and the mean of F.
func (m *loadBalance) state(c *sim.Cluster) (used, f float64) {
	sum, score := 0, 0
	for gpu := range c.GPUs() {
		sum += int(c.Mask(gpu).Count())
		score += int(m.score[c.Mask(gpu)])
	}
	gpus := float64(c.GPUs())
	return float64(sum) / (gpus * float64(c.GPU().MemorySlices)), float64(score) / gpus
}
