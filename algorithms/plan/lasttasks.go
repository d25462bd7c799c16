package plan

import (
	"math"
	"slices"

	"miglab/harness/mig"
)

// LastTasks places the last tasks of a batch on a GPU at work so that the last of them ends as early as possible, for
// package env. It is treedp from a state in which each node has an earliest start: an instance is created once its
// slices are free, runs a set of tasks, and is only split afterwards. It only uses instances of [mig.GPU.FullTree]. It
// does not allocate after the first plan.
type LastTasks struct {
	subsets *subsets
	seconds func(task int, size mig.Slices) float64
	free    []ticks // by compute slice, when it is free, in ticks since the first slice is free
	node    []int32
}

// GPUAtWork is the state of a GPU after the earlier decisions of a batch. Times are in seconds.
type GPUAtWork struct {
	Free []float64 // by compute slice, when its last task ends
	// Start is, by node of [mig.GPU.FullTree], when a first task could start there. Bit i of Exists is set if node i
	// exists.
	Start  []float64
	Exists uint32
	// Bound is a lower bound on the end of the last task, and Unit on the makespan of the whole batch.
	Bound, Unit float64
}

// NewLastTasks returns a planner. seconds gives the duration of a task, +Inf where it does not fit.
func NewLastTasks(g *mig.GPU, model mig.Reconfiguration, seconds func(task int, size mig.Slices) float64) *LastTasks {
	s := newSubsets(g.Sizes(), model, buildTree(g, g.FullTree(), 1))
	return &LastTasks{subsets: s, seconds: seconds, free: make([]ticks, g.ComputeSlices)}
}

// slacks are the excesses over the lower bound, as shares of [GPUAtWork.Unit], that are allowed one after the other.
// Tight limits come first, because they leave few sets to consider. The first is enough for most states of the trained
// agent.
var slacks = [...]float64{0.06, 0.12, 0.3}

// Place returns the node of each of n tasks. The result is valid until the next call.
func (l *LastTasks) Place(n int, at *GPUAtWork) []int32 {
	l.load(n, at)
	bound, found := l.subsets.ticks(at.Bound-slices.Min(at.Free)), false
	for i := 0; i < len(slacks) && !found; i++ {
		found = l.solve(min(horizon, bound+l.subsets.ticks(slacks[i]*at.Unit)))
	}
	if !found {
		// Each task and operation is rounded by up to half a tick, so that a full plan may exceed the horizon.
		l.solve(horizon + 3*ticks(n))
	}
	l.node = resized(l.node, n)
	l.subsets.trace(0, 0, 1<<n-1, firstOnSlices, l.node)
	return l.node
}

// load reads the tasks and the state. The horizon is later than every sensible completion.
func (l *LastTasks) load(n int, at *GPUAtWork) {
	s := l.subsets
	first := slices.Min(at.Free)
	latest, cost := 0.0, 0.0
	for v := range s.tree.Nodes {
		create, destroy := operationSeconds(s.model, s.tree.Nodes[v].Profile)
		latest = max(latest, at.Start[v]-first)
		cost = max(cost, create+destroy)
	}
	for i := range n {
		longest := 0.0
		for _, size := range s.sizes {
			seconds := l.seconds(i, size)
			if !math.IsInf(seconds, 1) {
				longest = max(longest, seconds)
			}
		}
		latest += longest + cost
	}
	s.setHorizon(latest+cost, 0)
	s.setTasks(n, l.seconds)
	// Instances wait for each other's creation if all slices are free at once.
	s.startsApart = s.parallel
	for i, free := range at.Free {
		l.free[i] = s.ticks(free - first)
		s.startsApart = s.startsApart || free != first
	}
	for v := range s.tree.Nodes {
		s.start[v] = cell{s.ticks(at.Start[v] - first), s.create[v]}
		if at.Exists>>v&1 == 1 {
			s.start[v].heads = 0
		}
	}
}

// solve looks for the best plan that ends by the limit, and reports whether such a plan exists.
func (l *LastTasks) solve(limit ticks) bool {
	s := l.subsets
	var none load // the load of other tasks
	var taken [maxNodes]int64
	var room [maxNodes]ticks // by class: the time from which the slices of a node are free to the limit
	for v := range s.tree.Nodes {
		n, ready := &s.tree.Nodes[v], ticks(0)
		for _, free := range l.free[n.Start : int(n.Start)+int(n.Size())] {
			taken[v] += int64(min(free, limit))
			ready = max(ready, free)
		}
		room[s.class[v]] = max(room[s.class[v]], limit-ready)
	}
	all := 1<<s.tasks - 1
	s.limit, s.slack = limit, int64(limit)*int64(s.width[0])-taken[0]-s.area[all]
	if s.slack < 0 {
		return false
	}
	s.taken = taken
	s.skip = ^l.neededClasses()
	// The tables in after count from the instant at which the slices of a node are free.
	s.taken = [maxNodes]int64{}
	for v := range s.tree.Nodes {
		s.until[v] = room[s.class[v]]
	}
	s.fillAfter(0, &none)
	s.taken = taken
	for v := range s.tree.Nodes {
		s.until[v] = limit
	}
	s.fillFirst(0, &none)
	return s.root(0)[all].end < never
}

// neededClasses returns the classes of nodes whose tables in after are needed: nodes that can run a first task within
// the limit and then be split, and all nodes below them.
func (l *LastTasks) neededClasses() (classes nodeSet) {
	s := l.subsets
	for v := range s.tree.Nodes {
		n, start := &s.tree.Nodes[v], s.start[v].end
		in := space{taken: s.taken[v], width: s.width[v]}
		used := classes.contains(int(s.class[v])) || start <= s.limit && !in.wastes(start, 0, s.slack)
		if used && len(n.Children) > 0 {
			classes |= 1 << s.class[v]
			for _, c := range n.Children {
				classes |= 1 << s.class[c]
			}
		}
	}
	return classes
}
