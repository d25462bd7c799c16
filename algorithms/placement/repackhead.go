package placement

import (
	"cmp"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "repack-head", Version: 1,
	Cite:    "ours; descheduler issue 1519 and volcano issue 3948 ask for it",
	Summary: "mfi; moves as few requests as possible out of the way of the first in the queue, on one GPU if possible",
	New: algo.NewPlacer(func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return &repackHead{newMover(s.GPU)}, nil
	}),
})

// repackHead moves only for the first request in the queue, and only if it fits nowhere although enough slices are
// free. It then makes the moves of [mover.clear], whatever they cost.
type repackHead struct{ mover }

func (m *repackHead) Move(r *sim.Residents, profile int) (sim.Move, bool) {
	if len(m.pending) == 0 && r.Head() {
		m.pending = m.clear(r, profile).moves
	}
	return m.pendingMove()
}

// A clearance is a list of moves after which a profile fits.
type clearance struct {
	moves []sim.Move
	// away is 1 if a workload leaves its GPU, and slices are the memory slices of the moved workloads.
	away, slices int
	masks        []mig.Mask // the occupied slices of all GPUs after the moves
}

func (c *clearance) compare(o *clearance) int {
	return cmp.Or(cmp.Compare(c.away, o.away), cmp.Compare(len(c.moves), len(o.moves)),
		cmp.Compare(c.slices, o.slices))
}

// clear returns moves after which a profile fits that fits nowhere now. It returns no moves if the profile fits, or if
// no place for it can be cleared. Each move takes a workload out of the way of one place, to slices that are free then.
// A place that all workloads leave within their GPU comes first, then the place with the fewest moves, then the place
// with the fewest slices to move.
func (m *mover) clear(r *sim.Residents, profile int) (best clearance) {
	c, p := r.Cluster(), m.profiles[profile]
	masks, free := allMasks(c), 0
	for _, mask := range masks {
		free += freeSlices(c.GPU(), mask)
	}
	_, fits := m.Place(c, profile)
	if fits || free < int(p.Length) {
		return best
	}
	for gpu := range masks {
		m.visitGPU(r, gpu)
		for _, start := range p.Starts {
			found := clearance{masks: masks}
			ok := m.clearPlace(gpu, window(p, start), &found)
			if ok && len(found.moves) <= r.Left() && (best.moves == nil || found.compare(&best) < 0) {
				best = found
			}
		}
	}
	return best
}

// clearPlace moves those of the workloads in m.on out of the way that overlap a place on their GPU. It reports whether
// that is possible.
func (m *mover) clearPlace(gpu int, place mig.Mask, out *clearance) bool {
	out.masks = slices.Clone(out.masks)
	for _, w := range m.on {
		held := window(m.profiles[w.Profile], w.Start)
		if held&place == 0 {
			continue
		}
		if w.Fixed {
			return false
		}
		here, ok := m.table[w.Profile].rule(m.profiles[w.Profile], out.masks[gpu]|place)
		to := sim.Spot{GPU: gpu, Start: here.start}
		if !ok {
			to, ok = m.bestOther(w.Profile, gpu, out.masks)
			if !ok {
				return false
			}
			out.away = 1
		}
		out.masks[gpu] &^= held
		out.masks[to.GPU] |= window(m.profiles[w.Profile], to.Start)
		out.slices += int(m.profiles[w.Profile].Length)
		out.moves = append(out.moves, sim.Move{Request: w.Request, To: to})
	}
	return true
}

// bestOther returns the best spot for a profile on GPUs with these masks, except on one GPU.
func (m *mover) bestOther(profile, without int, masks []mig.Mask) (best sim.Spot, found bool) {
	var least cost
	for gpu, mask := range masks {
		got, ok := m.table[profile].rule(m.profiles[profile], mask)
		if ok && gpu != without && (!found || got.cost.compare(&least) < 0) {
			best, least, found = sim.Spot{GPU: gpu, Start: got.start}, got.cost, true
		}
	}
	return best, found
}
