package bounds

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A search finds an optimal schedule of one GPU that is empty at the start. No task has a release time or can be
// stopped.
//
// A schedule is a sequence of uses. A use destroys the instances in its way, creates an instance and runs a non-empty
// set of tasks on it, one after the other. Every schedule has this form: runs on one instance belong to one use if no
// overlapping instance is created between them, and an instance without tasks need not be created. Given the sequence,
// everything happens as early as possible: no instant becomes later if another becomes earlier.
//
// Under [mig.Parallel] and [mig.Free] an instance is destroyed as soon as its tasks end, if a later use overlaps it.
// The uses come in the order in which their creates begin.
//
// Under [mig.Sequential] the sequence is the order of all operations. Between one create and the next come the destroys
// of all instances that overlap the next one, and possibly early destroys of others:
//
//   - They come in the order in which they can begin. Of two successive destroys the one that can begin first goes
//     first: together they end no later than in the other order.
//   - The last of them destroys an instance that overlaps the create. Otherwise it could come after the create: the
//     create would end earlier and both together no later. Without a later create on its slices, it is unnecessary. So
//     an instance is destroyed early only while the next create waits for another instance, which ends later.
//
// These rules hold for everything that follows a state, whatever came before it. If two states have the same remaining
// tasks and the same instances to destroy, and no instant of the first is later, then the second can be left out. The
// same holds if exchanging nodes of the tree with the same shape makes the states comparable.
type search struct {
	ctx context.Context
	p   *algo.Problem
	// nodes are those of [mig.GPU.Tree].
	nodes []searchNode
	// exchange lists the siblings whose subtrees have the same shape, deepest first.
	exchange [][2]int
	// leastDestroy is the shortest destroy of a node of the tree.
	leastDestroy mig.Seconds
	// took is, by size and set of tasks, the sum of their durations.
	took [mig.MaxSize + 1][]mig.Seconds
	// twin is, for each task, the last task before it with the same times, or -1.
	twin []int
	// all and loaded are the tables of bound, by node and set.
	all, loaded [][]mig.Seconds

	// uses is the current sequence.
	uses []use
	// best is the shortest makespan. A makespan less than below is shorter by more than rounding.
	best, below mig.Seconds
	// bestUses is the best sequence. It is not used while the known schedule is the best.
	bestUses []use
	visited  map[stateKey][]instants
	visits   int
}

// A taskSet is a set of tasks: bit i represents task i.
type taskSet uint32

type nodeSet uint32

// A searchNode is an instance that can exist.
type searchNode struct {
	in              mig.Instance
	mask            mig.Mask
	create, destroy mig.Seconds
	children        []int
	overlaps        nodeSet
}

// A use destroys nodes in the order in which their tasks end, creates one and runs tasks.
type use struct {
	destroys nodeSet
	node     int
	tasks    taskSet
}

type state struct {
	stateKey
	instants
}

// A stateKey is the part of a state that must be equal if two states are compared.
type stateKey struct {
	// left are the remaining tasks.
	left taskSet
	// exist are the nodes that must be destroyed before overlapping ones are created. It is empty unless the model is
	// [mig.Sequential]: otherwise ready includes the destroy of a node whose tasks have ended.
	exist nodeSet
}

// instants are the times of a state: earlier ones are better.
type instants struct {
	// end is when the last task ends.
	end mig.Seconds
	// floor is when the next operation can begin at the earliest: at the end of the last
	// operation under [mig.Sequential], otherwise at the start of the last create.
	floor mig.Seconds
	// ready is, by memory slice, when its tasks or its last destroy end; never before floor.
	ready bySlice
}

func newSearch(ctx context.Context, p *algo.Problem, known mig.Seconds) *search {
	x := &search{ctx: ctx, p: p, visited: map[stateKey][]instants{}}
	x.improve(known)
	x.addNodes()
	sets := 1 << len(p.Tasks)
	for _, s := range p.GPU.Sizes() {
		var times []mig.Seconds
		for i := range p.Tasks {
			times = append(times, p.Tasks[i].On(s))
		}
		x.took[s] = sums(times)
	}
	for i := range p.Tasks {
		twin := -1
		for j := range i {
			if !slices.ContainsFunc(p.GPU.Sizes(), func(s mig.Slices) bool {
				return p.Tasks[i].On(s) != p.Tasks[j].On(s)
			}) {
				twin = j
			}
		}
		x.twin = append(x.twin, twin)
	}
	for range x.nodes {
		x.all = append(x.all, make([]mig.Seconds, sets))
		x.loaded = append(x.loaded, make([]mig.Seconds, sets))
	}
	return x
}

func (x *search) addNodes() {
	x.leastDestroy = mig.Seconds(math.Inf(1))
	for _, n := range x.p.GPU.Tree() {
		create, destroy := x.p.Model.Cost(n.Profile.Create), x.p.Model.Cost(n.Profile.Destroy)
		x.nodes = append(x.nodes, searchNode{
			in: n.Instance, mask: n.Mask(), create: create, destroy: destroy, children: n.Children,
		})
		x.leastDestroy = min(x.leastDestroy, destroy)
	}
	for i := range x.nodes {
		for j := range x.nodes {
			if x.nodes[i].mask&x.nodes[j].mask != 0 {
				x.nodes[i].overlaps |= 1 << j
			}
		}
	}
	for _, n := range slices.Backward(x.nodes) {
		c := n.children
		if len(c) == 2 && x.nodes[c[0]].in.Profile == x.nodes[c[1]].in.Profile {
			x.exchange = append(x.exchange, [2]int{c[0], c[1]})
		}
	}
}

// leastImprovement is the relative difference from which a makespan counts as shorter. It is far larger than rounding
// and a tenth of the slack of package certificate.
const leastImprovement = 1e-10

// improve records the current sequence as the best one, with its makespan.
func (x *search) improve(makespan mig.Seconds) {
	x.best = makespan
	x.below = makespan - mig.Seconds(leastImprovement*float64(makespan))
	x.bestUses = slices.Clone(x.uses)
}

// takesFirstTwins reports whether the set takes the first of equal tasks left. Other sets give the same schedules.
func (x *search) takesFirstTwins(set, left taskSet) bool {
	for m := set; m != 0; m &= m - 1 {
		j := x.twin[bits.TrailingZeros32(uint32(m))]
		if j >= 0 && (left&^set)>>j&1 != 0 {
			return false
		}
	}
	return true
}

// occupy puts a node on its slices; its tasks end at the given instant.
func (x *search) occupy(s *state, node int, end mig.Seconds) {
	n := &x.nodes[node]
	if x.p.Model == mig.Sequential {
		s.exist |= 1 << node
	} else {
		end += n.destroy
	}
	s.ready.set(n.mask, end)
}

// visit tries every use that can come next, unless no better schedule can follow the state.
func (x *search) visit(s *state) error {
	if s.left == 0 {
		if s.end < x.below {
			x.improve(s.end)
		}
		return nil
	}
	if x.bound(s) >= x.below || x.prune(s) {
		return nil
	}
	x.visits++
	if x.visits%1024 == 1 && x.ctx.Err() != nil {
		return x.ctx.Err()
	}
	for i := range x.nodes {
		if s.exist>>i&1 != 0 {
			continue // its tasks could have run in the use that exists
		}
		needed := s.exist & x.nodes[i].overlaps // must be destroyed
		var last mig.Seconds
		for m := needed; m != 0; m &= m - 1 {
			last = max(last, x.idle(s, bits.TrailingZeros32(uint32(m))))
		}
		var early nodeSet // can be destroyed before the last of them
		for m := s.exist &^ needed; m != 0; m &= m - 1 {
			j := bits.TrailingZeros32(uint32(m))
			if x.idle(s, j) < last {
				early |= 1 << j
			}
		}
		for set := early; ; set = (set - 1) & early {
			if err := x.create(*s, use{destroys: needed | set, node: i}); err != nil {
				return err
			}
			if set == 0 {
				break
			}
		}
	}
	return nil
}

// idle returns when an existing node can be destroyed.
func (x *search) idle(s *state, node int) mig.Seconds { return s.ready[x.nodes[node].in.Start] }

// create destroys and creates the nodes of a use, and tries every set of tasks on its node.
func (x *search) create(s state, u use) error {
	n := &x.nodes[u.node]
	x.destroy(&s, u.destroys)
	begin := max(s.floor, s.ready.latest(n.mask))
	s.floor = begin
	if x.p.Model == mig.Sequential {
		s.floor += n.create
	}
	for v := range s.ready {
		s.ready[v] = max(s.ready[v], s.floor)
	}
	for set := s.left; set != 0; set = (set - 1) & s.left {
		end := begin + n.create + x.took[n.in.Size()][set]
		if end >= x.below || !x.takesFirstTwins(set, s.left) {
			continue
		}
		t := s
		t.left &^= set
		t.end = max(t.end, end)
		x.occupy(&t, u.node, end)
		u.tasks = set
		x.uses = append(x.uses, u)
		err := x.visit(&t)
		x.uses = x.uses[:len(x.uses)-1]
		if err != nil {
			return err
		}
	}
	return nil
}

// destroy destroys nodes in the order in which their tasks end.
func (x *search) destroy(s *state, nodes nodeSet) {
	s.exist &^= nodes
	for nodes != 0 {
		next := bits.TrailingZeros32(uint32(nodes))
		for m := nodes; m != 0; m &= m - 1 {
			j := bits.TrailingZeros32(uint32(m))
			if x.idle(s, j) < x.idle(s, next) {
				next = j
			}
		}
		nodes &^= 1 << next
		s.floor = max(s.floor, x.idle(s, next)) + x.nodes[next].destroy
		s.ready.set(x.nodes[next].mask, s.floor)
	}
}

// prune reports whether the search visited a state in which no instant is later; if not, it records this state.
func (x *search) prune(s *state) bool {
	c := x.canonical(s)
	list := x.visited[c.stateKey]
	for i := range list {
		if list[i].noLater(&c.instants) {
			return true
		}
	}
	x.visited[c.stateKey] = append(list, c.instants)
	return false
}

// noLater reports whether every instant of a is as early as the same instant of b or earlier.
func (a *instants) noLater(b *instants) bool {
	return a.end <= b.end && a.floor <= b.floor && dominates(b.ready[:], a.ready[:])
}

// canonical returns the state with the exchangeable nodes in a fixed order.
func (x *search) canonical(s *state) state {
	c := *s
	for _, pair := range x.exchange {
		a, b := x.nodes[pair[0]].in, x.nodes[pair[1]].in
		o := c
		for v := range a.Profile.Length {
			o.ready[a.Start+v], o.ready[b.Start+v] = c.ready[b.Start+v], c.ready[a.Start+v]
		}
		// Both subtrees have the same number of nodes, in the same order.
		width := pair[1] - pair[0]
		left := nodeSet(1<<width-1) << pair[0]
		right := left << width
		o.exist = c.exist&^(left|right) | c.exist&left<<width | c.exist&right>>width
		if cmp.Or(slices.Compare(o.ready[:], c.ready[:]), cmp.Compare(o.exist, c.exist)) < 0 {
			c = o
		}
	}
	return c
}

// bound returns a lower bound on the makespan of everything that can follow a state.
//
// Wherever the remaining tasks run, the uses of the nodes that cover a slice come one after the other, after the
// instance on the slice is destroyed. Each takes a create and its tasks, and each except the last a destroy. The sum of
// these times over the slice's uses is a chain. The bound is the least, over all ways to place the tasks on the tree,
// of the longest chain among the slices with tasks. It counts one use a node, and the shortest destroy between uses.
//
// all[i][set] is this value for a set of tasks on and below node i, over all its slices; loaded[i][set] is the value
// over only those slices on which tasks are placed. They are minimised separately, which can only lower the bound.
func (x *search) bound(s *state) mig.Seconds {
	free := s.ready
	for m := s.exist; m != 0; m &= m - 1 {
		n := &x.nodes[bits.TrailingZeros32(uint32(m))]
		for v := range free {
			if n.mask>>v&1 != 0 {
				free[v] += n.destroy
			}
		}
	}
	for i := len(x.nodes) - 1; i >= 0; i-- {
		x.boundBelow(i, s.left, &free)
		x.boundWith(i, s.left)
	}
	return max(s.end, x.loaded[0][s.left])
}

// boundBelow computes all and loaded of a node for schedules in which the node itself runs no task.
func (x *search) boundBelow(i int, left taskSet, free *bySlice) {
	n := &x.nodes[i]
	all, loaded := x.all[i], x.loaded[i]
	outside := n.mask
	for _, c := range n.children {
		outside &^= x.nodes[c].mask
	}
	rest := free.latest(outside) // when the slices that no child covers are free
	for set := left; ; set = (set - 1) & left {
		all[set], loaded[set] = 0, 0
		switch c := n.children; {
		case len(c) == 2:
			all[set] = leastSplit(set, x.all[c[0]], x.all[c[1]])
			loaded[set] = leastSplit(set, x.loaded[c[0]], x.loaded[c[1]])
		case len(c) == 1:
			all[set], loaded[set] = x.all[c[0]][set], x.loaded[c[0]][set]
		case set != 0:
			all[set], loaded[set] = mig.Seconds(math.Inf(1)), mig.Seconds(math.Inf(1))
		}
		all[set] = max(all[set], rest)
		if set == 0 {
			return
		}
	}
}

// boundWith lowers all and loaded of a node for schedules in which the node runs some tasks of the set. Larger sets
// come first, because they read the values of [search.boundBelow] of their subsets.
func (x *search) boundWith(i int, left taskSet) {
	n := &x.nodes[i]
	all, loaded, took := x.all[i], x.loaded[i], x.took[n.in.Size()]
	for set := left; set != 0; set = (set - 1) & left {
		least := all[0] + n.create + took[set]
		for here := (set - 1) & set; here != 0; here = (here - 1) & set {
			below := max(all[set&^here], loaded[set&^here]+x.leastDestroy)
			least = min(least, below+n.create+took[here])
		}
		all[set], loaded[set] = min(all[set], least), min(loaded[set], least)
	}
}

// leastSplit returns the least max(left[one part], right[other part]) over all divisions of a set into two parts.
func leastSplit(set taskSet, left, right []mig.Seconds) mig.Seconds {
	least := max(left[set], right[0])
	for l := set; l != 0; {
		l = (l - 1) & set
		least = min(least, max(left[l], right[set&^l]))
	}
	return least
}

// schedule returns the schedule of the best sequence.
func (x *search) schedule() schedule.Schedule {
	s := schedule.Schedule{GPU: x.p.GPU, Algorithm: "exact", Model: x.p.Model}
	// A busy node exists until its tasks end. exist is in the order of these ends.
	type busy struct {
		node int
		end  mig.Seconds
	}
	var exist []busy
	var channel mig.Seconds
	var free bySlice
	operate := func(op schedule.Op, node int, begin, takes mig.Seconds) mig.Seconds {
		n := &x.nodes[node]
		begin = max(begin, free.latest(n.mask))
		if x.p.Model == mig.Sequential {
			begin = max(begin, channel)
		}
		channel = begin + takes
		free.set(n.mask, channel)
		s.Operations = append(s.Operations, schedule.Operation{Op: op, Instance: n.in, Start: begin, End: channel})
		return channel
	}
	run := func(node int, begin mig.Seconds, set taskSet) {
		in := x.nodes[node].in
		for m := set; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(uint32(m))
			end := begin + x.p.Tasks[i].On(in.Size())
			s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: in, Start: begin, End: end})
			begin = end
		}
		exist = append(exist, busy{node, begin})
		slices.SortStableFunc(exist, func(a, b busy) int { return cmp.Compare(a.end, b.end) })
	}
	for _, u := range x.bestUses {
		n := &x.nodes[u.node]
		exist = slices.DeleteFunc(exist, func(b busy) bool {
			gone := (u.destroys|n.overlaps)>>b.node&1 != 0
			if gone {
				operate(schedule.Destroy, b.node, b.end, x.nodes[b.node].destroy)
			}
			return gone
		})
		run(u.node, operate(schedule.Create, u.node, 0, n.create), u.tasks)
	}
	return s
}
