package advise

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"miglab/harness/layout"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// Held is a placement of the requests of a snapshot. All instances and GPUs of a request are on one node, unless a node
// has too few for it.
type Held struct {
	// Layouts has the instances of each GPU. A GPU with MIG off has [Advice.Whole], and a free one has nil.
	Layouts [][]*mig.Profile
	// Left has the requests that are left out, by their position in the snapshot. Proven says that every placement
	// leaves out as many.
	Left   []int
	Proven bool
}

// snapshot finds the number of GPUs that hold all requests at once. It places as many requests as it can on that many
// GPUs, or on the number of GPUs in the question.
func (a *adviser) snapshot(out *Advice) error {
	p := a.newPacker()
	need := Need{Policy: FirstFit}
	need.GPUs, _ = bisect(out.Below, func(gpus int) (bool, error) {
		ok := p.pack(gpus, 0)
		if !ok && p.tries > 0 && !p.unsure {
			out.Below = max(out.Below, gpus+1)
		}
		return ok, a.ctx.Err()
	})
	need.Least = need.GPUs == out.Below
	out.Needs, out.GPUs = []Need{need}, cmp.Or(a.q.GPUs, need.GPUs)
	proven := 0 // fewer requests cannot be left out
	left, _ := bisect(0, func(left int) (bool, error) {
		ok := p.pack(out.GPUs, left)
		if !ok && p.tries > 0 && !p.unsure {
			proven = max(proven, left+1)
		}
		return ok, a.ctx.Err()
	})
	p.pack(out.GPUs, left)
	out.Held = p.held(out.GPUs)
	out.Held.Proven = left == proven
	return a.ctx.Err()
}

// A packer places requests on nodes by branch and bound. It first gives nodes to the requests with several instances,
// and then gives layouts to the GPUs.
type packer struct {
	g       *mig.GPU
	perNode int
	// kinds are the requested profiles, the largest first. Lists of numbers by kind are in this order.
	kinds []*mig.Profile
	// parts are the layouts of a GPU to which no instance can be added, as numbers by kind.
	parts [][]int
	// classes are the requests by their instances: first a class of single instances for each kind.
	classes []class
	bounds  []areaBound
	// fits remembers which instances a number of GPUs holds. unsure says that some may hold more.
	fits   map[string]bool
	unsure bool

	// open is the number of requests of each class that are neither placed nor left out, and out is the number of those
	// left out. may is the number of further ones that may be left out.
	open, out []int
	may       int
	// need has the instances that a node must still get, by node and kind. The last list is for all nodes together.
	// must is their sum.
	need [][]int
	must []int
	// free is the number of GPUs of each node without a layout. The last number is for GPUs of all nodes.
	free []int
	// path has the layouts of GPUs.
	path []packed
	// tries is the number of steps that may still be tried, and failed has the states from which no step leads on.
	tries  int
	failed map[string]bool
}

// mostTries bounds the steps of a search of a [packer] after its first placement.
const mostTries = 10_000

// A class is a set of requests with equal instances.
type class struct {
	holds    []int
	requests []int
	// spread says that a node is too small for a request, which may then use several.
	spread bool
}

// packed is a layout of a GPU of a node, by kind.
type packed struct {
	node  int
	share []int
}

// An areaBound gives weights to kinds, so that the instances of a GPU weigh at most limit.
type areaBound struct {
	limit int
	// weights has the weight of a request of each class, and order has the classes by their weights.
	kinds, weights, order []int
}

func (a *adviser) newPacker() *packer {
	p := &packer{g: a.q.GPU, perNode: a.q.PerNode, fits: map[string]bool{}}
	for _, d := range demands(a.q.GPU, a.in) {
		p.kinds = append(p.kinds, d.Profile)
	}
	slices.SortStableFunc(p.kinds, func(a, b *mig.Profile) int {
		return cmp.Or(int(b.Length-a.Length), int(b.Size-a.Size))
	})
	for _, part := range p.g.PartitionsOf(func(o *mig.Profile) bool { return slices.Contains(p.kinds, o) }) {
		holds := make([]int, len(p.kinds))
		for _, in := range part {
			holds[slices.Index(p.kinds, in.Profile)]++
		}
		p.parts = append(p.parts, holds)
	}
	slices.SortFunc(p.parts, slices.Compare)
	p.parts = slices.CompactFunc(p.parts, slices.Equal)
	p.addClasses(a.in.Requests)
	length, size := make([]int, len(p.kinds)), make([]int, len(p.kinds))
	for k, profile := range p.kinds {
		length[k], size[k] = int(profile.Length), int(profile.Size)
		largest := make([]int, len(p.kinds))
		for i := range k + 1 {
			largest[i] = 1
		}
		p.addBound(largest)
	}
	p.addBound(length)
	p.addBound(size)
	return p
}

// addClasses puts the requests into classes. Those with several instances are sorted, the largest first.
func (p *packer) addClasses(requests []task.Request) {
	for k := range p.kinds {
		single := class{holds: make([]int, len(p.kinds))}
		single.holds[k] = 1
		p.classes = append(p.classes, single)
	}
	for i := range requests {
		c := class{holds: make([]int, len(p.kinds))}
		for k := range requests[i].Instances() {
			c.holds[slices.Index(p.kinds, requests[i].Member(k).Profile)]++
		}
		at := slices.IndexFunc(p.classes, func(o class) bool { return slices.Equal(o.holds, c.holds) })
		if at < 0 {
			c.spread = p.perNode == 0 || !p.hold(c.holds, p.perNode)
			at, p.classes = len(p.classes), append(p.classes, c)
		}
		p.classes[at].requests = append(p.classes[at].requests, i)
	}
	slices.SortStableFunc(p.classes[len(p.kinds):], func(a, b class) int {
		return requests[b.requests[0]].Slices() - requests[a.requests[0]].Slices()
	})
}

// addBound adds a bound with weights of the kinds.
func (p *packer) addBound(kinds []int) {
	b := areaBound{kinds: kinds}
	for _, part := range p.parts {
		b.limit = max(b.limit, dot(kinds, part))
	}
	for c := range p.classes {
		b.weights, b.order = append(b.weights, dot(kinds, p.classes[c].holds)), append(b.order, c)
	}
	slices.SortStableFunc(b.order, func(c, d int) int { return b.weights[c] - b.weights[d] })
	p.bounds = append(p.bounds, b)
}

func dot(x, y []int) (sum int) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// hold reports whether a number of GPUs holds instances, by kind; false if that is not known.
func (p *packer) hold(holds []int, gpus int) bool {
	key := fmt.Sprint(holds, gpus)
	ok, known := p.fits[key]
	if !known {
		var profiles []*mig.Profile
		for k, n := range holds {
			profiles = append(profiles, slices.Repeat([]*mig.Profile{p.kinds[k]}, n)...)
		}
		var err error
		_, ok, err = layout.Divide(p.g, profiles, gpus)
		p.fits[key] = ok
		if err != nil {
			p.unsure = true
			p.tries -= mostTries / 10
		}
	}
	return ok
}

// pack places all requests except at most left on a number of GPUs. It returns false if it finds no placement. There is
// none if tries is then above 0, and unsure false.
func (p *packer) pack(gpus, left int) bool {
	p.may, p.path = left, nil
	p.open, p.out = nil, make([]int, len(p.classes))
	for _, c := range p.classes {
		p.open = append(p.open, len(c.requests))
	}
	p.need, p.must, p.free = nil, make([]int, len(p.kinds)), nil
	for first := 0; first < gpus; first += cmp.Or(p.perNode, gpus) {
		p.free = append(p.free, min(cmp.Or(p.perNode, gpus), gpus-first))
	}
	p.free = append(p.free, 0)
	for range p.free {
		p.need = append(p.need, make([]int, len(p.kinds)))
	}
	p.tries = mostTries
	for _, n := range p.open {
		p.tries += 3 * n // for a first placement
	}
	return p.assign(len(p.kinds), 0)
}

// possible counts a step. It returns false if there were too many, or if bounds show that more requests would be left
// out than may be.
func (p *packer) possible() bool {
	p.tries--
	gpus := 0
	for _, n := range p.free {
		gpus += n
	}
	for _, b := range p.bounds {
		room, left := b.limit*gpus-dot(b.kinds, p.must), 0
		if room < 0 {
			return false
		}
		for _, c := range b.order {
			n := p.open[c]
			if b.weights[c] > 0 {
				n = min(n, room/b.weights[c])
			}
			room -= n * b.weights[c]
			left += p.open[c] - n
		}
		if left > p.may {
			return false
		}
	}
	return p.tries > 0
}

// assign gives nodes, from a first one on, to the requests of a class and of those after it.
func (p *packer) assign(c, first int) bool {
	if c == len(p.classes) {
		p.failed = map[string]bool{}
		return p.fill(0)
	}
	if p.open[c] == 0 {
		return p.assign(c+1, 0)
	}
	if !p.possible() {
		return false
	}
	if p.leaveOut(c, func() bool { return p.assign(c+1, 0) }) {
		return true
	}
	spread, everywhere := p.classes[c].spread, len(p.free)-1
	for node := first; node <= everywhere; node++ {
		if spread != (node == everywhere) || p.hasTwin(node, first) {
			continue
		}
		p.demand(c, node, 1)
		if (spread || p.canHold(node)) && p.assign(c, node) {
			return true
		}
		p.demand(c, node, -1)
	}
	return false
}

// canHold reports whether the GPUs of a node without a layout hold the instances that it must still get.
func (p *packer) canHold(node int) bool {
	for _, b := range p.bounds {
		if dot(b.kinds, p.need[node]) > b.limit*p.free[node] {
			return false
		}
	}
	return p.hold(p.need[node], p.free[node])
}

// hasTwin reports whether a node before another one, from a first one on, is in the same state.
func (p *packer) hasTwin(node, first int) bool {
	for i := first; i < node; i++ {
		if p.free[i] == p.free[node] && slices.Equal(p.need[i], p.need[node]) {
			return true
		}
	}
	return false
}

// demand adds a request of a class to a node or, if times is -1, takes it back.
func (p *packer) demand(c, node, times int) {
	p.open[c] -= times
	for k, n := range p.classes[c].holds {
		p.need[node][k] += times * n
		p.must[k] += times * n
	}
}

// leaveOut leaves out all open requests of a class and goes on. It returns false if that is too many, or leads nowhere.
func (p *packer) leaveOut(c int, next func() bool) bool {
	n := p.open[c]
	if n > p.may {
		return false
	}
	p.open[c], p.out[c], p.may = 0, n, p.may-n
	if next() {
		return true
	}
	p.open[c], p.out[c], p.may = n, 0, p.may+n
	return false
}

// fill gives layouts to the GPUs of a node and of those after it. It chooses a layout with the largest instance that is
// still needed.
func (p *packer) fill(node int) bool {
	everywhere, positive := len(p.free)-1, func(n int) bool { return n > 0 }
	k := slices.IndexFunc(p.need[node], positive)
	if k < 0 && node < everywhere {
		p.free[everywhere] += p.free[node]
		own := p.free[node]
		p.free[node] = 0
		if p.fill(node + 1) {
			return true
		}
		p.free[everywhere], p.free[node] = p.free[everywhere]-own, own
		return false
	}
	if k < 0 {
		k = slices.IndexFunc(p.open[:len(p.kinds)], positive)
	}
	if k < 0 {
		return true
	}
	var key []byte
	for _, list := range [][]int{{node, p.free[node], p.may}, p.need[node], p.need[everywhere], p.open} {
		for _, n := range list {
			key = binary.AppendUvarint(key, uint64(n))
		}
	}
	state := string(key)
	if !p.possible() || p.failed[state] {
		return false
	}
	if node == everywhere && p.need[node][k] == 0 && p.leaveOut(k, func() bool { return p.fill(node) }) {
		return true
	}
	for _, part := range p.byUse(node, k) {
		if p.free[node] > 0 && p.tries > 0 && p.take(node, part) {
			return true
		}
	}
	p.failed[state] = p.tries > 0
	return false
}

// byUse returns the layouts with an instance of a kind, first those of which a node uses the most slices.
func (p *packer) byUse(node, kind int) [][]int {
	use := func(part []int) (sum int) {
		for k, n := range part {
			wanted := p.need[node][k] + p.open[k]
			if node < len(p.need)-1 {
				wanted += p.need[len(p.need)-1][k]
			}
			sum += min(n, wanted) * int(p.kinds[k].Length+p.kinds[k].Size)
		}
		return sum
	}
	parts := slices.DeleteFunc(slices.Clone(p.parts), func(part []int) bool { return part[kind] == 0 })
	slices.SortStableFunc(parts, func(x, y []int) int { return use(y) - use(x) })
	return parts
}

// take gives a layout to a GPU of a node and goes on. The instances are for the node, then for all nodes, then for open
// requests. It takes the layout back and returns false if that leads nowhere.
func (p *packer) take(node int, part []int) bool {
	share, everywhere := make([]int, len(part)), len(p.need)-1
	lists := [][]int{p.need[node], p.need[everywhere], p.open, p.must}
	before := make([][]int, len(lists))
	for i, list := range lists {
		before[i] = slices.Clone(list)
	}
	for k, n := range part {
		for i, list := range lists[:3] {
			used := min(n-share[k], list[k])
			list[k] -= used
			share[k] += used
			if i < 2 {
				p.must[k] -= used
			}
		}
	}
	p.free[node]--
	p.path = append(p.path, packed{node, share})
	if (node == everywhere || p.canHold(node)) && p.fill(node) {
		return true
	}
	p.path = p.path[:len(p.path)-1]
	p.free[node]++
	for i, list := range lists {
		copy(list, before[i])
	}
	return false
}

// held returns the placement that pack found on a number of GPUs.
func (p *packer) held(gpus int) (h Held) {
	h.Layouts = make([][]*mig.Profile, gpus)
	next := 0 // the first GPU that may be free
	for _, one := range p.path {
		gpu := one.node * p.perNode
		if one.node == len(p.free)-1 {
			gpu = next
		}
		for h.Layouts[gpu] != nil {
			gpu++
		}
		if one.node == len(p.free)-1 {
			next = gpu
		}
		for k, n := range one.share {
			h.Layouts[gpu] = append(h.Layouts[gpu], slices.Repeat([]*mig.Profile{p.kinds[k]}, n)...)
		}
	}
	for c, n := range p.out {
		requests := p.classes[c].requests
		h.Left = append(h.Left, requests[len(requests)-n:]...)
	}
	slices.Sort(h.Left)
	return h
}
