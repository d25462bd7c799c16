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

// ticks are units of time, a power of two of seconds so small that the limit of the search has at least 2^47 of them.
// Times are rounded down, so that sums are exact and the bound remains valid.
type ticks int64

const (
	tickBits = 48
	// beyond replaces every longer time. An impossible assignment has a value above each limit: beyond, or about never.
	beyond = ticks(2) << tickBits
	never  = ticks(1) << 60
)

// chains returns the chains term of [Prove], or the chain-orders term, in seconds, or atMost if that is less. lower
// is the bound of the other terms. It returns 0 for more than [MaxChainTasks] tasks, if lower reaches atMost, and once
// ctx is done.
//
// Package certificate defines the term, L(v) and delay(v), and proves it.
//
// Dynamic programming over sets of tasks, from the leaves up, finds the least value: once with all destroys, for a used
// ancestor, and once without the topmost destroy. Joining two subtrees tries every split of each set, 3^n steps for n
// tasks. It skips sets that cannot be part of an assignment within a limit (see [band]), so a low limit is tried first.
func (s *sliceWeights) chains(ctx context.Context, lower, atMost mig.Seconds, orders bool) mig.Seconds {
	p := s.problem
	if len(p.Tasks) > MaxChainTasks || lower >= atMost {
		return 0
	}
	// The first limit, 5 % above the other terms, is enough for most batches. Higher limits are slower.
	for growth := mig.Seconds(1.05); ; growth *= growth {
		limit := min(atMost, mig.Seconds(lower*growth))
		c := newChainSearch(ctx, p, s.weights, limit)
		c.orders = orders
		bound, found := c.solve()
		if ctx.Err() != nil {
			return 0 // the tables of solve are incomplete
		}
		if found || limit == atMost {
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
	// orders selects the chain-orders term.
	orders bool
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
	// gross includes all destroys, net all but the longest of each chain. A nil net means gross less drop, and 0 for
	// the empty set.
	gross, net []ticks
	drop       ticks
}

// A chainKind selects one of the [chainTables].
type chainKind int

const (
	// gross is for subtrees below a node with tasks.
	gross chainKind = iota
	// net is for the others.
	net
)

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

// ticks returns a time in ticks, rounded down, at most beyond.
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
		for ; idle > 1; idle /= 2 {
			if idle%2 == 1 {
				addGPU(t)
			}
			t = c.merge(t, t, 0, nil, 0)
		}
		addGPU(t)
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

// add adds an instance that is busy until an instant.
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

// subtree returns the tables of a node and the nodes below it.
func (c *chainSearch) subtree(v int, s *chainStart) chainTables {
	free := s.busy == nil || !s.occupied[v]
	shape := shapes(c.problem.GPU)[v]
	t, known := c.empty[shape]
	if known && free {
		return t
	}
	t = c.below(v, s, 0)
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
	delay, bands := s.delay(c.problem, v, &c.create), c.bands[shapes(c.problem.GPU)[v]]
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

// delay returns the time for which one of two used subtrees below a node waits for the other. create is by size.
func (s *chainStart) delay(p *algo.Problem, v int, create *[mig.MaxSize + 1]ticks) ticks {
	if p.Model != mig.Sequential {
		return 0
	}
	tree := p.GPU.Tree()
	least := beyond
	for u := range tree {
		if !isBelow(tree, u, v) {
			continue
		}
		if s.busy != nil && s.occupied[u] {
			return 0
		}
		size := tree[u].Size()
		if fitsSome(p.Tasks, size) {
			least = min(least, create[size])
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
