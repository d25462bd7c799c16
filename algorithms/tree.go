package algorithms

import (
	"math/bits"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A tree is the repartitioning tree of a GPU model (FAR Fig. 4) as arrays by node, parents before children. A problem
// with several GPUs has one tree for each GPU (FAR 3.2). Node v of GPU g has number g*len(nodes)+v.
type tree struct {
	nodes []mig.Node
	gpus  int
	// size is, by node, the index of its size in GPU.Sizes.
	size []int8
	// create and destroy are, by node, the seconds of its operations under the problem's reconfiguration model.
	create, destroy []float64
	// below is, by node, all its descendants.
	below []nodeSet
}

// maxNodes is the largest number of nodes of a repartitioning tree. Instances of one size are disjoint, so a GPU of
// seven compute slices has at most 1 of size 7, 1 of size 4, 2 of size 3, 3 of size 2 and 7 of size 1.
const maxNodes = 14

// nodeSet is a set of nodes of one tree; bit i represents node i.
type nodeSet uint16

func (s nodeSet) contains(node int) bool { return s>>node&1 != 0 }

func lowestBit[T ~uint8 | ~uint16 | ~uint32](s T) int { return bits.TrailingZeros32(uint32(s)) }

func newTree(p algo.Problem) *tree { return buildTree(p.GPU, p.GPU.Tree(), p.GPUs(), p.Model) }

func buildTree(g *mig.GPU, nodes []mig.Node, gpus int, model mig.Reconfiguration) *tree {
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

// operationSeconds returns the durations of creating and destroying an instance, in seconds.
func operationSeconds(model mig.Reconfiguration, profile *mig.Profile) (create, destroy float64) {
	return float64(model.Cost(profile.Create)), float64(model.Cost(profile.Destroy))
}

// count returns the number of nodes of all GPUs.
func (t *tree) count() int { return t.gpus * len(t.nodes) }

// locate splits the number of a node over all GPUs into a GPU and a node of its tree.
func (t *tree) locate(node int32) (gpu, v int) {
	return int(node) / len(t.nodes), int(node) % len(t.nodes)
}

// sizeIndex returns the size of a node as an index in GPU.Sizes.
func (t *tree) sizeIndex(node int32) int8 {
	_, v := t.locate(node)
	return t.size[v]
}
