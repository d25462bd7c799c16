package sim

import (
	"fmt"
	"math"
	"math/bits"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// Cluster is the state of the placement track: GPUs of one model, each known by the
// mask of its occupied memory slices (MFI IV).
//
// A scheduler reads it by mask: which masks occur, and which GPU of those masks has
// the lowest index. The GPUs of a mask are a [gpuSet], so that a query takes as many steps
// for 1,000,000 GPUs as for 100.
//
// The mask alone decides what fits: instances may coexist exactly when their memory
// slices are disjoint, and then no profile exceeds its Max.
type Cluster struct {
	gpu      *mig.GPU
	profiles []*mig.Profile

	mask   []mig.Mask // by GPU
	count  [Masks]int32
	occurs MaskSet
	lowest [Masks]int32 // lowest GPU of the mask; nobody where it does not occur
	sets   []gpuSet     // by mask
}

// nobody is the lowest GPU of a mask that no GPU has: above every index.
const nobody = math.MaxInt32

// maxGPUs and maxSlot keep every sum over GPUs and slots within an int.
const (
	maxGPUs = 1 << 24
	maxSlot = 1<<32 - 2
)

// NewCluster returns an empty cluster. The error is about the number of GPUs.
func NewCluster(g *mig.GPU, gpus int) (*Cluster, error) {
	if gpus < 1 || gpus > maxGPUs {
		return nil, fmt.Errorf("a cluster cannot have %d GPUs; give a number from 1 to %d", gpus, maxGPUs)
	}
	c := &Cluster{gpu: g, profiles: task.RequestProfiles(g), mask: make([]mig.Mask, gpus), sets: newGPUSets(1<<g.MemorySlices, gpus)}
	for m := range c.lowest {
		c.lowest[m] = nobody
	}
	for i := range gpus {
		c.sets[0].insert(i)
	}
	c.count[0], c.lowest[0] = int32(gpus), 0
	c.occurs.Add(0)
	return c, nil
}

// GPU returns the model.
func (c *Cluster) GPU() *mig.GPU { return c.gpu }

// GPUs returns the number of GPUs.
func (c *Cluster) GPUs() int { return len(c.mask) }

// Profiles returns the profiles that are requested, in the model's order. The slice
// is shared and must not be changed.
func (c *Cluster) Profiles() []*mig.Profile { return c.profiles }

// Mask returns the occupied memory slices of a GPU.
func (c *Cluster) Mask(gpu int) mig.Mask { return c.mask[gpu] }

// Occurs returns the masks that some GPU has.
func (c *Cluster) Occurs() *MaskSet { return &c.occurs }

// Lowest returns the lowest index of a GPU with a mask in the set; false if there is none.
func (c *Cluster) Lowest(s *MaskSet) (int, bool) {
	best := int32(nobody)
	for w, word := range s {
		for rest := word & c.occurs[w]; rest != 0; rest &= rest - 1 {
			best = min(best, c.lowest[w<<6|bits.TrailingZeros64(rest)])
		}
	}
	return int(best), best != nobody
}

// Next returns the first GPU with a mask in the set. It searches from the given index to
// the end and then from the beginning; false if there is none.
func (c *Cluster) Next(s *MaskSet, from int) (int, bool) {
	best := nobody
	for w, word := range s {
		for rest := word & c.occurs[w]; rest != 0; rest &= rest - 1 {
			best = min(best, c.sets[w<<6|bits.TrailingZeros64(rest)].next(from))
		}
	}
	if best != nobody {
		return best, true
	}
	return c.Lowest(s)
}

func (c *Cluster) set(gpu int, to mig.Mask) {
	from := c.mask[gpu]
	c.mask[gpu] = to

	c.sets[from].remove(gpu)
	if c.count[from]--; c.count[from] == 0 {
		c.occurs.Remove(from)
		c.lowest[from] = nobody
	} else if c.lowest[from] == int32(gpu) {
		c.lowest[from] = int32(c.sets[from].next(gpu + 1))
	}

	c.sets[to].insert(gpu)
	if c.count[to]++; c.count[to] == 1 {
		c.occurs.Add(to)
	}
	c.lowest[to] = min(c.lowest[to], int32(gpu))
}

// MaskSet is a set of masks.
type MaskSet [Masks / 64]uint64

// Add puts a mask in the set.
func (s *MaskSet) Add(m mig.Mask) { s[m>>6] |= 1 << (m & 63) }

// Remove takes a mask out of the set.
func (s *MaskSet) Remove(m mig.Mask) { s[m>>6] &^= 1 << (m & 63) }

// Meets reports whether two sets have a mask in common.
func (s *MaskSet) Meets(o *MaskSet) bool {
	return s[0]&o[0]|s[1]&o[1]|s[2]&o[2]|s[3]&o[3] != 0
}
