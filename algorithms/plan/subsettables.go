package plan

import (
	"math/bits"

	"miglab/harness/mig"
)

// A cell describes the best way of a subtree to run a set of tasks.
type cell struct {
	end ticks // when the last task ends; 0 for the empty set
	// heads is the time for which the channel is busy before another subtree can use it: until every part of this
	// subtree has started or, in the greedy model, until its first part has.
	heads ticks
}

// A table has a cell for every set of tasks.
type table struct {
	apart []cell // the best way without the node itself: each child runs a part of the set
	// own is the end if the node's instance is created and runs a part of the set, perhaps an empty one.
	own    []ticks
	best   []cell // the better of the two
	forced bool   // the node is used whatever the set is, and apart was not computed
	as     int    // the node whose table is used for this node: a node with an equal table, or the node itself
}

// A turn says whether a node is the first that uses its slices.
type turn uint8

const (
	firstOnSlices turn = iota // follows the GPU's state at the beginning
	laterOnSlices             // follows another node
)

// table returns the table of a node at its turn.
func (s *subsets) table(gpu, v int, at turn) *table {
	ts := s.first
	if at == laterOnSlices || s.fresh[gpu] {
		ts = s.after
	}
	ts = ts[gpu*len(s.tree.Nodes):]
	return &ts[ts[v].as]
}

// fill computes the tables of a GPU from the loads of the other tasks and its state at the beginning.
func (s *subsets) fill(gpu int, l *load, r *remnant, base float64) {
	s.fresh[gpu] = base == 0 && len(r.exist) == 0 && r.free == [mig.MaxMemorySlices]float64{} && r.channel == 0
	s.limitNodes(l)
	s.fillAfter(gpu, l)
	if s.fresh[gpu] {
		return
	}
	for v := range s.tree.Nodes {
		s.start[v] = s.firstStart(v, r, base)
	}
	s.fillFirst(gpu, l)
}

// fillAfter computes the tables in after, from the leaves up.
func (s *subsets) fillAfter(gpu int, l *load) {
	n := len(s.tree.Nodes)
	ts := s.after[gpu*n:]
	for v := n - 1; v >= 0; v-- {
		ts[v].as = s.equalNode(ts, l, v)
		skip := s.skip.contains(int(s.class[v]))
		if ts[v].as != v || skip && len(s.tree.Nodes[v].Children) > 0 {
			continue
		}
		s.setFits(int64(s.width[v])*int64(s.until[v]) - s.taken[v])
		s.fillApart(&ts[v], gpu, v, l, laterOnSlices)
		if !skip {
			s.fillOwn(&ts[v], ts[v].apart, v, cell{s.create[v], s.create[v]}, l)
		}
	}
}

// equalNode returns a node after v with the same table, or else v. Equal subtrees without other tasks share a table.
func (s *subsets) equalNode(ts []table, l *load, v int) int {
	if !s.unused(l, v) {
		return v
	}
	for o := v + 1; o < len(s.tree.Nodes); o++ {
		if s.class[o] == s.class[v] && s.unused(l, o) {
			return ts[o].as
		}
	}
	return v
}

// fillFirst computes the tables in first, from the leaves up.
func (s *subsets) fillFirst(gpu int, l *load) {
	n := len(s.tree.Nodes)
	ts := s.first[gpu*n:]
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
		s.setFits(int64(s.width[v])*int64(s.until[v]) - s.taken[v])
		if !ts[v].forced {
			s.fillApart(&ts[v], gpu, v, l, firstOnSlices)
		}
		s.fillOwn(&ts[v], s.table(gpu, v, laterOnSlices).apart, v, s.start[v], l)
	}
}

// unused reports whether other tasks use neither the node nor the nodes below it.
func (s *subsets) unused(l *load, v int) bool { return l.used&(s.tree.below[v]|1<<v) == 0 }

// forces reports whether a node comes before its children, because other tasks run on it. It never does under
// [mig.Free]: the children may come first there and end at the same time, and the search prefers them.
func (s *subsets) forces(l *load, v int) bool { return s.model != mig.Free && l.used.contains(v) }

// firstStart returns when a node can start as the first on its slices, and how long the channel is busy for it.
func (s *subsets) firstStart(v int, r *remnant, base float64) cell {
	in := s.tree.Nodes[v].Instance
	create, _ := operationSeconds(s.model, in.Profile)
	ready, cost := base, create
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
	return cell{s.ticks(ready + create - base), s.ticks(cost)}
}

// fillApart computes apart in the table of a node, which has at most two children.
func (s *subsets) fillApart(t *table, gpu, v int, l *load, at turn) {
	switch c := s.tree.Nodes[v].Children; len(c) {
	case 0:
		t.apart = append(t.apart[:0], s.noCells[:1<<s.tasks]...)
		t.apart[0] = cell{}
	case 1:
		t.apart = append(t.apart[:0], s.table(gpu, c[0], at).best...)
	default:
		t.apart = resized(t.apart, 1<<s.tasks)
		a, b := s.table(gpu, c[0], at), s.table(gpu, c[1], at)
		room := space{
			ticks: int64(s.until[v] - s.loadOn(l, v)), taken: s.taken[v], width: s.width[v],
			wasted: at == firstOnSlices, others: s.othersOnRoot(v),
		}
		s.divide(t.apart, a.best, b.best, s.waits(at), &room)
	}
}

// waits reports whether subtrees wait until the channel has created each other's instances.
func (s *subsets) waits(at turn) bool { return !s.parallel && !(at == firstOnSlices && s.startsApart) }

// fillOwn computes own and best in the table of a node that can start at start.end and then has start.heads. rest is
// apart of its children after it.
func (s *subsets) fillOwn(t *table, rest []cell, v int, start cell, l *load) {
	run := nodeRun{
		busy: min(start.end+s.ticks(l.seconds[v]), never), destroy: s.destroy[v],
		time: s.time[s.tree.Size[v]], leaf: len(s.tree.Nodes[v].Children) == 0,
	}
	t.own, t.best = resized(t.own, 1<<s.tasks), resized(t.best, 1<<s.tasks)
	own, best := t.own, t.best
	if s.parallel {
		start.heads = 0
	}
	until := s.until[v]
	in := space{taken: s.taken[v], width: s.width[v]}
	copy(own, s.noEnds)
	if l.used.contains(v) {
		copy(best, s.noCells)
	} else {
		copy(best, t.apart)
	}
	if run.busy > until || in.wastes(run.busy, 0, s.slack) {
		return
	}
	for _, f := range s.fits {
		set := int(f)
		end := run.end(own, set, rest[set].end)
		if end > until || in.wastes(end, s.area[set], s.slack) {
			continue
		}
		own[set] = end
		if end < best[set].end {
			best[set] = cell{end, start.heads}
		}
	}
}

// A nodeRun is the use of a node by tasks that are placed, after the other tasks on it, which end at busy.
type nodeRun struct {
	busy, destroy ticks
	time          []ticks // by task
	leaf          bool    // whether the node has no children
}

// end returns the end of a set. Either the node runs one of the set's tasks last, or the children run the whole set
// after the destruction of the node, in the time rest.
func (r *nodeRun) end(own []ticks, set int, rest ticks) ticks {
	end := never
	switch {
	case rest == 0:
		end = r.busy
	case rest < never:
		end = ticks(min(int64(r.busy)+int64(r.destroy)+int64(rest), int64(never)))
	}
	for left := set; left != 0; left &= left - 1 {
		end = min(end, own[set^left&-left]+r.time[bits.TrailingZeros(uint(left))])
		if r.leaf {
			break // a leaf runs all tasks, in any order
		}
	}
	return end
}

// divide computes out[S] for all sets S: the best division of S between a and b. It leaves out sets that do not fit in.
func (s *subsets) divide(out, a, b []cell, wait bool, in *space) {
	alike := &a[0] == &b[0]
	copy(out, s.noCells)
	for _, f := range s.fits {
		set := int(f)
		if set > 0 && !s.fitsIn(set, in) {
			continue
		}
		best := s.bestDivision(set, a, b, alike, wait)
		if !in.wastes(best.end, s.area[set], s.slack) {
			out[set] = best
		}
	}
}

// bestDivision returns the cell of the best division of a set between two tables.
func (s *subsets) bestDivision(set int, a, b []cell, alike, wait bool) cell {
	best := cell{never, 0}
	last := 0
	if alike && set != 0 {
		last = 1 << (bits.Len(uint(set)) - 1) // the first of two equal subtrees takes the last task
	}
	if !wait {
		for part := set; ; part = (part - 1) & set {
			best.end = min(best.end, max(a[part].end, b[set^part].end)) // a branch would be unpredictable
			if part <= last {
				return best
			}
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
