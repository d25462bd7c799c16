package plan

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A search improves an assignment by removing a few of its tasks and re-inserting them.
type search struct {
	plan    *assignment
	subsets *subsets
	rng     *rand.Rand
	base    float64 // the earliest instant at which a task can begin, in seconds
	// makespan is the makespan of the plan, and least the makespan of the best plan so far, in seconds.
	makespan, least float64
	bestNode        []int32 // the best plan: the node of each task
	heat            float64 // heat times the blur is the share by which an accepted plan may be worse
	// tasks are the tasks to re-insert. before and after are their nodes.
	tasks         []int32
	before, after []int32
	// critical are the tasks on nodes that determine the makespan; criticalNodes are these nodes by GPU.
	critical      []int32
	criticalNodes []nodeSet
}

// lnsBlur is the blur of the first iteration of lns. Durations change by up to half of it; see [search.improve].
const lnsBlur = 0.1

// A Rule makes a first plan for empty GPUs: the tasks of each node of the problem's trees.
type Rule func(context.Context, algo.Problem) [][]Task

// Improve begins with a rule's plan and runs iterations, each of which removes and re-inserts up to seven tasks. It
// returns the schedule from a state of the GPUs, and their state after it. It fails only if ctx is done.
func Improve(
	ctx context.Context, p algo.Problem, from State, first Rule, iterations int,
) (schedule.Schedule, State, error) {
	s := newSearch(p, from, first(ctx, p))
	return s.plan.answer(ctx, s.improve(ctx, iterations, lnsBlur))
}

// newSearch starts from the tasks of each node.
func newSearch(p algo.Problem, from State, lists [][]Task) *search {
	plan := newAssignment(p, from)
	for node, list := range lists {
		for _, t := range list {
			plan.put(t.Index, int32(node))
		}
	}
	s := &search{
		plan: plan, subsets: newSubsets(p.GPU.Sizes(), p.Model, plan.tree),
		rng:  rand.New(rand.NewPCG(0, uint64(len(p.Tasks)))),
		base: math.Inf(1), criticalNodes: make([]nodeSet, p.GPUs()),
	}
	for g := range p.GPUs() {
		for m := range int(p.GPU.ComputeSlices) {
			_, free := plan.timer.Slice(g, m)
			s.base = min(s.base, free)
		}
	}
	s.makespan = plan.time()
	s.least, s.bestNode = s.makespan, slices.Clone(plan.node)
	share := min(1, 2*atATime/float64(len(p.Tasks)))
	s.heat = share * share / 5
	return s
}

// improve re-inserts up to [atATime] tasks in each iteration and ends with the best plan found. At least one of the
// tasks is critical, and often several are.
//
// To escape local optima, it blurs durations by up to half the given share. It also accepts plans that are worse by a
// fifth of the share, or less for many tasks. The share falls to zero towards the end. Plans are timed without blur.
func (s *search) improve(ctx context.Context, iterations int, blur float64) error {
	k := min(atATime, len(s.plan.node))
	if k == 0 {
		return nil
	}
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

// restore returns to the best plan.
func (s *search) restore() {
	for i, node := range s.bestNode {
		s.plan.move(int32(i), node)
	}
	s.makespan = s.plan.time()
}

// keep remembers the plan if it is the best so far.
func (s *search) keep() {
	if s.makespan < s.least {
		s.least = s.makespan
		copy(s.bestNode, s.plan.node)
	}
}

// atATime is the number of tasks that an iteration re-inserts. Its time grows as 3^atATime.
const atATime = 7

// pick chooses k tasks, at least one of them critical.
func (s *search) pick(k int) {
	plan := s.plan
	last := plan.time()
	for g := range s.criticalNodes {
		s.criticalNodes[g] = plan.criticalNodes(g, last)
	}
	s.critical = s.critical[:0]
	for i, node := range plan.node {
		g, v := plan.tree.Locate(node)
		if s.criticalNodes[g].contains(v) {
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

func (s *search) add(i int32) {
	if !slices.Contains(s.tasks, i) {
		s.tasks = append(s.tasks, i)
	}
}

// seconds returns the duration of s.tasks[task] on a size.
func (s *search) seconds(task int, size mig.Slices) float64 {
	return float64(s.plan.p.Tasks[s.tasks[task]].On(size))
}

// horizonSlack is the share by which limits exceed the makespan, so that rounding to ticks excludes no equal plan.
const horizonSlack = 1e-6

// replace re-inserts the tasks, with durations blurred by up to half the share blur. It reverts the result if it is
// worse by more than the share worse.
func (s *search) replace(blur, worse float64) {
	plan := s.plan
	s.before = s.before[:0]
	for _, i := range s.tasks {
		s.before = append(s.before, plan.node[i])
		plan.take(i)
	}
	// Most plans end within the first limit, and the others within the horizon or not at all.
	length := s.makespan - s.base
	s.subsets.setHorizon(length*(1+float64(2*blur)+horizonSlack), length*(1+float64(0.1*blur)+horizonSlack))
	s.subsets.setTasks(len(s.tasks), s.seconds)
	if blur > 0 {
		s.subsets.blur(s.rng, blur)
	}
	s.after = resized(s.after, len(s.tasks))
	if s.subsets.place(plan.loads, plan.timer.from, s.base, s.after) {
		for j, i := range s.tasks {
			plan.put(i, s.after[j])
		}
		makespan := plan.time()
		if makespan <= s.makespan*(1+worse) {
			s.makespan = makespan
			s.keep()
			return
		}
		for _, i := range s.tasks {
			plan.take(i)
		}
	}
	for j, i := range s.tasks {
		plan.put(i, s.before[j])
	}
}
