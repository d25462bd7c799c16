package env

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"miglab/harness/mig"
)

// Endgame makes the environment place the last tasks of each batch together, so that the
// last one ends as early as possible. Once no more than last tasks are left, one action at a
// time is allowed. last is at most 10. Releases that differ delay tasks but do not change
// the plan.
func (o *Own) Endgame(last int) *Own {
	if last > maxEndgame {
		panic(fmt.Sprintf("env: an endgame of %d tasks, want at most %d", last, maxEndgame))
	}
	o.last, o.endgame = last, newEndgame(o.layout, o.device.model)
	return o
}

// A planned is a task, by its index in the problem, and its instance, as numbered on the
// device.
type planned struct{ index, instance int }

// next returns the next action of the endgame: of the planned tasks, the one that can start
// first. Of several, it is the one with the most work on its slices. Tasks within a larger
// instance wait for its own.
func (o *Own) next() (action int) {
	real := o.layout.real[o.view.renaming]
	if len(o.planned) == 0 {
		o.endgame.plan(o)
		for j, v := range o.endgame.place {
			o.planned = append(o.planned, planned{o.tasks[j].index, real[v]})
		}
	}
	masks := o.device.masks
	first, most := math.Inf(1), 0.0
	for _, p := range o.planned {
		waits, work := false, 0.0
		for _, q := range o.planned {
			both := masks[p.instance] & masks[q.instance]
			waits = waits || q.instance != p.instance && both == masks[p.instance]
			if both != 0 {
				work += o.tasks[o.indexOf(q)].Times[o.device.instances[q.instance].Size()]
			}
		}
		v := slices.Index(real, p.instance)
		start := o.view.start[v]
		if !waits && (start < first || start == first && work > most) {
			first, most = start, work
			action = o.indexOf(p)*len(o.layout.nodes) + v
		}
	}
	return action
}

// indexOf returns the place of a planned task in tasks.
func (o *Own) indexOf(p planned) int {
	return slices.IndexFunc(o.tasks, func(t ownTask) bool { return t.index == p.index })
}

// Undecided is an [Own] with an endgame, for training: its episodes have only the decisions
// before the endgame, and the reward of the last one includes those of the endgame. The
// source must draw more tasks than the endgame has.
type Undecided struct{ *Own }

// Step implements [Env].
func (u Undecided) Step(action int) (reward float32, done bool) {
	reward, done = u.Own.Step(action)
	for len(u.tasks) <= u.last && !done {
		var r float32
		r, done = u.Own.Step(u.next())
		reward += r
	}
	return reward, done
}

// maxEndgame is the largest number of tasks that an [endgame] places.
const maxEndgame = 10

// Times of the endgame are whole ticks, so that ties are the same on every machine.
const (
	// horizon is later than every sensible completion.
	horizon int32 = 1 << 29
	// never is a time that no completion has. The sum of two of them does not overflow.
	never int32 = 1<<30 - 1
	// roundings is more than the ticks by which rounding makes a plan longer: at most half a tick
	// for each task and operation.
	roundings int32 = 3 * maxEndgame
)

// bySet holds a value for each set of tasks.
type bySet [1 << maxEndgame]int32

// An endgame places the last few tasks of a batch together, from the state that the
// decisions before have left, so that the last task ends as early as possible. It is the
// dynamic programme of algorithm treedp, for a GPU at work: an instance is created once its
// slices are free, runs a set of tasks, and is only split afterwards.
//
// The table of a region holds, by set of tasks, when the region has run the set. It is the
// earlier of two values: without the node of the region itself, the best division of the
// set between the node's children; with it, the best division between the node and its
// children afterwards.
type endgame struct {
	layout     *layout
	sequential bool
	children   [][]int // by node: none or two

	// The state, in ticks since the first slice is free. By node: the times of operations,
	// and when the first task could start.
	create, destroy, start []int32
	free                   [8]int32 // by compute slice
	scale                  float64  // ticks a second
	// together says that all slices are free at once, so that instances wait for each
	// other's creation.
	together bool

	k    int
	all  []uint16
	time [][maxEndgame]int32 // by size class and task
	area [1 << maxEndgame]int64
	// longest is, by size class and set, the longest of the tasks, each on the best instance of
	// this class and smaller ones.
	longest []bySet
	// limit is a time that is exceeded by parts of plans that are not considered, and slack is
	// the slice-ticks that a plan within the limit can waste. Any part of a plan that wastes
	// more is not considered either.
	limit int32
	slack int64

	// after is by size class: a region from the moment on when a larger instance is gone.
	// first is by node: a region from now on.
	after, first []region
	// place is, by task, its node.
	place []int
}

type region struct {
	// sets are those that are small enough, ascending; others are never run here. whole are
	// those of them that are also large enough to be all that is run here.
	sets, whole []uint16
	// width is the number of compute slices, and free the sum of the instants from which on
	// the region has them.
	width, free int64
	// apart are the ends without the node itself, own those with it, best the earlier ones.
	apart, own, best bySet
	// heads are how long the channel is busy until each part of the best plan has its first
	// instance; apartHeads are the same for apart.
	heads, apartHeads bySet
}

func newEndgame(l *layout, model mig.Reconfiguration) *endgame {
	n := len(l.nodes)
	e := &endgame{
		layout: l, sequential: model == mig.Sequential, children: make([][]int, n),
		create: make([]int32, n), destroy: make([]int32, n), start: make([]int32, n),
		time: make([][maxEndgame]int32, len(l.sizes)), longest: make([]bySet, len(l.sizes)),
		after: make([]region, len(l.sizes)), first: make([]region, n),
	}
	for i := range l.nodes {
		if p := l.parent(l.nodes[i]); p >= 0 {
			e.children[p] = append(e.children[p], i)
		}
	}
	return e
}

// plan places the tasks that o has left and sets place.
func (e *endgame) plan(o *Own) {
	e.load(o)
	// Tight limits first: they leave few sets to consider. Most states have a plan within
	// the first.
	bound := e.ticks(o.bound - o.view.first)
	found := false
	for _, slack := range slacks {
		if found = e.within(min(horizon, bound+e.ticks(slack*o.unit)), o.view.exists); found {
			break
		}
	}
	if !found && !e.within(horizon, o.view.exists) {
		// Every time is rounded, so that a plan that leaves no slice idle may end after the horizon.
		e.within(horizon+roundings, o.view.exists)
	}
	e.place = slices.Grow(e.place[:0], e.k)[:e.k]
	e.traceFirst(0, 1<<e.k-1)
}

// slacks are the limits that are tried one after the other, above the lower bound and in units
// of the batch. The first holds for most states of the trained agent.
var slacks = [...]float64{0.06, 0.12, 0.3}

// within looks for the best plan that ends by the limit, and reports whether there is one.
func (e *endgame) within(limit int32, exists uint32) bool {
	e.limit = limit
	e.slack = e.room(0) - e.area[1<<e.k-1]
	return e.slack >= 0 && e.fill(exists)
}

func (e *endgame) ticks(seconds float64) int32 {
	return int32(math.Round(min(seconds*e.scale, float64(never))))
}

// load reads the state.
func (e *endgame) load(o *Own) {
	l, v := e.layout, &o.view
	e.k = len(o.tasks)
	real := l.real[v.renaming]
	latest, cost := 0.0, 0.0
	for i := range l.nodes {
		latest = max(latest, v.start[i]-v.first)
		cost = max(cost, o.device.create[real[i]]+o.device.destroy[real[i]])
	}
	for j := range o.tasks {
		longest := 0.0
		for _, s := range l.sizes {
			if d := o.tasks[j].Times[s]; !math.IsInf(d, 1) {
				longest = max(longest, d)
			}
		}
		latest += longest + cost
	}
	e.scale = float64(horizon) / (latest + cost)
	e.together = e.sequential
	for s := range l.width {
		e.together = e.together && v.free[s] == v.first
		e.free[s] = e.ticks(v.free[s] - v.first)
	}
	for i := range l.nodes {
		e.create[i], e.destroy[i] = e.ticks(o.device.create[real[i]]), e.ticks(o.device.destroy[real[i]])
		e.start[i] = e.ticks(v.start[i] - v.first)
	}
	for j := range o.tasks {
		least := int64(math.MaxInt64)
		for c, s := range l.sizes {
			t := e.ticks(o.tasks[j].Times[s])
			e.time[c][j] = t
			if t < never {
				least = min(least, int64(s)*int64(t))
			}
		}
		for set := range 1 << j {
			e.area[1<<j|set] = e.area[set] + least
		}
		shortest := never
		for c := range l.sizes {
			shortest = min(shortest, e.time[c][j])
			longest := &e.longest[c]
			for set := range 1 << j {
				longest[1<<j|set] = max(longest[set], shortest)
			}
		}
	}
}

// fill computes all tables. It returns false if no plan is within the limit.
func (e *endgame) fill(exists uint32) bool {
	l := e.layout
	all := e.allSets()
	for v := range l.nodes {
		r, of := &e.first[v], all
		if p := l.parent(l.nodes[v]); p >= 0 {
			of = e.first[p].sets
		}
		room := e.room(v)
		r.width, r.free = int64(l.nodes[v].width), int64(l.nodes[v].width)*int64(e.limit)-room
		e.choose(r, of, room)
		r.whole = e.atLeast(r.whole[:0], r.sets, room-e.slack)
	}
	needed := e.needed()
	for class, size := range l.sizes {
		if needed>>class&1 == 0 {
			continue
		}
		// Regions of a size differ only in their place. The children of a node come after it
		// in the list of nodes, and are smaller.
		v, earliest := 0, e.limit
		for i := range l.nodes {
			if l.nodes[i].class == class {
				v = i
				earliest = min(earliest, e.ready(i))
			}
		}
		r := &e.after[class]
		r.width, r.free = int64(size), 0
		left := e.limit - earliest
		e.choose(r, all, int64(size)*int64(left))
		r.whole = r.sets
		e.tables(r, r, v, e.create[v], left, e.sequential, e.create[v])
	}
	for v := len(l.nodes) - 1; v >= 0; v-- {
		cost := e.create[v]
		if exists>>v&1 == 1 {
			cost = 0
		}
		e.tables(&e.first[v], e.afterOf(v), v, e.start[v], e.limit, e.together, cost)
	}
	return e.first[0].best[1<<e.k-1] < never
}

// wastes reports whether a region that has run a set at the given end has wasted too much.
func (e *endgame) wastes(r *region, end int32, set uint16) bool {
	return r.width*int64(end)-r.free-e.area[set] > e.slack
}

// needed returns the size classes, as bits, of the instances that can be split.
func (e *endgame) needed() (classes int) {
	l := e.layout
	for v := range l.nodes {
		class := l.nodes[v].class
		if c := e.children[v]; c != nil {
			if classes>>class&1 == 1 || e.start[v] < e.limit && !e.wastes(&e.first[v], e.start[v], 0) {
				classes |= 1<<class | 1<<l.nodes[c[0]].class | 1<<l.nodes[c[1]].class
			}
		}
	}
	return classes
}

func (e *endgame) afterOf(v int) *region { return &e.after[e.layout.nodes[v].class] }

// ready returns when all slices of a node are free.
func (e *endgame) ready(v int) int32 {
	n := &e.layout.nodes[v]
	return slices.Max(e.free[n.first : n.first+n.width])
}

// room returns the slice-ticks of a node's slices until the limit.
func (e *endgame) room(v int) int64 {
	n := &e.layout.nodes[v]
	sum := int64(0)
	for _, f := range e.free[n.first : n.first+n.width] {
		sum += int64(max(0, e.limit-f))
	}
	return sum
}

// choose makes a region consider those sets that have at most the area room.
func (e *endgame) choose(r *region, of []uint16, room int64) {
	r.sets = r.sets[:0]
	for _, set := range of {
		if e.area[set] <= room {
			r.sets = append(r.sets, set)
		}
	}
}

// atLeast appends those sets to list that have at least the area.
func (e *endgame) atLeast(list, of []uint16, area int64) []uint16 {
	for _, set := range of {
		if e.area[set] >= area {
			list = append(list, set)
		}
	}
	return list
}

// tables computes the tables of a region with node v on top. The node's first task can start
// at start, and afterwards is the region once its instance is gone. Ends after the limit
// become never. If wait is set, instances wait for each other's creation; the node's own
// takes cost.
func (e *endgame) tables(r, afterwards *region, v int, start, limit int32, wait bool, cost int32) {
	n := 1 << e.k
	copy(r.apart[:n], nowhere[:])
	copy(r.own[:n], nowhere[:])
	copy(r.best[:n], nowhere[:])
	e.divide(r, v, afterwards == r, wait)
	if start < limit && !e.wastes(r, start, 0) {
		e.runs(r, afterwards, v, start, limit)
	}
	r.apart[0], r.best[0] = 0, 0
	for _, set := range r.whole {
		if set != 0 {
			r.best[set] = min(r.own[set], r.apart[set])
		}
	}
	if wait {
		for _, set := range r.whole {
			r.heads[set] = r.apartHeads[set]
			if r.own[set] < r.apart[set] {
				r.heads[set] = cost
			}
		}
		r.heads[0], r.apartHeads[0] = 0, 0
	}
}

// divide computes apart.
func (e *endgame) divide(r *region, v int, after, wait bool) {
	c := e.children[v]
	if c == nil {
		if wait {
			clear(r.apartHeads[:1<<e.k])
		}
		return
	}
	a, b := &e.first[c[0]], &e.first[c[1]]
	if after {
		a, b = e.afterOf(c[0]), e.afterOf(c[1])
	}
	longest := &e.longest[e.layout.nodes[c[0]].class]
	for _, set := range r.whole {
		if e.wastes(r, longest[set], set) {
			continue
		}
		end, heads := never, int32(0)
		if wait {
			end, heads = waiting(a, b, set)
		} else {
			end = divided(&a.best, &b.best, set)
		}
		if end < never && !e.wastes(r, end, set) {
			r.apart[set], r.apartHeads[set] = end, heads
		}
	}
}

// runs computes own.
func (e *endgame) runs(r, afterwards *region, v int, start, limit int32) {
	time := &e.time[e.layout.nodes[v].class]
	gone := start + e.destroy[v]
	r.own[0] = start
	split := e.children[v] != nil
	for _, set := range r.sets[1:] {
		end := never
		if split {
			end = gone + afterwards.apart[set]
		}
		for rest := set; rest != 0; rest &= rest - 1 {
			end = min(end, r.own[set^rest&-rest]+time[bits.TrailingZeros16(rest)])
			if !split {
				break
			}
		}
		if end <= limit && !e.wastes(r, end, set) {
			r.own[set] = end
		}
	}
}

// allSets lists all sets of tasks.
func (e *endgame) allSets() []uint16 {
	e.all = e.all[:0]
	for set := range 1 << e.k {
		e.all = append(e.all, uint16(set))
	}
	return e.all
}

// nowhere is the table of a region that can run no task.
var nowhere = func() (t bySet) {
	for set := range t {
		t[set] = never
	}
	return t
}()

// divided returns the end of the best division of a set between two regions.
func divided(a, b *bySet, set uint16) int32 {
	end := never
	for part := set; ; part = (part - 1) & set {
		end = min(end, max(a[part], b[set^part]))
		if part == 0 {
			return end
		}
	}
}

// waiting is divided if one region waits until all of the other's first instances are
// created. It also returns the heads of both.
func waiting(a, b *region, set uint16) (end, heads int32) {
	end = never
	last := uint16(0)
	if a == b && set != 0 {
		last = 1 << (bits.Len16(set) - 1) // the first of two equal regions takes the last task
	}
	for part := set; ; part = (part - 1) & set {
		if x, y := a.best[part], b.best[set^part]; x < end && y < end {
			if d := joined(x, y, a.heads[part], b.heads[set^part]); d < end {
				end, heads = d, a.heads[part]+b.heads[set^part]
			}
		}
		if part <= last {
			return end, heads
		}
	}
}

// joined returns the end of two regions that use the channel one after the other.
func joined(x, y, xHeads, yHeads int32) int32 {
	return min(max(x, xHeads+y), max(y, yHeads+x))
}

// traceFirst writes down the places of a set's tasks in the best plan of a node's region.
func (e *endgame) traceFirst(v, set int) {
	t := &e.first[v]
	if t.own[set] < t.apart[set] {
		if set = e.traceOwn(t, v, set); set != 0 {
			e.traceAfter(v, set, false)
		}
	} else if set != 0 {
		c := e.children[v]
		part := split(&e.first[c[0]], &e.first[c[1]], set, t.apart[set], e.together)
		e.traceFirst(c[0], part)
		e.traceFirst(c[1], set^part)
	}
}

// traceAfter is traceFirst for a region in which a larger instance ran. own says that the
// node itself may run tasks.
func (e *endgame) traceAfter(v, set int, own bool) {
	if set == 0 {
		return
	}
	t := e.afterOf(v)
	if own && t.own[set] < t.apart[set] {
		e.traceAfter(v, e.traceOwn(t, v, set), false)
		return
	}
	c := e.children[v]
	part := split(e.afterOf(c[0]), e.afterOf(c[1]), set, t.apart[set], e.sequential)
	e.traceAfter(c[0], part, true)
	e.traceAfter(c[1], set^part, true)
}

// traceOwn places the tasks that the node itself runs, and returns the others. They are those
// with the difference of the ends as their time.
func (e *endgame) traceOwn(t *region, v, set int) (rest int) {
	time := &e.time[e.layout.nodes[v].class]
	for i := 0; i < e.k; {
		if set>>i&1 == 1 && time[i] < never && t.own[set^1<<i]+time[i] == t.own[set] {
			e.place[i] = v
			set ^= 1 << i
			i = 0
		} else {
			i++
		}
	}
	return set
}

// split returns the first region's part in a division of a set that has the given end.
func split(a, b *region, set int, end int32, wait bool) int {
	for part := set; ; part = (part - 1) & set {
		x, y := a.best[part], b.best[set^part]
		d := max(x, y)
		if wait {
			d = joined(x, y, a.heads[part], b.heads[set^part])
		}
		if d == end {
			return part
		}
		if part == 0 {
			panic("env: no division has the end that was found")
		}
	}
}
