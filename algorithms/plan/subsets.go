package plan

import (
	"math"
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
)

// ticks is a time in units of a 2^29th of the horizon. Whole numbers give exact sums and equal ties.
type ticks = int32

const (
	// horizon is the longest time that can be part of a solution, but for the rounding that [LastTasks.Place] allows.
	horizon ticks = 1 << 29
	// never represents all longer times. The sum of two of them does not overflow.
	never ticks = 1<<30 - 1
)

// subsets finds the best nodes for a few tasks while other tasks stay where they are, by dynamic programming over
// subtrees and sets of tasks. It is the core of treedp, lns and [LastTasks]. The tables are in subsettables.go, and the
// limits that leave sets out of them in subsetlimits.go.
//
// The nodes that cover a slice run one after the other, from the root down. So the end of a subtree with a set S of
// tasks is the least of two values. If the node is not used, it is the end of the children with S. Otherwise it is the
// least, over the sets T that the node runs itself, of create + the time of T on it + destroy + the end of the children
// with the rest. The end of two children is the least, over the divisions of the set between them, of the later of
// their ends.
//
// Under [mig.Sequential] one child, whichever is better, waits until the channel has created the other's first
// instances. There are two models. In the first it waits for all of them, as if children were served one after the
// other; such plans are possible but not always the best. In the second (greedy) it only waits for the first instance,
// as if the others could always be created in between, which is optimistic. Only the clock knows later delays.
//
// With n tasks, the tasks of a node itself take n 2^n steps, and the division between two children takes 3^n.
type subsets struct {
	tree  *Tree
	gpus  int
	sizes []mig.Slices
	class []int8 // by node, the same for nodes with equal subtrees
	// width is, by node, the number of compute slices that tasks can use at once in the subtree: the slices of its
	// leaves or, where these leave slices idle, its own.
	width []int
	// model is the problem's. parallel means that operations do not exclude each other, and startsApart that the
	// operations by which the first nodes start do not.
	model                 mig.Reconfiguration
	parallel, startsApart bool
	greedy                bool // selects the optimistic model of waits

	scale           float64 // ticks a second
	create, destroy [maxNodes]ticks
	// tasks is the number of tasks to place, and time their durations by size index and task.
	tasks   int
	time    [][]ticks
	area    []int64 // by set, the least slice-ticks that its tasks can take
	blurred float64 // the largest share by which durations differ from the durations in area

	fresh []bool // by GPU, whether it is empty, so that only the tables in after are used
	// start is, by node, when it can start as the first node on its slices, and how long the channel is busy for it.
	start [maxNodes]cell
	// first holds the tables of nodes that are the first on their slices, after the GPU's state at the beginning. after
	// holds the tables of nodes that are used after another node. Both are by node over all GPUs.
	first, after []table
	joint        [][]cell // by GPU and set, the best way of the GPU and the GPUs before it together
	// noCells and noEnds are tables in which no set can be run.
	noCells []cell
	noEnds  []ticks

	subsetLimits
}

func newSubsets(sizes []mig.Slices, model mig.Reconfiguration, tree *Tree) *subsets {
	s := &subsets{
		tree: tree, gpus: tree.GPUs, sizes: sizes, model: model, parallel: model != mig.Sequential,
		time: make([][]ticks, len(sizes)), subsetLimits: subsetLimits{slack: math.MaxInt64},
	}
	s.startsApart = s.parallel
	s.first, s.after = make([]table, tree.Count()), make([]table, tree.Count())
	s.joint, s.fresh = make([][]cell, s.gpus), make([]bool, s.gpus)
	n := len(tree.Nodes)
	s.class, s.width = make([]int8, n), make([]int, n)
	for v := n - 1; v >= 0; v-- {
		s.class[v] = int8(v)
		for _, c := range tree.Nodes[v].Children {
			s.width[v] += s.width[c]
		}
		s.width[v] = max(s.width[v], int(tree.Nodes[v].Size()))
		for o := v + 1; o < n; o++ {
			if s.alike(v, o) {
				s.class[v] = s.class[o]
			}
		}
	}
	return s
}

// alike reports whether two nodes are of one size and have children of equal classes.
func (s *subsets) alike(a, b int) bool {
	return s.tree.Size[a] == s.tree.Size[b] &&
		slices.EqualFunc(s.tree.Nodes[a].Children, s.tree.Nodes[b].Children, func(x, y int) bool {
			return s.class[x] == s.class[y]
		})
}

// setHorizon sets the horizon and the first limit, in seconds.
func (s *subsets) setHorizon(seconds, first float64) {
	s.scale = float64(horizon) / seconds
	s.firstLimit = min(horizon, ticks(first*s.scale))
	for v := range s.tree.Nodes {
		create, destroy := operationSeconds(s.model, s.tree.Nodes[v].Profile)
		s.create[v], s.destroy[v] = s.ticks(create), s.ticks(destroy)
	}
}

// ticks returns a time in ticks, or never if it is beyond the horizon.
func (s *subsets) ticks(seconds float64) ticks {
	rounded := math.Round(seconds * s.scale)
	if rounded <= float64(horizon) {
		return ticks(rounded)
	}
	return never
}

// setTasks sets the number of tasks to place and their durations in seconds.
func (s *subsets) setTasks(n int, seconds func(task int, size mig.Slices) float64) {
	s.tasks = n
	for c, size := range s.sizes {
		s.time[c] = s.time[c][:0]
		for i := range n {
			s.time[c] = append(s.time[c], s.ticks(seconds(i, size)))
		}
	}
	for len(s.noCells) < 1<<n {
		s.noCells, s.noEnds = append(s.noCells, cell{never, 0}), append(s.noEnds, never)
	}
	s.area = resized(s.area, 1<<n)
	s.area[0], s.blurred = 0, 0
	for i := range n {
		least := int64(math.MaxInt64) >> 8 // of a task that fits nowhere; sums over the tasks do not overflow
		for c, size := range s.sizes {
			if s.time[c][i] < never {
				least = min(least, int64(size)*int64(s.time[c][i]))
			}
		}
		for set := range 1 << i {
			s.area[1<<i|set] = s.area[set] + least
		}
	}
}

// blur changes all durations by up to half the given share.
func (s *subsets) blur(rng *rand.Rand, share float64) {
	s.blurred = share / 2
	for _, times := range s.time {
		for i, t := range times {
			if t < never {
				times[i] = min(never, ticks(float64(float64(t)*(1+float64(share*(float64(rng.Float64())-0.5))))))
			}
		}
	}
}

// resized returns a slice of length n with arbitrary content, in the memory of s if its capacity suffices.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// place finds the nodes for all tasks; it sets node[i] to the node of task i, numbered over all GPUs. The loads and
// remnants are by GPU. Times count from base, in seconds. It returns false if it finds no placement. The end of one
// that it finds may exceed the horizon by waits for the channel.
func (s *subsets) place(loads []load, rest State, base float64, node []int32) bool {
	s.limit, s.tight = s.firstLimit, true
	if s.solve(loads, rest, base) > s.limit { // an end beyond the limit need not be the earliest
		s.limit, s.tight = horizon, false
		if s.solve(loads, rest, base) >= never {
			return false
		}
	}
	left := 1<<s.tasks - 1
	for g := s.gpus - 1; g > 0; g-- {
		part := s.split(left, s.joint[g-1], s.root(g), s.joint[g][left].end, false)
		s.trace(g, 0, left^part, firstOnSlices, node)
		left = part
	}
	s.trace(0, 0, left, firstOnSlices, node)
	return true
}

// solve computes all tables and returns when all tasks end.
func (s *subsets) solve(loads []load, rest State, base float64) ticks {
	for g := range s.gpus {
		s.fill(g, &loads[g], &rest[g], base)
		root := s.root(g)
		if g == 0 {
			s.joint[0] = root
			continue
		}
		s.joint[g] = resized(s.joint[g], 1<<s.tasks)
		s.setFits(int64(s.limit) * int64(s.gpus*s.width[0]))
		all := space{ticks: int64(s.limit), width: s.gpus * s.width[0]}
		s.divide(s.joint[g], s.joint[g-1], root, false, &all)
	}
	return s.joint[s.gpus-1][1<<s.tasks-1].end
}

// root returns, by set, the best way of a GPU to run it.
func (s *subsets) root(gpu int) []cell { return s.table(gpu, 0, firstOnSlices).best }

// split returns the first table's part in a division of a set that has the given end.
func (s *subsets) split(set int, a, b []cell, end ticks, wait bool) int {
	for part := set; ; part = (part - 1) & set {
		if s.join(a[part], b[set^part], wait).end == end {
			return part
		}
		if part == 0 {
			panic("plan: no division has the end that was found")
		}
	}
}

// trace sets node[i] for each task i of a set to the node that runs it in the best way.
func (s *subsets) trace(gpu, v, set int, at turn, node []int32) {
	if set == 0 {
		return
	}
	t := s.table(gpu, v, at)
	// Where apart is as early as the use of the node, best is a copy of apart.
	if !t.forced && (t.best[set].end < t.own[set] || t.best[set] == t.apart[set]) {
		s.traceApart(gpu, v, set, at, node)
		return
	}
	for set != 0 {
		i := s.lastTask(t.own, set, s.time[s.tree.Size[v]])
		if i < 0 {
			break
		}
		node[i] = int32(gpu*len(s.tree.Nodes) + v)
		set ^= 1 << i
	}
	s.traceApart(gpu, v, set, laterOnSlices, node)
}

// lastTask returns a task that a node with the table own can run last of a set: its time is the difference to the set
// without it. It returns -1 if the node runs no task of the set.
func (s *subsets) lastTask(own []ticks, set int, time []ticks) int {
	for i, t := range time {
		if set>>i&1 != 0 && t != never && own[set^1<<i]+t == own[set] {
			return i
		}
	}
	return -1
}

// traceApart is trace for a node that runs no task of the set itself.
func (s *subsets) traceApart(gpu, v, set int, at turn, node []int32) {
	if set == 0 {
		return
	}
	c := s.tree.Nodes[v].Children
	if len(c) == 1 {
		s.trace(gpu, c[0], set, at, node)
		return
	}
	a, b := s.table(gpu, c[0], at), s.table(gpu, c[1], at)
	part := s.split(set, a.best, b.best, s.table(gpu, v, at).apart[set].end, s.waits(at))
	s.trace(gpu, c[0], part, at, node)
	s.trace(gpu, c[1], set^part, at, node)
}
