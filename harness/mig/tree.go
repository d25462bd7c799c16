package mig

import (
	"cmp"
	"slices"
)

// A Node is an instance in the repartitioning tree (FAR Fig. 4). The tree is the order in
// which a scheduler that only splits instances may use them.
type Node struct {
	Instance
	Parent   int   // the index of the instance that must be destroyed first; -1 at the root
	Children []int // the indices of the instances that this one is split into, by start
}

// Tree returns the repartitioning tree in preorder. The root is node 0. Every standard
// instance is there once. The parent of an instance is the smallest one that covers it.
// 3 slices at 0 takes the same memory slices as 4 slices at 0 and is its child (FAR 3.2).
func (g *GPU) Tree() []Node { return g.tree }

// FullTree returns the tree without the instances in which a compute slice is idle, such as 3
// slices at 0. Parents and children are indices in this list.
func (g *GPU) FullTree() (full []Node) {
	compute := Mask(1<<g.ComputeSlices - 1)
	index := make([]int, len(g.tree)) // index[i] is the position in full of node i, or of its nearest ancestor there
	for i, n := range g.tree {
		parent := -1
		if n.Parent >= 0 {
			parent = index[n.Parent]
		}
		index[i] = parent
		if (n.Mask() & compute).Count() == n.Size() {
			index[i] = len(full)
			full = append(full, Node{Instance: n.Instance, Parent: parent})
			if parent >= 0 {
				full[parent].Children = append(full[parent].Children, index[i])
			}
		}
	}
	return full
}

func buildTree(g *GPU) []Node {
	var all []Instance
	for _, size := range g.sizes {
		for _, s := range g.bySize[size].Starts {
			all = append(all, Instance{g.bySize[size], s})
		}
	}
	// In preorder an instance comes before those that it covers, and left before right.
	slices.SortFunc(all, func(a, b Instance) int {
		return cmp.Or(int(a.Start-b.Start), int(b.Size()-a.Size()))
	})
	nodes := make([]Node, len(all))
	for i, in := range all {
		nodes[i] = Node{Instance: in, Parent: -1}
		for j := i - 1; j >= 0; j-- {
			if all[j].Mask()&in.Mask() == in.Mask() {
				nodes[i].Parent = j
				nodes[j].Children = append(nodes[j].Children, i)
				break
			}
		}
	}
	return nodes
}
