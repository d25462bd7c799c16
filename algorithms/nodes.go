package algorithms

import (
	"math/bits"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// maxNodes is the largest number of nodes of a repartitioning tree.
const maxNodes = 14

// nodeSet is a set of nodes of one tree; bit i stands for node i.
type nodeSet uint16

func (s nodeSet) has(node int) bool { return s>>node&1 != 0 }

// A nodeTree is the repartitioning tree of a GPU model in the form that treedp and
// lns walk it: arrays by node, parents before children. Times are in seconds.
type nodeTree struct {
	nodes    []mig.Node
	size     []int8 // index of the size in GPU.Sizes
	create   []float64
	destroy  []float64
	below    []nodeSet // all descendants
	class    []int8    // nodes with equal subtrees have equal classes
	leaves   []float64 // compute slices that the subtree's leaves have
	parallel bool      // operations of one GPU do not exclude each other
	free     bool      // operations take no time
}

func newNodeTree(p algo.Problem) *nodeTree {
	t := &nodeTree{nodes: p.GPU.Tree(), parallel: p.Model != mig.Sequential, free: p.Model == mig.Free}
	n := len(t.nodes)
	t.size, t.class = make([]int8, n), make([]int8, n)
	t.create, t.destroy, t.leaves = make([]float64, n), make([]float64, n), make([]float64, n)
	t.below = make([]nodeSet, n)
	for i := n - 1; i >= 0; i-- {
		v := &t.nodes[i]
		for c, s := range p.GPU.Sizes() {
			if s == v.Size() {
				t.size[i] = int8(c)
			}
		}
		if p.Model != mig.Free {
			t.create[i], t.destroy[i] = float64(v.Profile.Create), float64(v.Profile.Destroy)
		}
		t.class[i] = int8(i)
		if len(v.Children) == 0 {
			t.leaves[i] = 1
		}
		for _, c := range v.Children {
			t.below[i] |= t.below[c] | 1<<c
			t.leaves[i] += t.leaves[c]
		}
		for j := i + 1; j < n; j++ {
			if t.alike(i, j) {
				t.class[i] = t.class[j]
			}
		}
	}
	return t
}

// alike reports whether two nodes are of one size and have children of equal classes.
func (t *nodeTree) alike(a, b int) bool {
	x, y := t.nodes[a].Children, t.nodes[b].Children
	if t.size[a] != t.size[b] || len(x) != len(y) {
		return false
	}
	for i := range x {
		if t.class[x[i]] != t.class[y[i]] {
			return false
		}
	}
	return true
}

// A remnant is what a GPU holds when a plan begins, and when it can be used.
type remnant struct {
	exist []schedule.Existing
	// free is, by memory slice without an instance, when it became free.
	free [8]float64
	// channel is when the last operation ended.
	channel float64
}

// fresh reports whether there is nothing to be taken into account.
func (r *remnant) fresh() bool {
	return len(r.exist) == 0 && r.free == [8]float64{} && r.channel == 0
}

// remnants returns what each GPU of a problem holds at time 0.
func remnants(p algo.Problem) []remnant {
	out := make([]remnant, p.GPUs())
	for _, e := range p.Start {
		out[e.GPU].exist = append(out[e.GPU].exist, e)
	}
	return out
}

// A load is what a plan has the nodes of one GPU run.
type load struct {
	// seconds is, by node, the sum of its tasks' durations.
	seconds [maxNodes]float64
	// count is, by node, how many tasks there are.
	count [maxNodes]int32
	used  nodeSet
}

func (l *load) add(node int, t float64) {
	l.seconds[node] += t
	l.count[node]++
	l.used |= 1 << node
}

func (l *load) remove(node int, t float64) {
	l.seconds[node] -= t
	if l.count[node]--; l.count[node] == 0 {
		l.seconds[node] = 0
		l.used &^= 1 << node
	}
}

// A clock works out when the nodes of one GPU run what a plan has them run: from the
// root down, an instance being destroyed when its tasks are done if a node below it
// is used, and an instance that exists already being kept if it is the first of its
// slices that is used. When several operations are possible, the one that the most
// work waits for goes first.
type clock struct {
	tree *nodeTree
	// end is, by used node, when its tasks are done.
	end [maxNodes]float64
	// start is, by used node, when the instance is there.
	start [maxNodes]float64
	// finish, if set, returns when a node is done that begins at an instant; otherwise
	// its load is added.
	finish func(node int, from float64) float64
	// record, if set, is told about operations: on a node, or on an instance that
	// existed when node is -1.
	record func(op schedule.Op, node, existing int, start, end float64)

	tail    [maxNodes]float64 // by used node: from its create to the end of all below it
	after   [maxNodes]float64 // by node: the longest tail of the nearest used nodes below
	waits   [maxNodes]int8    // by node: existing instances in its way
	since   [maxNodes]float64 // by node: when the slices became free
	blocks  [8]nodeSet        // by existing instance: nodes that wait for its end
	pending [2*maxNodes + 8]waiting
	n       int
}

// waiting is an operation that can be carried out from an instant on.
type waiting struct {
	ready, tail float64
	op          schedule.Op
	node        int8
	existing    int8
}

// run returns when the last task of a GPU ends, in seconds.
func (c *clock) run(r *remnant, l *load) float64 {
	t := c.tree
	c.n = 0
	for v := len(t.nodes) - 1; v >= 0; v-- {
		after := 0.0
		for _, d := range t.nodes[v].Children {
			if l.used.has(d) {
				after = max(after, c.tail[d])
			} else {
				after = max(after, c.after[d])
			}
		}
		c.after[v] = after
		if l.used.has(v) {
			c.tail[v] = t.create[v] + l.seconds[v] + after
			if after > 0 {
				c.tail[v] += t.destroy[v]
			}
		}
	}
	makespan := 0.0
	first := c.firsts(l.used)
	if r.fresh() {
		for v := range t.nodes {
			if first.has(v) {
				c.wait(waiting{0, c.tail[v], schedule.Create, int8(v), -1})
			}
		}
	} else {
		makespan = c.take(r, l, first)
	}
	channel := r.channel
	for c.n > 0 {
		w := c.next(channel)
		from := w.ready
		if !t.parallel {
			from = max(from, channel)
		}
		to := from
		switch {
		case w.op == schedule.Create:
			to += t.create[w.node]
			makespan = max(makespan, c.work(int(w.node), to, l))
		case w.node >= 0:
			to += t.destroy[w.node]
			for under := c.firsts(l.used & t.below[w.node]); under != 0; under &= under - 1 {
				v := lowest(under)
				c.wait(waiting{to, c.tail[v], schedule.Create, int8(v), -1})
			}
		default:
			to += c.cost(r, int(w.existing))
			for b := c.blocks[w.existing]; b != 0; b &= b - 1 {
				v := lowest(b)
				c.since[v] = max(c.since[v], to)
				if c.waits[v]--; c.waits[v] == 0 {
					c.wait(waiting{c.since[v], c.tail[v], schedule.Create, int8(v), -1})
				}
			}
		}
		channel = to
		if c.record != nil {
			c.record(w.op, int(w.node), int(w.existing), from, to)
		}
	}
	return makespan
}

// take deals with what a GPU holds: it starts the nodes whose instance exists, asks for
// the destruction of what is in the way of others, and for the creation of the rest.
// It returns when the last task of the started nodes ends.
func (c *clock) take(r *remnant, l *load, first nodeSet) float64 {
	makespan := 0.0
	for i := range r.exist {
		c.blocks[i] = 0
	}
	for s := first; s != 0; s &= s - 1 {
		v := lowest(s)
		in := c.tree.nodes[v].Instance
		c.waits[v], c.since[v] = 0, 0
		kept := false
		for i := range r.exist {
			e := &r.exist[i]
			switch {
			case e.Instance == in:
				kept = true
				makespan = max(makespan, c.work(v, float64(e.BusyUntil), l))
			case e.Instance.Overlaps(in):
				c.waits[v]++
				c.blocks[i] |= 1 << v
			}
		}
		if kept {
			continue
		}
		for m := in.Mask(); m != 0; m &= m - 1 {
			c.since[v] = max(c.since[v], r.free[lowest(m)])
		}
		if c.waits[v] == 0 {
			c.wait(waiting{c.since[v], c.tail[v], schedule.Create, int8(v), -1})
		}
	}
	for i := range r.exist {
		if c.blocks[i] == 0 {
			continue
		}
		tail := 0.0
		for b := c.blocks[i]; b != 0; b &= b - 1 {
			tail = max(tail, c.tail[lowest(b)])
		}
		c.wait(waiting{float64(r.exist[i].BusyUntil), tail + c.cost(r, i), schedule.Destroy, -1, int8(i)})
	}
	return makespan
}

// work has a node run its tasks from an instant on and returns when they are done.
func (c *clock) work(v int, from float64, l *load) float64 {
	end := from + l.seconds[v]
	if c.finish != nil {
		end = c.finish(v, from)
	}
	c.start[v], c.end[v] = from, end
	if c.after[v] > 0 {
		c.wait(waiting{end, c.tree.destroy[v] + c.after[v], schedule.Destroy, int8(v), -1})
	}
	return end
}

// cost is what the destruction of an existing instance takes.
func (c *clock) cost(r *remnant, existing int) float64 {
	if c.tree.free {
		return 0
	}
	return float64(r.exist[existing].Instance.Profile.Destroy)
}

// firsts returns the nodes of a set that lie below no other.
func (c *clock) firsts(set nodeSet) nodeSet {
	var out nodeSet
	for set != 0 {
		v := lowest(set)
		out |= 1 << v
		set &^= 1<<v | c.tree.below[v]
	}
	return out
}

func (c *clock) wait(w waiting) {
	c.pending[c.n] = w
	c.n++
}

// next takes the operation to be carried out: of those that are possible when the
// channel is free the one with the longest tail, otherwise the first to be possible.
func (c *clock) next(channel float64) waiting {
	best := 0
	for i := 1; i < c.n; i++ {
		a, b := &c.pending[i], &c.pending[best]
		x, y := max(a.ready, channel), max(b.ready, channel)
		if x < y || x == y && (a.tail > b.tail || a.tail == b.tail && (a.node < b.node || a.node == b.node && a.existing < b.existing)) {
			best = i
		}
	}
	w := c.pending[best]
	c.n--
	c.pending[best] = c.pending[c.n]
	return w
}

// lowest returns the index of the lowest bit that is set.
func lowest[T ~uint8 | ~uint16 | ~uint32](s T) int { return bits.TrailingZeros32(uint32(s)) }
