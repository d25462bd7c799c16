package placement

import (
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "replan", Version: 1,
	Cite: "ours, after the refinement of FAR, which moves and swaps tasks while that gains: here running requests, at " +
		"a price",
	Summary: "mfi; moves for any request that waits if the slices put to use outweigh the pauses of the moved ones",
	New: algo.NewPlacer(func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return &replan{newMover(s.GPU)}, nil
	}),
})

// replan compares two plans for each request that fits nowhere: to leave the running requests where they are, and to
// make the moves of [mover.clear]. In each plan the requests that wait are placed in their order until none fits. The
// moves gain the slices that are used in the second plan alone, until the next request leaves a GPU: for the mean
// lifespan over the mean number of requests on a GPU. They cost the downtime on the slices of the moved requests.
type replan struct{ mover }

func (m *replan) Move(r *sim.Residents, profile int) (sim.Move, bool) {
	if len(m.pending) > 0 {
		return m.pendingMove()
	}
	plan := m.clear(r, profile)
	if plan.moves == nil {
		return sim.Move{}, false
	}
	c := r.Cluster()
	masks, running := allMasks(c), 0
	for gpu := range masks {
		m.on = r.On(m.on[:0], gpu)
		running += len(m.on)
	}
	more := m.fill(r, profile, plan.masks) - m.fill(r, profile, masks)
	// The window of the budget is the mean lifespan.
	if more*r.Rules().Window*c.GPUs() > plan.slices*r.Rules().Downtime*running {
		m.pending = plan.moves
	}
	return m.pendingMove()
}

// fill places a request and those behind it, and returns the memory slices of the placed ones.
func (m *replan) fill(r *sim.Residents, profile int, masks []mig.Mask) (used int) {
	masks = slices.Clone(masks)
	failed, failures := make([]bool, len(m.profiles)), 0
	try := func(profile int) bool {
		if failed[profile] {
			return true
		}
		spot, ok := m.bestOther(profile, -1, masks)
		if !ok {
			failed[profile] = true
			failures++
			return failures < len(failed)
		}
		w := window(m.profiles[profile], spot.Start)
		masks[spot.GPU] |= w
		used += int(w.Count())
		return true
	}
	if try(profile) {
		r.Behind(try)
	}
	return used
}
