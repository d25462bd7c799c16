package algorithms

import (
	"slices"
	"sort"

	"miglab/algorithms/plan"
)

// A treePlan is FAR's plan: the tasks of each node. Phase 2 (repartition.go) fills it. Phase 3 (refine.go) moves and
// swaps its tasks.
type treePlan struct {
	tree  *plan.Tree
	lists [][]plan.Task // by node; longest first (LPT)
	// destroyed marks the nodes that phase 2 destroyed after their tasks, whether or not their slices were used again.
	destroyed []bool
	// order lists the nodes that have been given tasks, in the order of their first task, except that every node comes
	// before the nodes below it. The order decides which of several simultaneous operations goes first.
	order []int32
}

func newTreePlan(t *plan.Tree) *treePlan {
	return &treePlan{tree: t, lists: make([][]plan.Task, t.Count()), destroyed: make([]bool, t.Count())}
}

// place adds a task to a node. A nil plan stays empty: phase 2 uses it where only the makespan counts.
func (p *treePlan) place(node int32, t plan.Task) {
	if p != nil {
		p.enlist(node)
		p.lists[node] = append(p.lists[node], t)
	}
}

// destroy marks a node's instance as destroyed, except in a nil plan.
func (p *treePlan) destroy(node int32) {
	if p != nil {
		p.destroyed[node] = true
	}
}

// enlist adds a node to the order when it is first used: before the nodes below it, or else last.
func (p *treePlan) enlist(node int32) {
	if !slices.Contains(p.order, node) {
		i := slices.IndexFunc(p.order, func(o int32) bool { return p.covers(node, o) })
		if i < 0 {
			i = len(p.order)
		}
		p.order = slices.Insert(p.order, i, node)
	}
}

// covers reports whether the node below lies below the other node in the tree.
func (p *treePlan) covers(node, below int32) bool {
	g, v := p.tree.Locate(node)
	h, w := p.tree.Locate(below)
	for w > v { // a node has a lower number than the nodes below it
		w = p.tree.Nodes[w].Parent
	}
	return g == h && w == v && node != below
}

// A direction is the order of a plan: it splits instances from the root or, reversed, merges them to it (FAR 4.2).
type direction bool

const (
	forward  direction = false
	reversed direction = true
)

// asFound returns the plan as phase 2 timed it, with destructions that no later use needs.
func (p *treePlan) asFound() []plan.Use {
	out := p.uses(forward)
	for i := range out {
		out[i].Destroy = p.destroyed[p.order[i]]
	}
	return out
}

// uses returns the plan in a direction. The result is valid until a task is moved.
func (p *treePlan) uses(d direction) []plan.Use {
	out := make([]plan.Use, len(p.order))
	for i, node := range p.order {
		g, v := p.tree.Locate(node)
		out[i] = plan.Use{GPU: g, Instance: p.tree.Nodes[v].Instance, Tasks: p.lists[node]}
	}
	if d == reversed {
		slices.Reverse(out)
		for i := range out {
			out[i].Tasks = slices.Clone(out[i].Tasks)
			slices.Reverse(out[i].Tasks)
		}
	}
	return out
}

// transfer moves a task from one node to another of the same size, whose list stays longest first.
func (p *treePlan) transfer(from, to, task int32) {
	i := slices.IndexFunc(p.lists[from], func(t plan.Task) bool { return t.Index == task })
	t := p.lists[from][i]
	p.lists[from] = slices.Delete(p.lists[from], i, i+1)
	p.enlist(to)
	list := p.lists[to]
	i = sort.Search(len(list), func(j int) bool { return list[j].Seconds < t.Seconds })
	p.lists[to] = slices.Insert(list, i, t)
}
