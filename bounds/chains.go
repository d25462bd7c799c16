package bounds

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// MaxChainTasks is the largest batch for which [Prove] computes chains. The time grows threefold with each task.
const MaxChainTasks = 18

// ticks are units of time, a power of two of seconds so small that the limit of the search has more than 2^47 of them.
// Times are rounded down, so that sums are exact and the bound remains valid.
type ticks int64

const (
	tickBits = 48
	// beyond replaces every longer time. The chain of an impossible assignment has the value never.
	beyond = ticks(2) << tickBits
	never  = ticks(1) << 60
)

// chains returns the chains term of [Prove] in seconds, or atMost if that is less. weights are the slice weights, and
// lower is the bound of the other terms. It returns 0 for more than [MaxChainTasks] tasks, and if lower reaches atMost.
//
// Package certificate defines the term, L(v) and delay(v), and proves it.
//
// Dynamic programming over sets of tasks, from the leaves up, finds the least value: once with all destroys, for a used
// ancestor, and once without the topmost destroy. Joining two subtrees tries every split of each set, 3^n steps for n
// tasks. It skips sets that cannot be part of an assignment within a limit (see [band]), so a low limit is tried first.
func chains(ctx context.Context, p *algo.Problem, weights []float64, lower, atMost mig.Seconds) mig.Seconds {
	if len(p.Tasks) > MaxChainTasks || lower >= atMost {
		return 0
	}
	// The first limit, 5 % above the other terms, is enough for most batches. Higher limits are slower.
	for growth := mig.Seconds(1.05); ; growth *= growth {
		limit := min(atMost, mig.Seconds(lower*growth))
		bound, found := newChainSearch(ctx, p, weights, limit).solve()
		if found || limit == atMost || ctx.Err() != nil {
			return bound
		}
		lower = limit
	}
}

// A chainSearch computes the chains term up to a limit.
type chainSearch struct {
	ctx     context.Context
	problem *algo.Problem
	limit   mig.Seconds
	tick    mig.Seconds
	all     int // the set of all tasks
	// times are by size and task, create and destroy by size.
	times           [mig.MaxSize + 1][]ticks
	create, destroy [mig.MaxSize + 1]ticks
	// bands are by shape of the nodes with two children; see [shapes].
	bands map[int][]band
	// empty holds the tables of subtrees that are empty at the start, by shape of the topmost node. under holds the
	// tables of the nodes below that node, and below the root.
	empty, under map[int]chainTables
	arena        *arena
}

// chainTables holds, by set of tasks, the longest chain within a subtree for the best assignment of the set.
type chainTables struct {
	// gross includes all destroys, net all but the longest of each chain. A nil net means gross less drop, 0 if empty.
	gross, net []ticks
	drop       ticks
}

func newChainSearch(ctx context.Context, p *algo.Problem, weights []float64, limit mig.Seconds) *chainSearch {
	_, exponent := math.Frexp(float64(limit))
	tick := mig.Seconds(math.Ldexp(1, exponent-tickBits))
	c := &chainSearch{
		ctx: ctx, problem: p, limit: limit, tick: tick, all: 1<<len(p.Tasks) - 1,
		empty: map[int]chainTables{}, under: map[int]chainTables{},
	}
	destroys := leastDestroys(p)
	for _, s := range p.GPU.Sizes() {
		for i := range p.Tasks {
			c.times[s] = append(c.times[s], c.ticks(p.Tasks[i].On(s)))
		}
		c.create[s] = c.ticks(p.Model.Cost(p.GPU.Profile(s).Create))
		c.destroy[s] = c.ticks(destroys[s])
	}
	c.bands = newBands(p, weights, limit)
	return c
}

func (c *chainSearch) ticks(t mig.Seconds) ticks {
	return ticks(min(t/c.tick, mig.Seconds(beyond)))
}

// solve returns the chains term and true, or the limit and false when that is less.
func (c *chainSearch) solve() (mig.Seconds, bool) {
	c.arena = arenas.Get().(*arena)
	defer arenas.Put(c.arena)
	c.arena.reset(c.all + 1)

	starts := c.starts()
	var merged []ticks // the table of the GPUs so far
	addGPU := func(t []ticks) {
		if merged == nil {
			merged = t
		} else {
			merged = c.merge(merged, t, 0, nil, 0)
		}
	}
	from := 0
	if len(starts) == 1 {
		from = c.all // the only entry that is read
	}
	idle := 0
	for i := range starts {
		if starts[i].busy == nil {
			idle++
		} else {
			addGPU(c.root(&starts[i], from))
		}
	}
	// More GPUs than tasks are useless. Doubling merges them in few steps.
	idle = min(idle, len(c.problem.Tasks))
	if idle > 0 {
		t := c.root(&chainStart{}, from)
		for ; ; t = c.merge(t, t, 0, nil, 0) {
			if idle&1 != 0 {
				addGPU(t)
			}
			idle >>= 1
			if idle == 0 {
				break
			}
		}
	}
	best := merged[c.all]
	if len(starts) == 1 && starts[0].busy == nil {
		best = c.heads(best)
	}
	if best < c.ticks(c.limit) {
		return mig.Seconds(best) * c.tick, true
	}
	return c.limit, false
}

// starts returns the start of each GPU.
func (c *chainSearch) starts() []chainStart {
	out := make([]chainStart, c.problem.GPUs())
	for _, e := range c.problem.Start {
		out[e.GPU].add(c.problem.GPU, e.Instance, c.ticks(e.BusyUntil))
	}
	return out
}

// A chainStart describes the instances of a GPU at the start; the zero value is an empty GPU.
type chainStart struct {
	// busy is, for each node of the tree, the time until which its instance is busy, or notThere.
	busy []ticks
	// occupied reports, for each node, whether an instance exists in its subtree.
	occupied []bool
}

const notThere ticks = -1

func (s *chainStart) add(g *mig.GPU, in mig.Instance, until ticks) {
	tree := g.Tree()
	if s.busy == nil {
		s.busy = slices.Repeat([]ticks{notThere}, len(tree))
		s.occupied = make([]bool, len(tree))
	}
	for v := range tree {
		if sameNode(in, tree[v].Instance) {
			s.busy[v] = until
			for ; v >= 0; v = tree[v].Parent {
				s.occupied[v] = true
			}
			return
		}
	}
}

// root returns the net table of a GPU. Only the entries from set from on are valid.
func (c *chainSearch) root(s *chainStart, from int) []ticks {
	if s.busy != nil && s.busy[0] != notThere {
		from = 0 // if the root runs some of a set's tasks, the table of the others is needed
	}
	t := c.below(0, s, from)
	c.under[0] = t
	c.use(0, s, &t)
	return c.net(t)
}

func (c *chainSearch) subtree(v int, s *chainStart) chainTables {
	free := s.busy == nil || !s.occupied[v]
	shape := shapes(c.problem.GPU)[v]
	if t, ok := c.empty[shape]; ok && free {
		return t
	}
	t := c.below(v, s, 0)
	under := t
	c.use(v, s, &t)
	if free {
		c.under[shape], c.empty[shape] = under, t
	}
	return t
}

// below returns the tables of the nodes below a node. Only the entries of net from set from on are valid.
func (c *chainSearch) below(v int, s *chainStart, from int) chainTables {
	node := &c.problem.GPU.Tree()[v]
	switch len(node.Children) {
	case 0:
		t := c.arena.table()
		for set := range t {
			t[set] = never
		}
		t[0] = 0
		return chainTables{gross: t, drop: c.destroy[node.Size()]}
	case 1:
		return c.subtree(node.Children[0], s)
	}
	a, b := c.subtree(node.Children[0], s), c.subtree(node.Children[1], s)
	delay, bands := c.delay(v, s), c.bands[shapes(c.problem.GPU)[v]]
	t := chainTables{gross: c.merge(a.gross, b.gross, delay, bands, 0), drop: a.drop}
	if a.net != nil || b.net != nil || a.drop != b.drop {
		t.net = c.merge(c.net(a), c.net(b), delay, bands, from)
	}
	return t
}

// use changes the tables of the nodes below v to tables in which v may also run tasks.
func (c *chainSearch) use(v int, s *chainStart, t *chainTables) {
	size := c.problem.GPU.Tree()[v].Size()
	create, destroy := c.create[size], c.destroy[size]
	if s.busy != nil && s.busy[v] != notThere {
		busy := s.busy[v]
		net := slices.Clone(c.net(*t))
		for set := 1; set < len(net); set++ {
			net[set] += destroy
		}
		c.load(net, size)
		for set := 1; set < len(net); set++ {
			net[set] += busy
		}
		gross := slices.Clone(t.gross)
		c.load(gross, size)
		for set := range gross {
			gross[set] += busy + destroy
		}
		*t = chainTables{gross: gross, net: net}
		return
	}
	loaded := c.arena.table()
	copy(loaded, t.gross)
	c.load(loaded, size)
	uniform := t.net == nil && t.drop == destroy
	net, gross := c.net(*t), c.arena.table()
	for set, l := range loaded {
		gross[set] = min(t.gross[set], l+create+destroy)
	}
	if uniform {
		*t = chainTables{gross: gross, drop: destroy}
		return
	}
	for set, l := range loaded {
		loaded[set] = min(net[set], l+create)
	}
	*t = chainTables{gross: gross, net: loaded}
}

// load lowers each entry of a table by letting an instance of a size run some of the tasks of the set.
func (c *chainSearch) load(t []ticks, size mig.Slices) {
	for i, time := range c.times[size] {
		bit := 1 << i
		for high := bit; high < len(t); high += 2 * bit {
			with, without := t[high:high+bit], t[high-bit:high]
			for k := range with {
				with[k] = min(with[k], without[k]+time)
			}
		}
	}
}

// net returns the net table, which it computes if t.net is nil.
func (c *chainSearch) net(t chainTables) []ticks {
	if t.net != nil {
		return t.net
	}
	net := c.arena.table()
	for set, g := range t.gross {
		net[set] = g - t.drop
	}
	net[0] = 0
	return net
}

// delay returns the time for which one of two used subtrees below a node waits for the other.
func (c *chainSearch) delay(v int, s *chainStart) ticks {
	if c.problem.Model != mig.Sequential {
		return 0
	}
	tree := c.problem.GPU.Tree()
	least := beyond
	for u := range tree {
		if !isBelow(tree, u, v) {
			continue
		}
		if s.busy != nil && s.occupied[u] {
			return 0
		}
		size := tree[u].Size()
		if fitsSome(c.problem.Tasks, size) {
			least = min(least, c.create[size])
		}
	}
	return least
}

// merge returns the table of two disjoint subtrees. Entries before from, and all once ctx is done, are invalid.
func (c *chainSearch) merge(a, b []ticks, delay ticks, bands []band, from int) []ticks {
	out := c.arena.table()
	out[0] = max(a[0], b[0])
	symmetric := &a[0] == &b[0]
	for set := max(from, 1); set < len(out); set++ {
		if set%1024 == 0 && c.ctx.Err() != nil {
			break
		}
		if bands != nil && !slices.ContainsFunc(bands, func(b band) bool { return b.contains(set) }) {
			out[set] = never
			continue
		}
		best := min(max(a[set], b[0]), max(a[0], b[set]))
		last := 0
		if symmetric {
			// Sets come in descending order: those with the highest task come first.
			last = 1<<(bits.Len(uint(set))-1) - 1
		}
		for part := (set - 1) & set; part > last; part = (part - 1) & set {
			x, y := a[part], b[set^part]
			best = min(best, max(x, y, min(x, y)+delay))
		}
		out[set] = best
	}
	return out
}

// shapes gives each node of a model's tree the first node whose subtree has the same shape.
var shapes = mig.Derived(func(g *mig.GPU) []int {
	tree := g.Tree()
	var out []int
	for v := range tree {
		out = append(out, slices.IndexFunc(tree, func(n mig.Node) bool { return sameShape(tree, n, tree[v]) }))
	}
	return out
})

func sameShape(tree []mig.Node, a, b mig.Node) bool {
	return a.Profile == b.Profile && slices.EqualFunc(a.Children, b.Children, func(i, j int) bool {
		return tree[i].Start-a.Start == tree[j].Start-b.Start && sameShape(tree, tree[i], tree[j])
	})
}

// A band contains the sets of tasks that the nodes below a node can run within the limit, judged by slice weights. It
// excludes sets that are too much for the slices below the node, that leave too much for the other slices, or that
// waste too much. Their chains exceed the limit, because the charges add up to the weighted loads.
type band []sumLimit

// A sumLimit holds for sets of tasks if the values of their tasks add up to at most a limit.
type sumLimit struct {
	// low has the sums of the sets of the first lowTasks tasks, high the sums of the sets of the other tasks.
	low, high []float64
	most      float64
}

const lowTasks = MaxChainTasks / 2

func newSumLimit(values []float64, most float64) sumLimit {
	k := min(lowTasks, len(values))
	return sumLimit{sums(values[:k]), sums(values[k:]), most}
}

func (b band) contains(set int) bool {
	for i := range b {
		limit := &b[i]
		if limit.low[set&(1<<lowTasks-1)]+limit.high[set>>lowTasks] > limit.most {
			return false
		}
	}
	return true
}

// newBands returns the bands of the nodes with two children, by shape.
func newBands(p *algo.Problem, weights []float64, limit mig.Seconds) map[int][]band {
	b := bandMaker{problem: p, weights: weights, limit: limit, room: rooms(p, weights, limit)}
	for _, r := range b.room {
		b.all += r
	}
	b.all = float64(b.all * float64(p.GPUs()))
	b.impossible = float64(2*b.all) + 1
	bands := map[int][]band{}
	for v, node := range p.GPU.Tree() {
		if len(node.Children) > 1 {
			shape := shapes(p.GPU)[v]
			bands[shape] = append(bands[shape], b.band(v))
		}
	}
	return bands
}

// rooms returns the weighted time of each slice up to the limit. A slice runs no task before a create ends.
func rooms(p *algo.Problem, weights []float64, limit mig.Seconds) []float64 {
	room := make([]float64, len(weights))
	for l, w := range weights {
		dead := limit
		for _, n := range p.GPU.Tree() {
			if n.Mask()>>l&1 == 0 || !fitsSome(p.Tasks, n.Size()) {
				continue
			}
			if p.Model == mig.Free || len(p.Start) > 0 {
				dead = 0
			}
			dead = min(dead, n.Profile.Create)
		}
		room[l] = float64(w*float64(limit-dead)) * (1 + rounding)
	}
	return room
}

// A bandMaker computes the bands of nodes.
type bandMaker struct {
	problem *algo.Problem
	weights []float64
	limit   mig.Seconds
	// room is by slice of a GPU; all is the room of all GPUs.
	room []float64
	all  float64
	// impossible is a charge that no band has room for.
	impossible float64
}

// band returns the band of node v.
func (b *bandMaker) band(v int) band {
	p, tree := b.problem, b.problem.GPU.Tree()
	var below float64
	others := slices.Clone(b.weights)
	for _, l := range newCover(p.GPU, tree[v].Instance) {
		below += b.room[l]
		others[l] = 0
	}
	n, several := len(p.Tasks), p.GPUs() > 1
	inside, kept, wasted := make([]float64, n), make([]float64, n), make([]float64, n)
	mostKept, mostWasted := b.all-below, b.all
	for i := range p.Tasks {
		in, out, outOthers := b.impossible, b.impossible, b.impossible
		for u := range tree {
			charge, under := b.charge(u, i, b.weights), isBelow(tree, u, v)
			if under {
				in = min(in, charge)
			} else {
				outOthers = min(outOthers, b.charge(u, i, others))
			}
			if !under || several {
				out = min(out, charge)
			}
			if several {
				outOthers = min(outOthers, charge)
			}
		}
		inside[i], kept[i], wasted[i] = in, -outOthers, in-out
		mostKept -= outOthers
		mostWasted -= out
	}
	return band{newSumLimit(inside, below), newSumLimit(kept, mostKept), newSumLimit(wasted, mostWasted)}
}

// charge returns the weighted time of task i on node u, at most b.impossible.
func (b *bandMaker) charge(u, i int, weights []float64) float64 {
	p := b.problem
	node := &p.GPU.Tree()[u]
	t := float64(p.Tasks[i].On(node.Size()))
	if t > float64(b.limit) {
		return b.impossible
	}
	return min(b.impossible, float64(newCover(p.GPU, node.Instance).weight(weights)*t))
}

func fitsSome(tasks task.Batch, size mig.Slices) bool {
	return slices.ContainsFunc(tasks, func(t task.Task) bool { return t.Fits(size) })
}

// isBelow reports whether node u lies below node v.
func isBelow(tree []mig.Node, u, v int) bool {
	for u > v {
		u = tree[u].Parent
		if u == v {
			return true
		}
	}
	return false
}

// An arena lends tables of one length. reset takes all of them back.
type arena struct {
	size, used int
	tables     [][]ticks
}

var arenas = sync.Pool{New: func() any { return new(arena) }}

func (a *arena) reset(size int) { a.size, a.used = size, 0 }

// table returns a table with arbitrary content.
func (a *arena) table() []ticks {
	if a.used == len(a.tables) {
		a.tables = append(a.tables, nil)
	}
	t := &a.tables[a.used]
	if cap(*t) < a.size {
		*t = make([]ticks, a.size)
	}
	a.used++
	return (*t)[:a.size]
}
