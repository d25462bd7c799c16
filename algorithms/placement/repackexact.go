package placement

import (
	"cmp"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/spec"
)

var _ = algo.Register(algo.Spec{
	Name: "repack-exact", Version: 1,
	Cite:    "ours: branch and bound over sequences of moves",
	Summary: "mfi; the least number of moves that makes room for a request that fits nowhere, proven",
	Params: []algo.Param{
		{Name: "most", Default: "2", Type: spec.Whole(1, 4), Doc: "most moves for a request"},
		{
			Name: "gpus", Default: "16", Type: spec.Whole(0, 1_000_000),
			Doc: "GPUs that are looked at, those with the most free slices; 0 means all",
		},
	},
	New: algo.NewPlacer(func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return &repackExact{mover: newMover(s.GPU), most: args.Int("most"), gpus: args.Int("gpus")}, nil
	}),
})

// repackExact moves only for a request that fits nowhere. It makes the fewest moves that make room on the GPUs that it
// looks at. Each move goes to slices that are free then, and no workload moves twice. Of several sequences with the
// fewest moves it takes the one after which F is least, with the request placed.
//
// The search is exhaustive except for two rules that exclude no optimum. GPUs with the same workloads at the same
// slices are interchangeable, so only the first of them is tried. A place for the request needs at least one move for
// each workload in its way, so a branch ends when every place has more workloads in its way than moves are left.
type repackExact struct {
	mover
	most, gpus int
}

func (m *repackExact) Move(r *sim.Residents, profile int) (sim.Move, bool) {
	if len(m.pending) == 0 {
		if _, fits := m.Place(r.Cluster(), profile); fits {
			return sim.Move{}, false
		}
		m.pending = m.plan(r, profile)
	}
	return m.pendingMove()
}

func (m *repackExact) plan(r *sim.Residents, profile int) []sim.Move {
	c := r.Cluster()
	at := make([]int, c.GPUs())
	for gpu := range at {
		at[gpu] = gpu
	}
	if m.gpus != 0 && m.gpus < len(at) {
		slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(c.Mask(a).Count(), c.Mask(b).Count()) })
		at = at[:m.gpus]
		slices.Sort(at)
	}
	s := search{mover: &m.mover, profile: profile, blockers: map[layout]int{}}
	who := make([]map[mig.Slices]int, len(at)) // request by first slice
	for i, gpu := range at {
		m.on = r.On(m.on[:0], gpu)
		who[i] = map[mig.Slices]int{}
		var l layout
		for _, w := range m.on {
			l = l.put(w.Profile, w.Start, w.Fixed)
			who[i][w.Start] = w.Request
		}
		s.gpus = append(s.gpus, l)
	}
	steps, _ := s.fewest(min(m.most, r.Left()))
	var moves []sim.Move
	for _, step := range steps {
		request := who[step.from][step.start]
		delete(who[step.from], step.start)
		who[step.to][step.toStart] = request
		moves = append(moves, sim.Move{Request: request, To: sim.Spot{GPU: at[step.to], Start: step.toStart}})
	}
	return moves
}

// A layout describes the workloads of a GPU with four bits for each memory slice. At the first slice of a workload they
// are the index of its profile plus one, with the top bit if it is fixed; elsewhere they are 0.
type layout uint32

const (
	fixedBit     = 8
	layoutSlices = 8
)

// put returns the layout with a workload more.
func (l layout) put(profile int, start mig.Slices, fixed bool) layout {
	code := layout(profile + 1)
	if fixed {
		code |= fixedBit
	}
	return l | code<<(4*start)
}

// without returns the layout without the workload that begins at a slice.
func (l layout) without(start mig.Slices) layout { return l &^ (0xf << (4 * start)) }

// workload returns the workload that begins at a slice; false if no workload begins there.
func (l layout) workload(start mig.Slices) (profile int, fixed, ok bool) {
	code := int(l >> (4 * start) & 0xf)
	return code&^fixedBit - 1, code&fixedBit != 0, code != 0
}

// A step takes a workload to another place. GPUs are indices into [search.gpus].
type step struct {
	from    int
	start   mig.Slices
	to      int
	toStart mig.Slices
}

// A search looks for the fewest moves after which a profile fits.
type search struct {
	*mover
	profile int
	gpus    []layout

	blockers map[layout]int // caches the results of countBlockers

	path, best []step
	bestScore  int // the score of the GPUs with the request placed, after the best steps
	found      bool
}

// fewest returns the fewest steps that make room, and the least score that so many steps reach. The steps are nil if
// more than most would be needed, or if the profile fits already.
func (s *search) fewest(most int) (steps []step, score int) {
	for depth := 0; depth <= most && !s.found; depth++ {
		s.descend(depth)
	}
	return s.best, s.bestScore
}

// descend tries all sequences of exactly left more steps.
func (s *search) descend(left int) {
	if left == 0 {
		s.judge()
		return
	}
	if s.bound() > left {
		return
	}
	for from, first := range s.distinct(-1) {
		if !first {
			continue
		}
		for start := range mig.Slices(layoutSlices) {
			profile, fixed, ok := s.gpus[from].workload(start)
			if ok && !fixed {
				s.branch(left, from, start, profile)
			}
		}
	}
}

// branch moves one workload to every place.
func (s *search) branch(left, from int, start mig.Slices, profile int) {
	before := s.gpus[from]
	p := s.profiles[profile]
	held := window(p, start)
	s.gpus[from] = before.without(start)
	first := s.distinct(from)
	for to := range s.gpus {
		if to != from && !first[to] {
			continue
		}
		was := s.gpus[to]
		mask := s.mask(was)
		if to == from {
			mask |= held
		}
		for at := range (freeStarts{p, mask}).all {
			// The workload is fixed now, because no sequence moves it twice.
			s.gpus[to] = was.put(profile, at, true)
			if s.bound() < left {
				s.path = append(s.path, step{from: from, start: start, to: to, toStart: at})
				s.descend(left - 1)
				s.path = s.path[:len(s.path)-1]
			}
			s.gpus[to] = was
		}
	}
	s.gpus[from] = before
}

// judge compares the current path with the best sequence.
func (s *search) judge() {
	total, least, fits := 0, 0, false
	p := s.profiles[s.profile]
	for _, l := range s.gpus {
		mask := s.mask(l)
		total += int(s.score[mask])
		for _, at := range (freeStarts{p, mask}).all {
			increment := int(s.score[mask|at] - s.score[mask])
			if !fits || increment < least {
				least, fits = increment, true
			}
		}
	}
	if fits && (!s.found || total+least < s.bestScore) {
		s.found, s.best, s.bestScore = true, slices.Clone(s.path), total+least
	}
}

// bound returns a lower bound on the number of moves, because each moves one workload out of the way.
func (s *search) bound() int {
	least := unmovable
	for _, l := range s.gpus {
		least = min(least, s.countBlockers(l))
	}
	return least
}

// unmovable is larger than the number of workloads of a GPU.
const unmovable = 1 << 10

// countBlockers returns the least number of workloads in the way of the request on a GPU.
func (s *search) countBlockers(l layout) int {
	if n, ok := s.blockers[l]; ok {
		return n
	}
	least := unmovable
	p := s.profiles[s.profile]
	for _, start := range p.Starts {
		n := 0
		for k := range mig.Slices(layoutSlices) {
			profile, fixed, ok := l.workload(k)
			if !ok || window(s.profiles[profile], k)&window(p, start) == 0 {
				continue
			}
			n++
			if fixed {
				n += unmovable
			}
		}
		least = min(least, n)
	}
	s.blockers[l] = least
	return least
}

// mask returns the occupied slices of a layout.
func (s *search) mask(l layout) (used mig.Mask) {
	for k := range mig.Slices(layoutSlices) {
		profile, _, ok := l.workload(k)
		if ok {
			used |= window(s.profiles[profile], k)
		}
	}
	return used
}

// distinct marks the first GPU of each layout, among all GPUs except without; -1 is no GPU.
func (s *search) distinct(without int) []bool {
	first := make([]bool, len(s.gpus))
	for i, l := range s.gpus {
		first[i] = i != without
		for k := range i {
			if k != without && s.gpus[k] == l {
				first[i] = false
			}
		}
	}
	return first
}
