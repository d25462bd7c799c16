package algorithms

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
)

// ticks is a time in units of a 2^29th of the horizon. Whole numbers give exact sums and equal ties.
type ticks = int32

const (
	// horizon is the longest time that can be part of a solution.
	horizon ticks = 1 << 29
	// never represents all longer times. The sum of two of them does not overflow.
	never ticks = 1<<30 - 1
)

// A cell describes the best way of a subtree to run a set of tasks.
type cell struct {
	// end is when the last task ends; 0 for the empty set.
	end ticks
	// heads is the time for which the channel is busy before another subtree can use it: until every part of this
	// subtree has started, or until its first part has.
	heads ticks
}

// A table has a cell for every set of tasks.
type table struct {
	// apart is the best way without the node itself: each child runs a part of the set.
	apart []cell
	// own is the end if the node's instance is created and runs a part of the set, perhaps an empty one.
	own []ticks
	// best is the better of the two.
	best []cell
	// forced means that the node is used whatever the set is, and that apart was not computed.
	forced bool
	// as is the node whose table is used for this node: a node with an equal table, or the node itself.
	as int
}

// subsets finds the best nodes for a few tasks while other tasks stay where they are, by dynamic programming over
// subtrees and sets of tasks. It is the core of treedp, lns and [LastTasks].
//
// The nodes that cover a slice run one after the other, from the root down. So the end of a subtree with a set S of
// tasks is the least of two values. If the node is not used, it is the end of the children with S. Otherwise it is the
// least, over the sets T that the node runs itself, of create + load(T) + destroy + the end of the children with the
// rest. The end of two children is the least, over the divisions of the set between them, of the later of their ends.
//
// Under [mig.Sequential] one child, whichever is better, waits until the channel has created the other's first
// instances. There are two models. In the first it waits for all of them, as if children were served one after the
// other; such plans are possible but not always the best. In the second (greedy) it only waits for the first instance,
// as if the others could always be created in between, which is optimistic. Only the clock knows later delays.
//
// The tasks of a node itself take n 2^n steps, a division takes 3^n.
type subsets struct {
	tree  *tree
	gpus  int
	sizes []mig.Slices
	// class is, by node, the same for nodes with equal subtrees. leaves is the number of compute slices that tasks can
	// use at once in the subtree: the slices of its leaves or, where these leave slices idle, its own.
	class  []int8
	leaves []int
	// model is the problem's. parallel means that operations do not exclude each other, and startsApart that the
	// operations by which the first nodes start do not.
	model                 mig.Reconfiguration
	parallel, startsApart bool
	scale                 float64 // ticks a second
	create, destroy       [maxNodes]ticks
	// limit is the latest end that is looked for, and first the limit that is tried first. If a solution ends within a
	// limit, a later limit gives the same solution, because no part of it ends later.
	limit, first ticks
	// tight means that the other tasks limit the tables further. until is, by node, the latest end in its table that
	// can be part of a solution within the limit, because the nodes above it take the rest. taken is, by node, the
	// slice-ticks that other tasks take on the nodes below it.
	tight bool
	until [maxNodes]ticks
	taken [maxNodes]int64
	// slack is the most slice-ticks that a solution within the limit, or any part of it, wastes.
	slack int64
	// longest is, by size index and set, the longest of the tasks, each on the best instance of this and smaller sizes;
	// nil if slack is unlimited.
	longest [][]ticks
	// from is, by node, when it can start as the first node on its slices, and how long the channel is busy for it.
	from [maxNodes]cell
	// skip are the nodes whose tables in after are not needed for any solution within the limit.
	skip nodeSet
	k    int // number of tasks
	// time is, by size index and task, the duration.
	time [][]ticks
	// area is, by set, the least slice-ticks that its tasks can take.
	area []int64
	// blurred is the largest share by which durations differ from the durations in area.
	blurred float64
	// fits lists the sets that are not too large for the node whose table is computed.
	fits []int32
	// noCells and noEnds are tables in which no set can be run.
	noCells []cell
	noEnds  []ticks
	// others is by set; see othersOnRoot.
	others []int64
	// tables are by node over all GPUs, for nodes that are the first on their slices, after the GPU's state at the
	// beginning. after are the same for nodes that are used after another node.
	tables, after []table
	// joint is, by GPU and set, the best way of the GPU and the GPUs before it together.
	joint [][]cell
	// greedy selects the optimistic model.
	greedy bool
	// fresh means, by GPU, that it is empty, so that only after is used.
	fresh []bool
}

func newSubsets(sizes []mig.Slices, model mig.Reconfiguration, tree *tree) *subsets {
	s := &subsets{
		tree: tree, gpus: tree.gpus, sizes: sizes, model: model, parallel: model != mig.Sequential,
		time: make([][]ticks, len(sizes)), slack: math.MaxInt64,
	}
	s.startsApart = s.parallel
	s.tables, s.after = make([]table, tree.count()), make([]table, tree.count())
	s.joint, s.fresh = make([][]cell, s.gpus), make([]bool, s.gpus)
	n := len(tree.nodes)
	s.class, s.leaves = make([]int8, n), make([]int, n)
	for v := n - 1; v >= 0; v-- {
		s.class[v] = int8(v)
		for _, c := range tree.nodes[v].Children {
			s.leaves[v] += s.leaves[c]
		}
		s.leaves[v] = max(s.leaves[v], int(tree.nodes[v].Size()))
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
	return s.tree.size[a] == s.tree.size[b] &&
		slices.EqualFunc(s.tree.nodes[a].Children, s.tree.nodes[b].Children, func(x, y int) bool {
			return s.class[x] == s.class[y]
		})
}

// within sets the horizon and the first limit, in seconds.
func (s *subsets) within(seconds, first float64) {
	s.scale = float64(horizon) / seconds
	s.first = min(horizon, ticks(first*s.scale))
	for v := range s.tree.nodes {
		s.create[v], s.destroy[v] = s.ticks(s.tree.create[v]), s.ticks(s.tree.destroy[v])
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

// load sets the tasks to place: k tasks with their durations in seconds.
func (s *subsets) load(k int, seconds func(task int, size mig.Slices) float64) {
	s.k = k
	for c, size := range s.sizes {
		s.time[c] = s.time[c][:0]
		for i := range k {
			s.time[c] = append(s.time[c], s.ticks(seconds(i, size)))
		}
	}
	for len(s.noCells) < 1<<k {
		s.noCells, s.noEnds = append(s.noCells, cell{never, 0}), append(s.noEnds, never)
	}
	s.area = resized(s.area, 1<<k)
	s.area[0], s.blurred = 0, 0
	for i := range k {
		least := int64(math.MaxInt64) >> 8
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
// remnants are by GPU. Times count from base, in seconds. It returns false if not all tasks can end within the horizon.
func (s *subsets) place(loads []load, rest []remnant, base float64, node []int32) bool {
	s.limit, s.tight = s.first, true
	if s.ends(loads, rest, base) > s.limit { // this need not be the earliest end
		s.limit, s.tight = horizon, false
		if s.ends(loads, rest, base) >= never {
			return false
		}
	}
	left := 1<<s.k - 1
	for g := s.gpus - 1; g > 0; g-- {
		part := s.split(left, s.joint[g-1], s.best(g, 0), s.joint[g][left].end, false)
		s.trace(g, 0, left^part, true, node)
		left = part
	}
	s.trace(0, 0, left, true, node)
	return true
}

// ends computes all tables and returns when all tasks end.
func (s *subsets) ends(loads []load, rest []remnant, base float64) ticks {
	for g := range s.gpus {
		s.fill(g, &loads[g], &rest[g], base)
		root := s.best(g, 0)
		if g == 0 {
			s.joint[0] = root
			continue
		}
		s.joint[g] = resized(s.joint[g], 1<<s.k)
		s.fit(int64(s.limit) * int64(s.gpus*s.leaves[0]))
		all := space{ticks: int64(s.limit), leaves: s.gpus * s.leaves[0]}
		s.divide(s.joint[g], s.joint[g-1], root, false, &all, nil)
	}
	return s.joint[s.gpus-1][1<<s.k-1].end
}

func (s *subsets) best(gpu, v int) []cell { return s.table(gpu, v, true).best }

// table returns the table of a node: for the first node on its slices, or for a node after another.
func (s *subsets) table(gpu, v int, first bool) *table {
	ts := s.tables
	if !first || s.fresh[gpu] {
		ts = s.after
	}
	ts = ts[gpu*len(s.tree.nodes):]
	return &ts[ts[v].as]
}

func (s *subsets) fill(gpu int, l *load, r *remnant, base float64) {
	s.fresh[gpu] = r.empty() && base == 0
	s.bound(l)
	s.fillAfter(gpu, l)
	if s.fresh[gpu] {
		return
	}
	for v := range s.tree.nodes {
		s.from[v] = s.begins(v, r, base)
	}
	s.fillFirst(gpu, l)
}

func (s *subsets) fillAfter(gpu int, l *load) {
	n := len(s.tree.nodes)
	ts := s.after[gpu*n:]
	for v := n - 1; v >= 0; v-- {
		ts[v].as = v
		if l.used&(s.tree.below[v]|1<<v) == 0 {
			for o := v + 1; o < n; o++ {
				if s.class[o] == s.class[v] && l.used&(s.tree.below[o]|1<<o) == 0 {
					ts[v].as = ts[o].as
					break
				}
			}
		}
		if ts[v].as != v || s.skip.contains(v) && len(s.tree.nodes[v].Children) > 0 {
			continue
		}
		s.fit(int64(s.leaves[v])*int64(s.until[v]) - s.taken[v])
		s.fillApart(gpu, v, s.loadOn(l, v), false)
		if !s.skip.contains(v) {
			s.node(&ts[v], ts[v].apart, v, cell{s.create[v], s.create[v]}, l)
		}
	}
}

func (s *subsets) fillFirst(gpu int, l *load) {
	n := len(s.tree.nodes)
	ts := s.tables[gpu*n:]
	// Nodes below a node that other tasks use are never the first, so their tables are not read.
	var after nodeSet
	for v := range n {
		if s.forces(l, v) {
			after |= s.tree.below[v]
		}
	}
	for v := n - 1; v >= 0; v-- {
		ts[v].as = v
		if after.contains(v) {
			continue
		}
		ts[v].forced = s.forces(l, v)
		s.fit(int64(s.leaves[v])*int64(s.until[v]) - s.taken[v])
		if !ts[v].forced {
			s.fillApart(gpu, v, s.loadOn(l, v), true)
		}
		s.node(&ts[v], s.table(gpu, v, false).apart, v, s.from[v], l)
	}
}

// fit sets fits to the sets that fit into a number of slice-ticks.
func (s *subsets) fit(room int64) {
	exact := !s.tight || s.blurred == 0
	fits := append(s.fits[:0], 0)
	for i, area := range s.area[1 : 1<<s.k] {
		if exact && area <= room || !exact && s.least(i+1) <= room {
			fits = append(fits, int32(i+1))
		}
	}
	s.fits = fits
}

// forces reports whether the other tasks on a node are known to come before its children. Under [mig.Free] both orders
// may end at the same time. The search then prefers the children, so forces excludes no order.
func (s *subsets) forces(l *load, v int) bool { return s.model != mig.Free && l.used.contains(v) }

// loadOn returns the sum of the durations of the other tasks on a node if the tables are tight, otherwise 0.
func (s *subsets) loadOn(l *load, v int) ticks {
	if !s.tight || !s.forces(l, v) {
		return 0
	}
	return min(s.ticks(l.seconds[v]), horizon)
}

// bound sets until and taken for a GPU with these loads.
func (s *subsets) bound(l *load) {
	s.until[0] = s.limit
	for v := range s.tree.nodes {
		s.taken[v] = 0
		left := s.until[v]
		if s.tight && s.forces(l, v) {
			left -= min(s.loadOn(l, v)+min(s.destroy[v], horizon), left)
		}
		for _, c := range s.tree.nodes[v].Children {
			s.until[c] = left
		}
	}
	// Nodes that share a table need the latest of their ends.
	var latest [maxNodes]ticks
	for _, share := range []bool{false, true} {
		for v := range s.tree.nodes {
			if l.used&(s.tree.below[v]|1<<v) != 0 {
				continue
			}
			end := &latest[s.class[v]]
			if share {
				s.until[v] = *end
			} else {
				*end = max(*end, s.until[v])
			}
		}
	}
	for v := len(s.tree.nodes) - 1; v >= 0; v-- {
		for _, c := range s.tree.nodes[v].Children {
			s.taken[v] += s.taken[c] + int64(s.tree.nodes[c].Size())*int64(s.loadOn(l, c))
		}
	}
}

// begins returns [subsets.from] of a node.
func (s *subsets) begins(v int, r *remnant, base float64) cell {
	in := s.tree.nodes[v].Instance
	ready, cost := base, s.tree.create[v]
	if !s.parallel {
		ready = max(base, r.channel)
	}
	for m := in.Mask(); m != 0; m &= m - 1 {
		ready = max(ready, r.free[lowestBit(m)])
	}
	for i := range r.exist {
		e := &r.exist[i]
		if e.Instance == in {
			return cell{s.ticks(max(base, float64(e.BusyUntil)) - base), 0}
		}
		if e.Instance.Overlaps(in) {
			_, d := operationSeconds(s.model, e.Instance.Profile)
			ready = max(ready, float64(e.BusyUntil)+d)
			cost += d
		}
	}
	return cell{s.ticks(ready + s.tree.create[v] - base), s.ticks(cost)}
}

// fillApart computes the apart table of a node. load is the time that other tasks take on the node itself.
func (s *subsets) fillApart(gpu, v int, load ticks, first bool) {
	t := &s.after[gpu*len(s.tree.nodes)+v]
	if first {
		t = &s.tables[gpu*len(s.tree.nodes)+v]
	}
	switch c := s.tree.nodes[v].Children; len(c) {
	case 0:
		t.apart = append(t.apart[:0], s.noCells[:1<<s.k]...)
		t.apart[0] = cell{}
	case 1:
		t.apart = append(t.apart[:0], s.table(gpu, c[0], first).best...)
	case 2:
		t.apart = resized(t.apart, 1<<s.k)
		a, b := s.table(gpu, c[0], first), s.table(gpu, c[1], first)
		room := space{int64(s.until[v]) - int64(load), s.taken[v], s.leaves[v], first, nil}
		if s.longest != nil {
			room.longest = s.longest[s.tree.size[c[0]]]
		}
		s.divide(t.apart, a.best, b.best, s.waits(first), &room, s.othersOnRoot(v))
	default:
		panic("algorithms: a node of the repartitioning tree has more than two children")
	}
}

// waits reports whether subtrees wait until the channel has created each other's instances.
func (s *subsets) waits(first bool) bool { return !s.parallel && !(first && s.startsApart) }

// node computes own and best of a table. rest is the apart table of children that follow the node. The node can start
// at from.end, and the result has from.heads.
func (s *subsets) node(t *table, rest []cell, v int, from cell, l *load) {
	fixed := min(from.end+s.ticks(l.seconds[v]), never)
	t.own, t.best = resized(t.own, 1<<s.k), resized(t.best, 1<<s.k)
	own, best := t.own, t.best
	if s.parallel {
		from.heads = 0
	}
	until := s.until[v]
	time, split := s.time[s.tree.size[v]], len(s.tree.nodes[v].Children) > 0
	in := space{taken: s.taken[v], leaves: s.leaves[v]}
	copy(own, s.noEnds)
	if l.used.contains(v) {
		copy(best, s.noCells)
	} else {
		copy(best, t.apart)
	}
	if fixed > until || in.wastes(fixed, 0, s.slack) {
		return
	}
	for _, f := range s.fits {
		set := int(f)
		end := s.ownEnd(own, set, fixed, rest[set].end, s.destroy[v], time, split)
		if end > until || in.wastes(end, s.area[set], s.slack) {
			continue
		}
		own[set] = end
		if end < best[set].end {
			best[set] = cell{end, from.heads}
		}
	}
}

// ownEnd returns the end of a set on a node that is busy with other tasks until fixed. Either the node runs one of the
// set's tasks last, or the children run the whole set after the destruction of the node.
func (s *subsets) ownEnd(own []ticks, set int, fixed, rest, destroy ticks, time []ticks, split bool) ticks {
	end := never
	switch {
	case rest == 0:
		end = fixed
	case rest < never:
		end = ticks(min(int64(fixed)+int64(destroy)+int64(rest), int64(never)))
	}
	for left := set; left != 0; left &= left - 1 {
		end = min(end, own[set^left&-left]+time[bits.TrailingZeros(uint(left))])
		if !split {
			break
		}
	}
	return end
}

// A space is a time on a number of leaves, of which other tasks take a part, in slice-ticks. If first is set,
// slice-ticks that are left over are wasted. longest is, by set, a lower bound on its end, or nil.
type space struct {
	ticks, taken int64
	leaves       int
	first        bool
	longest      []ticks
}

// wastes reports whether too many slice-ticks are idle before the end of a set with the area.
func (in *space) wastes(end ticks, area, slack int64) bool {
	return int64(in.leaves)*int64(end)-in.taken-area > slack
}

// divide computes out[S] for all sets S: the best division of S between a and b. It skips sets whose area is too large
// for the leaves. others is, by set, the time that the node needs for the other tasks; nil if they may run elsewhere.
func (s *subsets) divide(out, a, b []cell, wait bool, in *space, others []int64) {
	alike := &a[0] == &b[0]
	copy(out, s.noCells)
	for _, f := range s.fits {
		set := int(f)
		room, area := in.ticks, s.area[set]
		if others != nil {
			room -= others[set]
		}
		left := int64(in.leaves)*room - in.taken - s.least(set)
		idle := in.first && left > s.slack || in.longest != nil && in.wastes(in.longest[set], area, s.slack)
		if set > 0 && (left < 0 || idle) {
			continue
		}
		best := s.bestDivision(set, a, b, alike, wait)
		if !in.wastes(best.end, area, s.slack) {
			out[set] = best
		}
	}
}

// least returns the least slice-ticks that a set's tasks can take. Tables that are not tight have so much room that the
// area without blur is safe.
func (s *subsets) least(set int) int64 {
	if !s.tight || s.blurred == 0 {
		return s.area[set]
	}
	return int64(float64(s.area[set])*(1-s.blurred)) - roundings
}

// roundings is larger than the slice-ticks by which rounding changes the area of a set.
const roundings = maxTreeDP * 2 * int64(mig.MaxSize)

// othersOnRoot returns, by set, the time that the root of the only GPU needs for the tasks outside the set, because no
// other node can run them. It returns nil for other nodes and for several GPUs.
func (s *subsets) othersOnRoot(v int) []int64 {
	if v > 0 || s.gpus > 1 || s.slack < math.MaxInt64 {
		return nil
	}
	all := 1<<s.k - 1
	s.others = resized(s.others, 1<<s.k)
	s.others[all] = 0
	for set := all - 1; set >= 0; set-- {
		i := lowestBit(uint32(all &^ set))
		s.others[set] = s.others[set|1<<i] + int64(s.time[s.tree.size[v]][i])
	}
	for set := range all {
		s.others[set] += int64(s.create[v]) + int64(s.destroy[v])
	}
	return s.others
}

// bestDivision returns the cell of the best division of a set between two tables.
func (s *subsets) bestDivision(set int, a, b []cell, alike, wait bool) cell {
	best := cell{never, 0}
	last := 0
	if alike && set != 0 {
		last = 1 << (bits.Len(uint(set)) - 1) // the first of two equal subtrees takes the last task
	}
	for part := set; !wait; part = (part - 1) & set {
		best.end = min(best.end, max(a[part].end, b[set^part].end)) // without a branch, which would be unpredictable
		if part <= last {
			return best
		}
	}
	for part := set; ; part = (part - 1) & set {
		x, y := a[part], b[set^part]
		if x.end < best.end && y.end < best.end {
			both := s.join(x, y, true)
			if both.end < best.end {
				best = both
			}
		}
		if part <= last {
			return best
		}
	}
}

// join returns the cell of two subtrees together.
func (s *subsets) join(x, y cell, wait bool) cell {
	if !wait {
		return cell{max(x.end, y.end), 0}
	}
	xFirst, yFirst := max(x.end, x.heads+y.end), max(y.end, y.heads+x.end)
	switch {
	case !s.greedy:
		return cell{min(xFirst, yFirst), x.heads + y.heads}
	case y.end == 0 || xFirst <= yFirst && x.end > 0:
		return cell{xFirst, x.heads}
	}
	return cell{yFirst, y.heads}
}

// split returns the first table's part in a division of a set that has the given end.
func (s *subsets) split(set int, a, b []cell, end ticks, wait bool) int {
	for part := set; ; part = (part - 1) & set {
		if s.join(a[part], b[set^part], wait).end == end {
			return part
		}
		if part == 0 {
			panic("algorithms: no division has the end that was found")
		}
	}
}

// trace sets node[i] for each task i of a set to the node that runs it in the best way.
func (s *subsets) trace(gpu, v, set int, first bool, node []int32) {
	if set == 0 {
		return
	}
	t := s.table(gpu, v, first)
	if !t.forced && (t.best[set].end < t.own[set] || t.best[set] == t.apart[set]) {
		s.traceApart(gpu, v, set, first, node)
		return
	}
	// The node runs the tasks whose time is the difference to the set without them.
	for c := s.tree.size[v]; set != 0; {
		i := 0
		for i < s.k && (set>>i&1 == 0 || s.time[c][i] == never || t.own[set^1<<i]+s.time[c][i] != t.own[set]) {
			i++
		}
		if i == s.k {
			break
		}
		node[i] = int32(gpu*len(s.tree.nodes) + v)
		set ^= 1 << i
	}
	s.traceApart(gpu, v, set, false, node)
}

func (s *subsets) traceApart(gpu, v, set int, first bool, node []int32) {
	switch c := s.tree.nodes[v].Children; {
	case set == 0:
	case len(c) == 1:
		s.trace(gpu, c[0], set, first, node)
	default:
		a, b := s.table(gpu, c[0], first), s.table(gpu, c[1], first)
		part := s.split(set, a.best, b.best, s.table(gpu, v, first).apart[set].end, s.waits(first))
		s.trace(gpu, c[0], part, first, node)
		s.trace(gpu, c[1], set^part, first, node)
	}
}
