package algorithms

import (
	"cmp"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A nodePlan says on which node of the repartitioning trees each task runs, on what the
// GPUs hold, and knows when each GPU is done.
type nodePlan struct {
	p     algo.Problem
	tree  *nodeTree
	holds []remnant
	// node is, by task, the node counted over all GPUs.
	node  []int32
	loads []load
	clock clock
	// ends is, by GPU, when its last task ends.
	ends []float64
}

func newNodePlan(p algo.Problem, holds []remnant) *nodePlan {
	tree := newNodeTree(p)
	return &nodePlan{
		p: p, tree: tree, holds: holds,
		node: make([]int32, len(p.Tasks)), loads: make([]load, p.GPUs()), ends: make([]float64, p.GPUs()),
		clock: clock{tree: tree},
	}
}

// seconds is how long a task takes on a node.
func (pl *nodePlan) seconds(task, node int32) float64 {
	v := int(node) % len(pl.tree.nodes)
	return float64(pl.p.Tasks[task].On(pl.tree.nodes[v].Size()))
}

// put has a node run a task, and take ends that.
func (pl *nodePlan) put(task, node int32) {
	pl.node[task] = node
	n := int32(len(pl.tree.nodes))
	pl.loads[node/n].add(int(node%n), pl.seconds(task, node))
}

func (pl *nodePlan) take(task int32) {
	node := pl.node[task]
	n := int32(len(pl.tree.nodes))
	pl.loads[node/n].remove(int(node%n), pl.seconds(task, node))
}

// time works out the ends of all GPUs and returns the latest.
func (pl *nodePlan) time() float64 {
	last := 0.0
	for g := range pl.loads {
		pl.ends[g] = pl.timeGPU(g)
		last = max(last, pl.ends[g])
	}
	return last
}

// timeGPU works out the end of a GPU; the clock has that of its nodes.
func (pl *nodePlan) timeGPU(g int) float64 {
	if pl.p.Release != nil {
		pl.clock.finish = pl.waiting(g)
	}
	return pl.clock.run(&pl.holds[g], &pl.loads[g])
}

// on returns the tasks of a node in the order in which it runs them.
func (pl *nodePlan) on(node int32) []int32 {
	var out []int32
	for i, v := range pl.node {
		if v == node {
			out = append(out, int32(i))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(pl.p.ReleaseOf(int(a)), pl.p.ReleaseOf(int(b))) })
	return out
}

// waiting returns the clock's finish for tasks that are not there from the beginning.
func (pl *nodePlan) waiting(gpu int) func(v int, from float64) float64 {
	return func(v int, from float64) float64 {
		node := int32(gpu*len(pl.tree.nodes) + v)
		for _, i := range pl.on(node) {
			from = max(from, float64(pl.p.ReleaseOf(int(i)))) + pl.seconds(i, node)
		}
		return from
	}
}

// schedule returns the plan as a schedule and what the GPUs hold in the end.
func (pl *nodePlan) schedule() (schedule.Schedule, []remnant) {
	out := schedule.Schedule{GPU: pl.p.GPU, Model: pl.p.Model, Placements: make([]schedule.Placement, 0, len(pl.p.Tasks))}
	after := make([]remnant, len(pl.holds))
	for g := range pl.loads {
		l, r := pl.loads[g], &pl.holds[g]
		// Sums that tasks were added to and taken from have rounded.
		for v := range pl.tree.nodes {
			l.seconds[v] = 0
			for _, i := range pl.on(int32(g*len(pl.tree.nodes) + v)) {
				l.seconds[v] += pl.seconds(i, int32(v))
			}
		}
		c := &pl.clock
		if pl.p.Release != nil {
			c.finish = pl.waiting(g)
		}
		left := *r
		left.exist = slices.Clone(r.exist)
		c.record = func(op schedule.Op, node, existing int, start, end float64) {
			var in mig.Instance
			if node >= 0 {
				in = pl.tree.nodes[node].Instance
			} else {
				in = r.exist[existing].Instance
			}
			out.Operations = append(out.Operations, schedule.Operation{
				Op: op, GPU: g, Instance: in, Start: mig.Seconds(start), End: mig.Seconds(end),
			})
			left.channel = max(left.channel, end)
			if op == schedule.Destroy {
				left.exist = slices.DeleteFunc(left.exist, func(e schedule.Existing) bool { return e.Instance == in })
				for m := in.Mask(); m != 0; m &= m - 1 {
					left.free[lowest(m)] = end
				}
				return
			}
			left.exist = append(left.exist, schedule.Existing{GPU: g, Instance: in})
		}
		c.run(r, &l)
		c.record = nil
		for v := range pl.tree.nodes {
			if !l.used.has(v) {
				continue
			}
			node := int32(g*len(pl.tree.nodes) + v)
			at := c.start[v]
			for _, i := range pl.on(node) {
				at = max(at, float64(pl.p.ReleaseOf(int(i))))
				end := at + pl.seconds(i, node)
				out.Placements = append(out.Placements, schedule.Placement{
					Task: int(i), GPU: g, Instance: pl.tree.nodes[v].Instance, Start: mig.Seconds(at), End: mig.Seconds(end),
				})
				at = end
			}
			for i := range left.exist {
				if left.exist[i].Instance == pl.tree.nodes[v].Instance {
					left.exist[i].BusyUntil = mig.Seconds(at)
				}
			}
		}
		after[g] = left
	}
	return out, after
}
