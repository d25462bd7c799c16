package sim

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// Cluster is the state of the placement track: GPUs of one model, each known by the
// mask of its occupied memory slices (MFI IV).
//
// A scheduler reads it by mask: which masks occur, and which GPU of those masks has
// the lowest index. The GPUs of a mask are found through an [intSet] of the blocks of 64 GPUs
// that contain one, so that a query takes about as many steps for 1,000,000 GPUs as for 100. A
// change touches a line of the masks, of which there is a byte a GPU; the sets are small enough
// for a processor's cache.
//
// The mask alone decides what fits: instances may coexist exactly when their memory
// slices are disjoint, and then no profile exceeds its Max.
type Cluster struct {
	gpu      *mig.GPU
	profiles []*mig.Profile
	// fixed has the profiles of each GPU with the starts of its instances; nil if instances are made on demand.
	fixed [][]*mig.Profile
	// waiting is how many instances of each profile are waited for.
	waiting []int

	gpus   int
	masks  maskList // by GPU
	count  [Masks]int32
	occurs MaskSet
	lowest [Masks]int32 // lowest GPU of the mask; nobody where it does not occur
	blocks []intSet     // by mask: the blocks in which it occurs
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
	blocks := (gpus + blockGPUs - 1) / blockGPUs
	c := &Cluster{
		gpu: g, profiles: task.RequestProfiles(g), gpus: gpus, masks: newMaskList(gpus),
		blocks: newIntSets(1<<g.MemorySlices, blocks),
	}
	c.waiting = make([]int, len(c.profiles))
	for m := range c.lowest {
		c.lowest[m] = nobody
	}
	for i := range blocks {
		c.blocks[0].insert(i)
	}
	c.count[0], c.lowest[0] = int32(gpus), 0
	c.occurs.Add(0)
	return c, nil
}

// GPU returns the model.
func (c *Cluster) GPU() *mig.GPU { return c.gpu }

// GPUs returns the number of GPUs.
func (c *Cluster) GPUs() int { return c.gpus }

// Profiles returns the profiles that are requested, in the model's order. The slice
// is shared and must not be changed.
func (c *Cluster) Profiles() []*mig.Profile { return c.profiles }

// Fixed reports whether the instances of the GPUs exist from the beginning and never change.
func (c *Cluster) Fixed() bool { return c.fixed != nil }

// Profile returns a profile, given by its index, with the starts at which a GPU may have it. It must not be changed.
func (c *Cluster) Profile(gpu, profile int) *mig.Profile {
	if c.fixed != nil {
		return c.fixed[gpu][profile]
	}
	return c.profiles[profile]
}

// Waiting returns how many instances of a profile the requests that wait need, one that is being decided among them. It
// is 0 in a cluster in which no request waits.
func (c *Cluster) Waiting(profile int) int { return c.waiting[profile] }

// fix restricts the GPUs to their instances.
func (c *Cluster) fix(geometry task.Geometry) {
	kinds := map[string][]*mig.Profile{}
	for gpu, partition := range geometry {
		name := partition.String()
		if kinds[name] == nil {
			for _, p := range c.profiles {
				own := *p
				own.Starts = slices.DeleteFunc(slices.Clone(p.Starts), func(start mig.Slices) bool {
					return !geometry.Has(gpu, mig.Instance{Profile: p, Start: start})
				})
				kinds[name] = append(kinds[name], &own)
			}
		}
		c.fixed = append(c.fixed, kinds[name])
	}
}

// Mask returns the occupied memory slices of a GPU.
func (c *Cluster) Mask(gpu int) mig.Mask { return c.masks.at(gpu) }

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
			best = min(best, c.next(mig.Mask(w<<6|bits.TrailingZeros64(rest)), from))
		}
	}
	if best != nobody {
		return best, true
	}
	return c.Lowest(s)
}

// next returns the lowest GPU with a mask that is not below the given one; nobody if there is
// none.
func (c *Cluster) next(m mig.Mask, gpu int) int {
	if gpu >= c.gpus {
		return nobody
	}
	next := c.masks.next(m, gpu)
	if next == nobody {
		block := c.blocks[m].next(gpu/blockGPUs + 1)
		if block == nobody {
			return nobody
		}
		next = c.masks.next(m, block*blockGPUs)
	}
	if next >= c.gpus { // in the rest of the last block
		return nobody
	}
	return next
}

func (c *Cluster) set(gpu int, to mig.Mask) {
	from, block := c.masks.at(gpu), gpu/blockGPUs
	c.masks.set(gpu, to)

	if !c.masks.occurs(from, gpu) {
		c.blocks[from].remove(block)
	}
	if c.count[from]--; c.count[from] == 0 {
		c.occurs.Remove(from)
		c.lowest[from] = nobody
	} else if c.lowest[from] == int32(gpu) {
		c.lowest[from] = int32(c.next(from, gpu+1))
	}

	c.blocks[to].insert(block)
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
