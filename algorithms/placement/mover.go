package placement

import (
	"cmp"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// A mover places by MFI Algorithm 2 and chooses moves by the same score.
type mover struct {
	table
	profiles []*mig.Profile
	score    *sim.Scores

	pending []sim.Move     // the remaining moves of a plan
	on      []sim.Resident // the workloads of the visited GPU
}

// pendingMove returns the next move of the plan; false if no move remains.
func (m *mover) pendingMove() (sim.Move, bool) {
	if len(m.pending) == 0 {
		return sim.Move{}, false
	}
	next := m.pending[0]
	m.pending = m.pending[1:]
	return next, true
}

func newMover(g *mig.GPU) mover {
	paper := algo.Args{reading.Name: reading.Default}
	return mover{table: newMFI(paper, g), profiles: task.RequestProfiles(g), score: scores(paper, g)}
}

// visitGPU sets m.on to the workloads of a GPU, the largest first.
func (m *mover) visitGPU(r *sim.Residents, gpu int) {
	m.on = r.On(m.on[:0], gpu)
	slices.SortFunc(m.on, func(a, b sim.Resident) int {
		return cmp.Or(cmp.Compare(m.profiles[b.Profile].Length, m.profiles[a.Profile].Length),
			cmp.Compare(a.Start, b.Start))
	})
}

// allMasks returns the occupied slices of all GPUs.
func allMasks(c *sim.Cluster) []mig.Mask {
	masks := make([]mig.Mask, c.GPUs())
	for gpu := range masks {
		masks[gpu] = c.Mask(gpu)
	}
	return masks
}

// A relocation is a move with its effects.
type relocation struct {
	sim.Move
	left   mig.Mask // the occupied slices, after the move, of the GPU that the workload leaves
	change int      // the increment of the cluster's score
}

// each visits the sensible moves of every workload that can move: to the best other GPU, and to each place on its own
// GPU.
func (m *mover) each(r *sim.Residents, visit func(relocation)) {
	c := r.Cluster()
	for gpu := range c.GPUs() {
		m.on = r.On(m.on[:0], gpu)
		for _, w := range m.on {
			if !w.Fixed {
				m.moves(c, gpu, w, visit)
			}
		}
	}
}

// moves visits the sensible moves of one workload.
func (m *mover) moves(c *sim.Cluster, gpu int, w sim.Resident, visit func(relocation)) {
	p := m.profiles[w.Profile]
	mask := c.Mask(gpu)
	left := mask &^ window(p, w.Start)
	if spot, ok := m.elsewhere(c, w.Profile, gpu); ok {
		to := c.Mask(spot.GPU)
		change := m.score[left] - m.score[mask] + m.score[to|window(p, spot.Start)] - m.score[to]
		visit(relocation{sim.Move{Request: w.Request, To: spot}, left, int(change)})
	}
	for start, at := range (freeStarts{p, mask}).all {
		to := sim.Spot{GPU: gpu, Start: start}
		visit(relocation{sim.Move{Request: w.Request, To: to}, left | at, int(m.score[left|at] - m.score[mask])})
	}
}

// elsewhere returns the best spot for a profile on any other GPU.
func (m *mover) elsewhere(c *sim.Cluster, profile, gpu int) (sim.Spot, bool) {
	occurs := c.Occurs()
	for i := range m.table[profile].classes {
		class := &m.table[profile].classes[i]
		if !class.Meets(occurs) {
			continue
		}
		other, _ := c.Next(class, gpu+1)
		if other != gpu {
			return m.table[profile].spot(c, other)
		}
	}
	return sim.Spot{}, false
}

// tidy returns the move that lowers the score most; false if it lowers the score by less than [leastGain].
func (m *mover) tidy(r *sim.Residents) (sim.Move, bool) {
	best, found := relocation{change: -leastGain + 1}, false
	m.each(r, func(x relocation) {
		if x.change < best.change {
			best, found = x, true
		}
	})
	return best.Move, found
}

// makeRoom returns the move that makes room for the profile on the GPU that the workload leaves, so that the move and
// the placement together add least to the score.
func (m *mover) makeRoom(r *sim.Residents, profile int) (sim.Move, bool) {
	best, found := relocation{}, false
	p := m.profiles[profile]
	m.each(r, func(x relocation) {
		for _, at := range (freeStarts{p, x.left}).all {
			change := x.change + int(m.score[x.left|at]-m.score[x.left])
			if !found || change < best.change {
				best, found = x, true
				best.change = change
			}
		}
	})
	return best.Move, found
}
