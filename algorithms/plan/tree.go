package plan

import (
	"math/bits"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A Tree is the repartitioning tree of a GPU model (FAR Fig. 4) as arrays by node, parents before children. A problem
// with several GPUs has one tree for each GPU (FAR 3.2). Node v of GPU g has number g*len(Nodes)+v.
type Tree struct {
	Nodes []mig.Node // the nodes of one tree
	GPUs  int
	Size  []int8    // by node, the index of its size in GPU.Sizes
	below []nodeSet // by node, all its descendants
}

// maxNodes is the largest number of nodes of a repartitioning tree. Instances of one size are disjoint, so a GPU of
// seven compute slices has at most 1 of size 7, 1 of size 4, 2 of size 3, 3 of size 2 and 7 of size 1.
const maxNodes = 14

// nodeSet is a set of nodes of one tree; bit i represents node i.
type nodeSet uint16

func (s nodeSet) contains(node int) bool { return s>>node&1 != 0 }

func lowestBit[T ~uint8 | ~uint16 | ~uint32](s T) int { return bits.TrailingZeros32(uint32(s)) }

// NewTree returns the trees of a problem's GPUs.
func NewTree(p algo.Problem) *Tree { return buildTree(p.GPU, p.GPU.Tree(), p.GPUs()) }

func buildTree(g *mig.GPU, nodes []mig.Node, gpus int) *Tree {
	n := len(nodes)
	t := &Tree{Nodes: nodes, GPUs: gpus, Size: make([]int8, n), below: make([]nodeSet, n)}
	for v := n - 1; v >= 0; v-- {
		node := &t.Nodes[v]
		t.Size[v] = int8(slices.Index(g.Sizes(), node.Size()))
		for _, c := range node.Children {
			t.below[v] |= t.below[c] | 1<<c
		}
	}
	return t
}

// operationSeconds returns the durations of creating and destroying an instance, in seconds.
func operationSeconds(model mig.Reconfiguration, profile *mig.Profile) (create, destroy float64) {
	return float64(model.Cost(profile.Create)), float64(model.Cost(profile.Destroy))
}

// Count returns the number of nodes of all GPUs.
func (t *Tree) Count() int { return t.GPUs * len(t.Nodes) }

// Locate splits the number of a node over all GPUs into a GPU and a node of its tree.
func (t *Tree) Locate(node int32) (gpu, v int) {
	return int(node) / len(t.Nodes), int(node) % len(t.Nodes)
}
