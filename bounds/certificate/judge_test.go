package certificate_test

import (
	"math/big"
	"slices"

	"miglab/bounds/certificate"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// A judge decides in rational numbers whether a witness proves its bound. It follows the definitions of the package's
// documentation word by word, tries all assignments and all schedules, and shares no code with the package.
type judge struct {
	p schedule.Problem
	// areas, chains, orders and optimum are computed once; nil means that the last three are not known.
	areas, chains, orders, optimum *big.Rat
}

func newJudge(p schedule.Problem) *judge {
	j := &judge{p: p}
	j.areas = j.area()
	released := slices.ContainsFunc(p.Release, func(t mig.Seconds) bool { return t > 0 })
	if len(p.Tasks) <= 2 || len(p.Tasks) == 3 && p.GPUs() == 1 {
		if len(p.Start) == 0 {
			j.chains = j.leastChain()
		}
		if p.GPUs() == 1 && len(p.Start) <= 3 && !released {
			s := searcher{p: p}
			s.start(state{left: 1<<len(p.Tasks) - 1, there: map[mig.Instance]bool{}, from: rat(0)}, 0)
			j.optimum = s.best
		}
	}
	return j
}

func rat[T ~float64 | ~int | ~int8 | ~uint8](x T) *big.Rat {
	return new(big.Rat).SetFloat64(float64(x))
}

func add(x ...*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, y := range x {
		sum.Add(sum, y)
	}
	return sum
}

func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func least(a, b *big.Rat) *big.Rat {
	if a == nil || b != nil && b.Cmp(a) < 0 {
		return b
	}
	return a
}

func most(x ...*big.Rat) *big.Rat { return slices.MaxFunc(x, (*big.Rat).Cmp) }

// slacken returns what a bound says: no schedule takes less.
func slacken(bound mig.Seconds) *big.Rat {
	return mul(rat(bound), big.NewRat(999_999_999, 1_000_000_000))
}

// proves reports whether a witness proves its bound.
func (j *judge) proves(w certificate.Witness) bool {
	limit := slacken(w.Bound)
	if w.Kind != certificate.Area && len(j.p.Start) > 0 {
		return false
	}
	switch w.Kind {
	case certificate.Area:
		return j.areas.Cmp(mul(limit, rat(int(j.p.GPU.ComputeSlices)*j.p.GPUs()))) >= 0
	case certificate.SliceWeights:
		return j.weights(w, limit)
	case certificate.TaskPrices:
		return j.prices(w, limit)
	case certificate.Chains:
		return j.chains.Cmp(limit) >= 0
	case certificate.ChainOrders:
		return j.orders.Cmp(limit) >= 0
	}
	return j.optimum.Cmp(limit) >= 0
}

func (j *judge) cost(takes mig.Seconds) *big.Rat { return rat(j.p.Model.Cost(takes)) }

// area returns the least slice-seconds over all sets of sizes.
func (j *judge) area() (best *big.Rat) {
	sizes := j.p.GPU.Sizes()
	// ends has the sets of sizes that the GPUs can hold at the end.
	ends := map[int]bool{0: true}
	for range j.p.GPUs() {
		next := map[int]bool{}
		for set := range ends {
			for _, part := range j.p.GPU.Partitions() {
				with := set
				for _, in := range part {
					with |= 1 << slices.Index(sizes, in.Size())
				}
				next[with] = true
			}
		}
		ends = next
	}
	for set := 1; set < 1<<len(sizes); set++ {
		sum, fits := new(big.Rat), true
		for i := range j.p.Tasks {
			var work *big.Rat
			for k, s := range sizes {
				if set>>k&1 != 0 && j.p.Tasks[i].Fits(s) {
					work = least(work, mul(rat(s), rat(j.p.Tasks[i].On(s))))
				}
			}
			if fits = fits && work != nil; fits {
				sum.Add(sum, work)
			}
		}
		var destroys *big.Rat
		for end := range ends {
			gone := new(big.Rat)
			for k, s := range sizes {
				if (set&^end)>>k&1 != 0 {
					gone = add(gone, mul(rat(s), j.cost(j.p.GPU.Profile(s).Destroy)))
				}
			}
			destroys = least(destroys, gone)
		}
		for k, s := range sizes {
			there := slices.ContainsFunc(j.p.Start, func(e schedule.Existing) bool { return e.Instance.Size() == s })
			if set>>k&1 != 0 && !there {
				sum = add(sum, mul(rat(s), j.cost(j.p.GPU.Profile(s).Create)))
			}
		}
		if fits {
			best = least(best, add(sum, destroys))
		}
	}
	return best
}

// weights adds up what the slices have, and what the tasks need.
func (j *judge) weights(w certificate.Witness, limit *big.Rat) bool {
	sum, slack := new(big.Rat), big.NewRat(1, 1_000_000_000)
	for _, x := range w.Weights {
		sum = add(sum, rat(x))
	}
	if sum.Sub(sum, rat(1)); sum.Abs(sum).Cmp(slack) > 0 || w.Threshold != 0 && w.Threshold < w.Bound {
		return false
	}
	possible := func(i int, s mig.Slices) bool {
		if !j.p.Tasks[i].Fits(s) || w.Threshold == 0 {
			return j.p.Tasks[i].Fits(s)
		}
		begin := j.cost(j.p.GPU.Profile(s).Create)
		return add(most(begin, rat(j.p.ReleaseOf(i))), rat(j.p.Tasks[i].On(s))).Cmp(slacken(w.Threshold)) < 0
	}
	need := new(big.Rat)
	for i := range j.p.Tasks {
		var work *big.Rat
		for _, v := range j.p.GPU.Tree() {
			if possible(i, v.Size()) {
				work = least(work, mul(j.weight(w, v.Instance), rat(j.p.Tasks[i].On(v.Size()))))
			}
		}
		if work == nil {
			return true
		}
		need = add(need, work)
	}
	have := new(big.Rat)
	for range j.p.GPUs() {
		for l, x := range w.Weights {
			var from *big.Rat
			for _, v := range j.p.GPU.Tree() {
				if v.Mask()>>l&1 != 0 && slices.ContainsFunc(j.indices(), func(i int) bool { return possible(i, v.Size()) }) {
					from = least(from, j.cost(v.Profile.Create))
				}
			}
			if from != nil && from.Cmp(limit) < 0 {
				have = add(have, mul(rat(x), new(big.Rat).Sub(limit, from)))
			}
		}
	}
	return have.Cmp(need) < 0
}

func (j *judge) indices() (all []int) {
	for i := range j.p.Tasks {
		all = append(all, i)
	}
	return all
}

func (j *judge) weight(w certificate.Witness, in mig.Instance) *big.Rat {
	sum := new(big.Rat)
	for l, x := range w.Weights {
		if in.Mask()>>l&1 != 0 {
			sum = add(sum, rat(x))
		}
	}
	return sum
}

// prices computes what one GPU can earn in the cells, by recursion over the tree.
func (j *judge) prices(w certificate.Witness, limit *big.Rat) bool {
	need := new(big.Rat)
	for _, x := range w.Prices {
		need = add(need, rat(x))
	}
	e := earnings{j, w, limit, map[[3]int]*big.Rat{}}
	return mul(e.net(0, w.Cells-1, 0), rat(j.p.GPUs())).Cmp(need) < 0
}

type earnings struct {
	*judge
	w     certificate.Witness
	limit *big.Rat
	known map[[3]int]*big.Rat
}

// in returns the whole cells of a time.
func (e *earnings) in(t mig.Seconds) int {
	if t > 4*e.w.Bound {
		return 4 * e.w.Cells
	}
	x := new(big.Rat).Quo(mul(rat(t), rat(e.w.Cells)), e.limit)
	return int(new(big.Int).Quo(x.Num(), x.Denom()).Int64())
}

// net returns the most that the tasks on a node and below it earn in so many cells; above is 1 if an ancestor is used.
func (e *earnings) net(v, cells, above int) *big.Rat {
	if cells < 0 {
		return nil
	}
	key := [3]int{v, cells, above}
	if e.known[key] != nil {
		return e.known[key]
	}
	n := &e.p.GPU.Tree()[v]
	best := e.under(v, cells, above)
	own := e.in(e.p.Model.Cost(n.Profile.Create)) + above*e.in(e.p.Model.Cost(e.leastDestroy(n.Size())))
	for set := 1; set < 1<<len(e.p.Tasks); set++ {
		earned, takes := new(big.Rat), own
		for i, price := range e.w.Prices {
			if set>>i&1 != 0 {
				earned = add(earned, rat(price))
				takes += e.in(e.p.Tasks[i].On(n.Size()))
			}
		}
		if takes <= cells {
			best = most(best, add(earned, e.under(v, cells-takes, 1)))
		}
	}
	e.known[key] = best
	return best
}

func (e *earnings) under(v, cells, above int) *big.Rat {
	n := &e.p.GPU.Tree()[v]
	switch len(n.Children) {
	case 0:
		return rat(0)
	case 1:
		return e.net(n.Children[0], cells, above)
	}
	a, b := n.Children[0], n.Children[1]
	best := most(e.net(a, cells, above), e.net(b, cells, above))
	if late := cells - e.in(e.delay(v)); late >= 0 {
		best = most(best, add(e.net(a, cells, above), e.net(b, late, above)), add(e.net(a, late, above), e.net(b, cells, above)))
	}
	return best
}

func (j *judge) leastDestroy(size mig.Slices) mig.Seconds {
	d := j.p.GPU.Profile(size).Destroy
	for _, s := range j.p.GPU.Sizes() {
		if s > size {
			d = min(d, j.p.GPU.Profile(s).Destroy)
		}
	}
	return d
}

// below reports whether node u is below node v.
func (j *judge) below(u, v int) bool {
	for u = j.p.GPU.Tree()[u].Parent; u >= 0; u = j.p.GPU.Tree()[u].Parent {
		if u == v {
			return true
		}
	}
	return false
}

// delay returns the least create below a node of a size that fits some task.
func (j *judge) delay(v int) mig.Seconds {
	wait := mig.Seconds(-1)
	for u, n := range j.p.GPU.Tree() {
		fits := slices.ContainsFunc(j.p.Tasks, func(t task.Task) bool { return t.Fits(n.Size()) })
		if j.below(u, v) && fits && (wait < 0 || n.Profile.Create < wait) {
			wait = n.Profile.Create
		}
	}
	if j.p.Model != mig.Sequential || wait < 0 {
		return 0
	}
	return wait
}

// An assigned problem has a node of a GPU for each task.
type assigned struct {
	*judge
	node, gpu []int
}

// leastChain returns the least longest chain of all assignments.
func (j *judge) leastChain() *big.Rat {
	a := assigned{j, make([]int, len(j.p.Tasks)), make([]int, len(j.p.Tasks))}
	var chain, byHeads *big.Rat
	heads := j.p.Model == mig.Sequential && j.p.GPUs() == 1
	var try func(i int)
	try = func(i int) {
		if i == len(a.node) {
			longest := new(big.Rat)
			for gpu := range j.p.GPUs() {
				longest = most(longest, a.length(gpu, 0, false))
			}
			chain = least(chain, longest)
			if heads {
				byHeads = least(byHeads, a.ordered(0, true, false))
				end, _ := a.inOrder(a.topmost(0), false)
				j.orders = least(j.orders, end)
			}
			return
		}
		for a.gpu[i] = range j.p.GPUs() {
			for v, n := range j.p.GPU.Tree() {
				if a.node[i] = v; j.p.Tasks[i].Fits(n.Size()) {
					try(i + 1)
				}
			}
		}
	}
	try(0)
	if heads {
		j.orders = most(chain, j.orders)
		return most(chain, byHeads)
	}
	return chain
}

// topmost returns the topmost used nodes from v on.
func (a *assigned) topmost(v int) (heads []int) {
	if a.load(0, v) != nil {
		return []int{v}
	}
	for _, c := range a.p.GPU.Tree()[v].Children {
		heads = append(heads, a.topmost(c)...)
	}
	return heads
}

// inOrder returns H of the documentation for some heads, or W if all are destroyed, and the least create.
func (a *assigned) inOrder(heads []int, destroyed bool) (end, create *big.Rat) {
	end = new(big.Rat)
	if len(heads) == 0 {
		return end, nil
	}
	var gone *big.Rat
	for _, s := range a.p.GPU.Sizes() {
		if slices.ContainsFunc(a.p.Tasks, func(t task.Task) bool { return t.Fits(s) }) {
			gone = least(gone, a.cost(a.leastDestroy(s)))
		}
	}
	var chains, creates []*big.Rat
	for i, v := range heads {
		chain, first := a.life(v, destroyed)
		chains, creates = append(chains, chain), append(creates, first)
		create = least(create, first)
		for k := 0; destroyed && k < i; k++ {
			var two *big.Rat
			for _, c := range [][2]*big.Rat{{creates[k], new(big.Rat)}, {new(big.Rat), creates[i]}} {
				for _, d := range [][2]*big.Rat{{gone, new(big.Rat)}, {new(big.Rat), gone}} {
					two = least(two, most(add(chain, c[0], d[0]), add(chains[k], c[1], d[1])))
				}
			}
			end = most(end, two)
		}
	}
	return most(end, earliestEnd(chains, creates)), create
}

// life returns L of a used node for [certificate.ChainOrders], and the least create of it and the used nodes below it.
func (a *assigned) life(v int, destroyed bool) (chain, create *big.Rat) {
	n := &a.p.GPU.Tree()[v]
	create = a.cost(n.Profile.Create)
	own, gone := add(create, a.load(0, v)), a.cost(a.leastDestroy(n.Size()))
	var below []int
	for _, c := range n.Children {
		below = append(below, a.topmost(c)...)
	}
	all, first := a.inOrder(below, true)
	create = least(create, first)
	switch last, _ := a.inOrder(below, false); {
	case destroyed:
		return add(own, gone, all), create
	case len(below) == 0:
		return own, create
	default:
		return least(add(own, gone, last), add(own, all)), create
	}
}

// earliestEnd returns the least end of some chains over all orders, if each waits for the waits of those before it.
func earliestEnd(chains, waits []*big.Rat) (best *big.Rat) {
	if len(chains) == 0 {
		return new(big.Rat)
	}
	for i := range chains {
		rest, others := slices.Delete(slices.Clone(chains), i, i+1), slices.Delete(slices.Clone(waits), i, i+1)
		end := earliestEnd(rest, others)
		if len(rest) > 0 {
			end = add(end, waits[i])
		}
		best = least(best, most(chains[i], end))
	}
	return best
}

// load returns how long the tasks on a node take; nil if there are none.
func (a *assigned) load(gpu, v int) (sum *big.Rat) {
	for i := range a.node {
		if a.node[i] == v && a.gpu[i] == gpu {
			if sum == nil {
				sum = new(big.Rat)
			}
			sum = add(sum, rat(a.p.Tasks[i].On(a.p.GPU.Tree()[v].Size())))
		}
	}
	return sum
}

func (a *assigned) usedBelow(gpu, v int) bool {
	for i := range a.node {
		if a.gpu[i] == gpu && a.below(a.node[i], v) {
			return true
		}
	}
	return false
}

// length returns L(v) of the package's documentation; above says that an ancestor is used.
func (a *assigned) length(gpu, v int, above bool) *big.Rat {
	n := &a.p.GPU.Tree()[v]
	load, destroy := a.load(gpu, v), a.cost(a.leastDestroy(n.Size()))
	own := new(big.Rat)
	if load != nil {
		own = add(load, a.cost(n.Profile.Create))
		if above {
			own = add(own, destroy)
		}
		above = true
	}
	switch len(n.Children) {
	case 0:
		return own
	case 1:
		return add(own, a.length(gpu, n.Children[0], above))
	}
	x, y := a.length(gpu, n.Children[0], above), a.length(gpu, n.Children[1], above)
	if x.Cmp(y) < 0 {
		x, y = y, x
	}
	used := func(v int) bool { return a.load(gpu, v) != nil || a.usedBelow(gpu, v) }
	if used(n.Children[0]) && used(n.Children[1]) {
		x = most(x, add(y, rat(a.delay(v))))
	}
	return add(own, x)
}

// ordered is length with heads in the best order, on one GPU.
func (a *assigned) ordered(v int, root, above bool) *big.Rat {
	n := &a.p.GPU.Tree()[v]
	own := new(big.Rat)
	if load := a.load(0, v); load != nil {
		own = add(load, a.cost(n.Profile.Create))
		if above {
			own = add(own, a.cost(a.leastDestroy(n.Size())))
		}
		above = true
	} else if !root {
		panic("only used nodes have heads")
	}
	var heads []*big.Rat
	var collect func(u int)
	collect = func(u int) {
		for _, c := range a.p.GPU.Tree()[u].Children {
			if a.load(0, c) != nil {
				heads = append(heads, a.ordered(c, false, above))
			} else {
				collect(c)
			}
		}
	}
	collect(v)
	wait := rat(a.delay(0))
	var best *big.Rat
	var order func(k int)
	order = func(k int) {
		if k == len(heads) {
			end := new(big.Rat)
			for i, x := range heads {
				end = most(end, add(x, mul(rat(i), wait)))
			}
			best = least(best, end)
		}
		for i := k; i < len(heads); i++ {
			heads[k], heads[i] = heads[i], heads[k]
			order(k + 1)
			heads[k], heads[i] = heads[i], heads[k]
		}
	}
	order(0)
	return add(own, best)
}

// A searcher finds the optimum of one GPU by trying all orders of operations.
type searcher struct {
	p    schedule.Problem
	best *big.Rat
}

type state struct {
	left  int
	there map[mig.Instance]bool
	free  [8]*big.Rat // of each slice, when its tasks or its destroy end; nil for 0
	from  *big.Rat    // when the next operation can begin
	end   *big.Rat    // of the last task; nil for 0
}

// on returns the state in which slices of an instance are free from an instant on.
func (s state) on(in mig.Instance, exists bool, from *big.Rat) state {
	there := map[mig.Instance]bool{}
	for x := range s.there {
		there[x] = true
	}
	if delete(there, in); exists {
		there[in] = true
	}
	s.there = there
	for l := range s.free {
		if in.Mask()>>l&1 != 0 {
			s.free[l] = from
		}
	}
	return s
}

// free returns when all slices of an instance are, not before an operation can begin.
func (s *state) ready(in mig.Instance) *big.Rat {
	ready := s.from
	for l, free := range s.free {
		if in.Mask()>>l&1 != 0 && free != nil {
			ready = most(ready, free)
		}
	}
	return ready
}

// run tries all sets of the tasks that are left on an instance that is free from an instant on.
func (x *searcher) run(s state, in mig.Instance, from *big.Rat, some bool, then func(state)) {
	for set := s.left; set != 0 || !some; set = (set - 1) & s.left {
		end, fits := from, true
		for i := range x.p.Tasks {
			if set>>i&1 != 0 {
				if fits = fits && x.p.Tasks[i].Fits(in.Size()); fits {
					end = add(end, rat(x.p.Tasks[i].On(in.Size())))
				}
			}
		}
		if fits {
			next := s.on(in, true, end)
			next.left &^= set
			if set != 0 && (s.end == nil || s.end.Cmp(end) < 0) {
				next.end = end
			}
			then(next)
		}
		if set == 0 {
			return
		}
	}
}

func (x *searcher) start(s state, k int) {
	if k == len(x.p.Start) {
		x.next(s)
		return
	}
	e := x.p.Start[k]
	x.run(s, e.Instance, rat(e.BusyUntil), false, func(s state) { x.start(s, k+1) })
}

func (x *searcher) next(s state) {
	if x.best != nil && s.end != nil && s.end.Cmp(x.best) >= 0 || x.best != nil && s.from.Cmp(x.best) >= 0 {
		return
	}
	if s.left == 0 {
		x.best = s.end
		return
	}
	after := func(begin, end *big.Rat) *big.Rat {
		if x.p.Model == mig.Sequential {
			return end
		}
		return begin
	}
	for in := range s.there {
		begin := s.ready(in)
		end := add(begin, rat(x.p.Model.Cost(in.Profile.Destroy)))
		next := s.on(in, false, end)
		next.from = after(begin, end)
		x.next(next)
	}
	for _, n := range x.p.GPU.Tree() {
		overlaps := false
		for in := range s.there {
			overlaps = overlaps || in.Overlaps(n.Instance)
		}
		if overlaps {
			continue
		}
		begin := s.ready(n.Instance)
		end := add(begin, rat(x.p.Model.Cost(n.Profile.Create)))
		next := s
		next.from = after(begin, end)
		x.run(next, n.Instance, end, true, x.next)
	}
}
