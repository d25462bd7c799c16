package env

import (
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/spec"
)

// A layout describes a GPU model as agents see it: the instances that use every slice that they occupy, which are its
// nodes, and the slices that may be exchanged. A renaming exchanges slices, so that equivalent states look the same:
// real slices become canonical ones. It is a bit mask, whose bit i says that the i-th swap has been made.
type layout struct {
	sizes         []mig.Slices
	nodes         []node
	computeSlices int // the number of compute slices
	// swaps are the pairs of neighbouring instances of the same size within a larger one, the
	// small ones first. Their slices may be exchanged, with all that runs on them.
	swaps      []swap
	real       [][]int // by renaming and node, the instance's number on the device
	partitions [][]int // for each useful partition, the numbers of its instances on the device
	cost       float64 // the time of creating and destroying an instance of the smallest size, in seconds
}

// A node is an instance as the agent knows it.
type node struct {
	size  mig.Slices
	class int // the size's index in sizes
	first int // the first compute slice
}

// end returns the compute slice after a node.
func (n node) end() int { return n.first + int(n.size) }

// A swap exchanges the slices from a on with as many slices from b on.
type swap struct{ a, b, width int }

func newLayout(g *mig.GPU) *layout {
	l := &layout{sizes: g.Sizes(), computeSlices: int(g.ComputeSlices)}
	tree := g.FullTree()
	for _, n := range tree {
		class := slices.Index(l.sizes, n.Size())
		l.nodes = append(l.nodes, node{size: n.Size(), class: class, first: int(n.Start)})
	}
	for _, size := range l.sizes {
		for i, a := range l.nodes {
			for j, b := range l.nodes {
				if a.size == size && b.size == size && a.end() == b.first && tree[i].Parent == tree[j].Parent {
					l.swaps = append(l.swaps, swap{a.first, b.first, int(size)})
				}
			}
		}
	}
	number := numberInstances(g)
	for renaming := range 1 << len(l.swaps) {
		l.real = append(l.real, lookUp(number, l.instances(g, renaming)))
	}
	for _, p := range g.Useful() {
		l.partitions = append(l.partitions, lookUp(number, p))
	}
	small := g.Profile(l.sizes[0])
	l.cost = float64(small.Create + small.Destroy)
	return l
}

// lookUp returns the number of each instance.
func lookUp(number map[mig.Instance]int, instances []mig.Instance) (out []int) {
	for _, in := range instances {
		out = append(out, number[in])
	}
	return out
}

// instances returns the real instance of each node under a renaming.
func (l *layout) instances(g *mig.GPU, renaming int) (out []mig.Instance) {
	var order [8]int8
	for s := range order {
		order[s] = int8(s)
	}
	for i, w := range l.swaps {
		if renaming>>i&1 == 1 {
			w.apply(&order)
		}
	}
	for _, n := range l.nodes {
		out = append(out, spec.Must(g.Instance(n.size, mig.Slices(slices.Min(order[n.first:n.end()])))))
	}
	return out
}

// apply makes the exchange in order.
func (w swap) apply(order *[8]int8) {
	for i := range w.width {
		order[w.a+i], order[w.b+i] = order[w.b+i], order[w.a+i]
	}
}

// rename returns the renaming that sorts slices that differ only in their place: of the two groups of a swap, the one
// whose slices are free later comes first, of equals the one with the larger instance. free and size are by real slice.
// rename sets order to the real slice of each canonical slice.
func (l *layout) rename(free *[8]float64, size *[8]int8, order *[8]int8) (renaming int) {
	for s := range order {
		order[s] = int8(s)
	}
	for i, w := range l.swaps {
		for k := range w.width {
			a, b := order[w.a+k], order[w.b+k]
			if free[a] == free[b] && size[a] == size[b] {
				continue
			}
			if free[a] < free[b] || free[a] == free[b] && size[a] < size[b] {
				w.apply(order)
				renaming |= 1 << i
			}
			break
		}
	}
	return renaming
}

// least returns a task's least area, in slice-seconds, and its least time.
func (l *layout) least(t *Times) (area, time float64) {
	area, time = math.Inf(1), math.Inf(1)
	for _, s := range l.sizes {
		area = min(area, float64(s)*t[s])
		time = min(time, t[s])
	}
	return area, time
}
