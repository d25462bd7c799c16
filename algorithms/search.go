package algorithms

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A search improves a plan by taking a few of its tasks away and placing them anew.
type search struct {
	plan    *assignment
	subsets *subsets
	rng     *rand.Rand
	// base is the earliest instant at which a task could begin, in seconds.
	base float64
	// now is the makespan of the plan, and best that of the best plan so far, in seconds.
	now, best float64
	// bestNode is the best plan: the node of each task.
	bestNode []int32
	// heat is how much worse than the plan another may be to be accepted, as a share of the
	// blur.
	heat float64
	// tasks are those to be placed, with the nodes that they had and get.
	tasks      []int32
	had, gets  []int32
	critical   []int32
	isCritical []nodeSet
}

// newSearch begins with what FAR plans for empty GPUs.
func newSearch(p algo.Problem, holds []remnant) *search {
	plan := newAssignment(p, holds)
	far := farPlan(p)
	refineFAR(p, far)
	for node, list := range far.lists {
		for _, t := range list {
			plan.put(t.task, int32(node))
		}
	}
	s := &search{
		plan: plan, subsets: newSubsets(p, plan.tree), rng: rand.New(rand.NewPCG(0, uint64(len(p.Tasks)))),
		base: firstSlice(p.GPU, holds), isCritical: make([]nodeSet, p.GPUs()),
	}
	s.now = plan.time()
	s.best, s.bestNode = s.now, slices.Clone(plan.node)
	share := min(1, 2*atATime/float64(len(p.Tasks)))
	s.heat = share * share / 5
	return s
}

// firstSlice returns when the first slice can be used, in seconds.
func firstSlice(g *mig.GPU, holds []remnant) float64 {
	first := math.Inf(1)
	for i := range holds {
		free := holds[i].freeAt()
		first = min(first, slices.Min(free[:g.ComputeSlices]))
	}
	return first
}

// whole places all tasks at once, in both ways of reckoning, each time polishes the result,
// and goes on with the best plan.
func (s *search) whole() {
	s.tasks = s.tasks[:0]
	for i := range s.plan.node {
		s.tasks = append(s.tasks, int32(i))
	}
	for _, greedy := range []bool{false, true} {
		s.subsets.greedy = greedy
		s.now = s.best
		s.replace(0, math.Inf(1))
		s.polish()
	}
	s.restore()
}

// improve places tasks anew so many times, up to [atATime] of them at a time, and ends
// with the best plan found. At least one of the tasks lies on the way to the makespan, and
// as often as not several do; the others lie anywhere.
//
// To get out of what no such step improves, durations are blurred by up to half the given
// share, and plans are accepted that are worse by a fifth of it, less where there are
// many tasks; the share falls to zero towards the end. What is kept is timed exactly.
func (s *search) improve(ctx context.Context, iterations int, blur float64) error {
	k := min(atATime, len(s.plan.node))
	for i := range iterations {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s.pick(k)
		s.subsets.greedy = i%2 == 1
		left := float64(blur * float64(iterations-i) / float64(iterations))
		s.replace(left, float64(s.heat*left))
	}
	s.restore()
	return nil
}

// restore goes back to the best plan.
func (s *search) restore() {
	for i, node := range s.bestNode {
		s.plan.take(int32(i))
		s.plan.put(int32(i), node)
	}
	s.now = s.plan.time()
}

// keep takes the plan for the best one if it is.
func (s *search) keep() {
	if s.now < s.best {
		s.best = s.now
		copy(s.bestNode, s.plan.node)
	}
}

// atATime is how many tasks are placed anew at a time: an iteration takes 3^atATime.
const atATime = 7

// pick chooses k tasks, one of them at least on the way to the makespan.
func (s *search) pick(k int) {
	plan := s.plan
	last := plan.time()
	for g := range s.isCritical {
		s.isCritical[g] = 0
		if plan.ends[g] < last {
			continue
		}
		used := plan.loads[g].used
		for at := plan.endsAt(g, last); at != 0; at &= at - 1 {
			for u := lowest(at); u >= 0; u = plan.tree.nodes[u].Parent {
				s.isCritical[g] |= used & (1 << u)
			}
		}
	}
	s.critical = s.critical[:0]
	for i, node := range plan.node {
		if g, v := plan.tree.at(node); s.isCritical[g].has(v) {
			s.critical = append(s.critical, int32(i))
		}
	}
	s.tasks = s.tasks[:0]
	for range 1 + s.rng.IntN(max(1, min(len(s.critical), k-1))) {
		s.add(s.critical[s.rng.IntN(len(s.critical))])
	}
	for len(s.tasks) < k {
		s.add(int32(s.rng.IntN(len(plan.node))))
	}
}

// add adds a task to those that are placed anew, once.
func (s *search) add(i int32) {
	if !slices.Contains(s.tasks, i) {
		s.tasks = append(s.tasks, i)
	}
}

// replace places the tasks anew, by durations that are blurred by up to half a share, and
// takes the result unless it is worse by more than another share.
func (s *search) replace(blur, worse float64) {
	plan := s.plan
	s.had = s.had[:0]
	for _, i := range s.tasks {
		s.had = append(s.had, plan.node[i])
		plan.take(i)
	}
	s.subsets.within((s.now - s.base) * (1 + 2*blur + 1e-6))
	s.subsets.load(&plan.p, s.tasks)
	if blur > 0 {
		s.subsets.blur(s.rng, blur)
	}
	s.gets = grown(s.gets, len(s.tasks))
	if s.subsets.place(plan.loads, plan.holds, s.base, s.gets) {
		for j, i := range s.tasks {
			plan.put(i, s.gets[j])
		}
		if makespan := plan.time(); makespan <= s.now*(1+worse) {
			s.now = makespan
			s.keep()
			return
		}
		for _, i := range s.tasks {
			plan.take(i)
		}
	}
	for j, i := range s.tasks {
		plan.put(i, s.had[j])
	}
}
