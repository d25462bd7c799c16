package mig

import "slices"

// A Node is an instance in the repartitioning tree (FAR Fig. 4): the order in
// which a scheduler that only ever splits instances may use them.
type Node struct {
	Instance
	// Parent is the index of the instance that has to be destroyed first; -1 at the root.
	Parent int
	// Children are the indices of the instances that splitting this one gives, by start.
	Children []int
}

// Tree returns the repartitioning tree in preorder; the root is node 0. It holds
// every standard instance once: the parent of an instance is the smallest one
// that covers it, where 3 slices at 0, which occupies what 4 slices at 0 does,
// lies below the latter (FAR 3.2).
func (g *GPU) Tree() []Node { return g.tree }

func buildTree(g *GPU) []Node {
	var all []Instance
	for _, size := range g.sizes {
		for _, s := range g.bySize[size].Starts {
			all = append(all, Instance{g.bySize[size], s})
		}
	}
	// Preorder: an instance comes before all it covers, left before right.
	slices.SortFunc(all, func(a, b Instance) int {
		if d := int(a.Start - b.Start); d != 0 {
			return d
		}
		return int(b.Size() - a.Size())
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
