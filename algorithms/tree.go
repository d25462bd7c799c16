package algorithms

import (
	"math/bits"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A tree is the repartitioning tree of a GPU model (FAR Fig. 4) as arrays by node,
// parents before children. A problem with several GPUs has one tree a GPU (FAR 3.2).
// Its nodes are then numbered over all GPUs: node v of GPU g is g*len(nodes)+v.
type tree struct {
	nodes []mig.Node
	gpus  int
	// size is, by node, the index of its size in GPU.Sizes.
	size []int8
	// create and destroy are, by node, the seconds that its operations take under the problem's reconfiguration model.
	create, destroy []float64
	// below is, by node, all its descendants.
	below []nodeSet
}

// maxNodes is the largest number of nodes of a repartitioning tree.
const maxNodes = 14

// nodeSet is a set of nodes of one tree; bit i represents node i.
type nodeSet uint16

func (s nodeSet) has(node int) bool { return s>>node&1 != 0 }

func lowestBit[T ~uint8 | ~uint16 | ~uint32](s T) int { return bits.TrailingZeros32(uint32(s)) }

func newTree(p algo.Problem) *tree { return treeOf(p.GPU, p.GPU.Tree(), p.GPUs(), p.Model) }

func treeOf(g *mig.GPU, nodes []mig.Node, gpus int, model mig.Reconfiguration) *tree {
	t := &tree{nodes: nodes, gpus: gpus}
	n := len(t.nodes)
	t.size, t.below = make([]int8, n), make([]nodeSet, n)
	t.create, t.destroy = make([]float64, n), make([]float64, n)
	for v := n - 1; v >= 0; v-- {
		node := &t.nodes[v]
		t.size[v] = int8(slices.Index(g.Sizes(), node.Size()))
		t.create[v], t.destroy[v] = operationSeconds(model, node.Profile)
		for _, c := range node.Children {
			t.below[v] |= t.below[c] | 1<<c
		}
	}
	return t
}

// operationSeconds returns the seconds that it takes to create and to destroy an instance.
func operationSeconds(model mig.Reconfiguration, profile *mig.Profile) (create, destroy float64) {
	return float64(model.Cost(profile.Create)), float64(model.Cost(profile.Destroy))
}

// count returns the number of nodes of all GPUs.
func (t *tree) count() int { return t.gpus * len(t.nodes) }

// at splits a number over all GPUs into a GPU and a node of its tree.
func (t *tree) at(node int32) (gpu, v int) {
	return int(node) / len(t.nodes), int(node) % len(t.nodes)
}

func (t *tree) sizeOf(node int32) int8 {
	_, v := t.at(node)
	return t.size[v]
}
