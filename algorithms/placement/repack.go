package placement

import (
	"cmp"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "repack", Version: 1,
	Cite: "after Turkkan et al., Optimal Workload Placement on Multi-Instance GPUs, the rule-based compaction " +
		"as described",
	Summary: "mfi; at intervals, the GPUs with the fewest used slices are emptied onto fuller ones",
	New: algo.NewPlacer(func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return &repack{mover: newMover(s.GPU), starts: bestIndex(s.GPU)}, nil
	}),
})

// rounds is the number of compactions in a window of the budget, the mean lifespan.
const rounds = 10

// repack compacts at regular intervals. It tries to empty the GPUs in use, in the order of their used slices, the
// fewest first. The workloads of a GPU move, the largest first, each at the best index to the GPU with the most used
// slices that is in use and has room. If a workload fits nowhere or the budget ends, all workloads of its GPU stay.
type repack struct {
	mover
	starts startOrder

	next int // slot of the next compaction
}

func (m *repack) Move(r *sim.Residents, _ int) (sim.Move, bool) {
	if r.Slot() >= m.next {
		m.next = r.Slot() + max(r.Rules().Window/rounds, 1)
		m.pending = m.plan(r)
	}
	return m.pendingMove()
}

func (m *repack) plan(r *sim.Residents) (moves []sim.Move) {
	c := r.Cluster()
	masks := allMasks(c)
	var order []int // the GPUs that can be emptied
	for gpu, mask := range masks {
		if mask != 0 {
			order = append(order, gpu)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(masks[a].Count(), masks[b].Count()) })
	received := map[int]bool{}
	for _, gpu := range order {
		if received[gpu] {
			continue // its new workloads do not move twice
		}
		tried := slices.Clone(masks)
		emptied, ok := m.empty(r, gpu, tried)
		if !ok || len(moves)+len(emptied) > r.Left() {
			continue
		}
		moves, masks = append(moves, emptied...), tried
		for _, move := range emptied {
			received[move.To.GPU] = true
		}
	}
	return moves
}

// empty returns moves that empty a GPU, and updates the masks for them; false if that is impossible.
func (m *repack) empty(r *sim.Residents, gpu int, masks []mig.Mask) (moves []sim.Move, ok bool) {
	m.visitGPU(r, gpu)
	for _, w := range m.on {
		p := m.profiles[w.Profile]
		to, found := m.fullest(p, gpu, masks)
		if w.Fixed || !found {
			return nil, false
		}
		masks[gpu] &^= window(p, w.Start)
		masks[to.GPU] |= window(p, to.Start)
		moves = append(moves, sim.Move{Request: w.Request, To: to})
	}
	return moves, true
}

// fullest returns the best index on the GPU with the most used slices that has room. It skips one GPU and empty GPUs.
func (m *repack) fullest(p *mig.Profile, without int, masks []mig.Mask) (best sim.Spot, found bool) {
	for gpu, mask := range masks {
		if gpu == without || mask == 0 || found && mask.Count() <= masks[best.GPU].Count() {
			continue
		}
		for _, start := range m.starts(p) {
			if window(p, start)&mask == 0 {
				best, found = sim.Spot{GPU: gpu, Start: start}, true
				break
			}
		}
	}
	return best, found
}
