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
	// subtrees holds the tables of subtrees, by shape of the topmost node. under holds the tables of the nodes below
	// that node.
	subtrees, under map[int]chainTables
	arena           *arena
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
		subtrees: map[int]chainTables{}, under: map[int]chainTables{},
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

	gpus, root := c.problem.GPUs(), c.net(c.subtree(0))
	merged := root // the table of the GPUs so far
	// More GPUs than tasks are useless. Doubling merges them in few steps.
	count := uint(min(gpus, len(c.problem.Tasks)))
	for bit := bits.Len(count) - 2; bit >= 0; bit-- {
		merged = c.merge(merged, merged, 0, nil, 0)
		if count>>bit&1 != 0 {
			merged = c.merge(merged, root, 0, nil, 0)
		}
	}
	best := merged[c.all]
	if gpus == 1 {
		best = c.heads(best)
	}
	if best < c.ticks(c.limit) {
		return mig.Seconds(best) * c.tick, true
	}
	return c.limit, false
}

// subtree returns the tables of a node and the nodes below it.
func (c *chainSearch) subtree(v int) chainTables {
	shape := shapes(c.problem.GPU)[v]
	t, known := c.subtrees[shape]
	if !known {
		c.under[shape] = c.below(v)
		t = c.use(v, c.under[shape])
		c.subtrees[shape] = t
	}
	return t
}

// below returns the tables of the nodes below a node. On one GPU, the net table of the root has only its last entry.
func (c *chainSearch) below(v int) chainTables {
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
		return c.subtree(node.Children[0])
	}
	a, b := c.subtree(node.Children[0]), c.subtree(node.Children[1])
	wait, bands := delay(c.problem, v, &c.create), c.bands[shapes(c.problem.GPU)[v]]
	t := chainTables{gross: c.merge(a.gross, b.gross, wait, bands, 0), drop: a.drop}
	if a.net != nil || b.net != nil || a.drop != b.drop {
		from := 0
		if v == 0 && c.problem.GPUs() == 1 {
			from = c.all
		}
		t.net = c.merge(c.net(a), c.net(b), wait, bands, from)
	}
	return t
}

// use returns the tables in which node v may also run tasks, from the tables of the nodes below it.
func (c *chainSearch) use(v int, t chainTables) chainTables {
	size := c.problem.GPU.Tree()[v].Size()
	create, destroy := c.create[size], c.destroy[size]
	loaded := c.arena.table()
	copy(loaded, t.gross)
	c.load(loaded, size)
	uniform := t.net == nil && t.drop == destroy
	net, gross := c.net(t), c.arena.table()
	for set, l := range loaded {
		gross[set] = min(t.gross[set], l+create+destroy)
	}
	if uniform {
		return chainTables{gross: gross, drop: destroy}
	}
	for set, l := range loaded {
		loaded[set] = min(net[set], l+create)
	}
	return chainTables{gross: gross, net: loaded}
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
func delay(p *algo.Problem, v int, create *[mig.MaxSize + 1]ticks) ticks {
	if p.Model != mig.Sequential {
		return 0
	}
	tree := p.GPU.Tree()
	least := beyond
	for u := range tree {
		size := tree[u].Size()
		if isBelow(tree, u, v) && fitsSome(p.Tasks, size) {
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
