package sim

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// Cluster is the state of the placement track: GPUs of one model, each described by the
// mask of its occupied memory slices (MFI IV).
//
// A scheduler asks which masks occur, and which GPU with one of these masks has the lowest index. An [intSet] for each
// mask has the blocks of 64 GPUs in which the mask occurs, so that a query takes about as many steps for 1,000,000 GPUs
// as for 100. A mask takes one byte, and a change touches one cache line of them. The sets fit into a processor's
// cache.
//
// The mask alone decides what fits: instances may coexist exactly when their memory
// slices are disjoint, and then no profile exceeds its Max.
type Cluster struct {
	gpu      *mig.GPU
	profiles []*mig.Profile
	// fixed has the profiles of each GPU with the starts of its instances; nil if instances are created on demand.
	fixed   [][]*mig.Profile
	waiting []int     // the number of instances of each profile that waiting requests need
	media   []bool    // says which GPUs have their media extensions in use; nil if no request has a gang
	view    *gangView // the view of the gang that is being placed; nil otherwise

	gpus   int
	masks  maskList // by GPU
	count  [Masks]int32
	occurs MaskSet
	lowest [Masks]int32 // lowest GPU with the mask; absent if it does not occur
	blocks []intSet     // by mask: the blocks in which it occurs
}

// absent is the result of a search without a match. It is above every index.
const absent = math.MaxInt32

// maxGPUs and maxSlot keep every sum over GPUs and slots within an int.
const (
	maxGPUs = 1 << 24
	maxSlot = 1<<32 - 2
)

// NewCluster returns an empty cluster. It returns an error if the number of GPUs is out of range.
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
		c.lowest[m] = absent
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

// Profiles returns the profiles that may be requested, in the model's order. The slice
// is shared and must not be changed.
func (c *Cluster) Profiles() []*mig.Profile { return c.profiles }

// Restricted reports whether the starts of [Cluster.Profile] depend on the GPU. This is so if the instances of the GPUs
// never change, and for a member of a gang. A member can be only where the GPU has the media extensions that it needs.
// If the gang needs one GPU, it can be only where the members after it fit, too, and on the GPU of those before it.
func (c *Cluster) Restricted() bool { return c.fixed != nil || c.view != nil }

// Profile returns a profile, given by its index, with the starts at which a GPU may have it. It must not be changed.
func (c *Cluster) Profile(gpu, profile int) *mig.Profile {
	p := c.ownProfile(gpu, profile)
	if c.view != nil {
		p = c.view.narrow(c, gpu, p)
	}
	return p
}

// ownProfile returns the profile of [Cluster.Profile] without regard to gangs.
func (c *Cluster) ownProfile(gpu, profile int) *mig.Profile {
	if c.fixed != nil {
		return c.fixed[gpu][profile]
	}
	return c.profiles[profile]
}

// Waiting returns the number of instances of a profile that waiting requests need, including the request that is being
// decided. It is 0 in a cluster in which requests do not wait.
func (c *Cluster) Waiting(profile int) int { return c.waiting[profile] }

// fix restricts the GPUs to the instances of a geometry.
func (c *Cluster) fix(geometry task.Geometry) {
	byPartition := map[string][]*mig.Profile{}
	for gpu, partition := range geometry {
		name := partition.String()
		if byPartition[name] == nil {
			for _, p := range c.profiles {
				restricted := *p
				restricted.Starts = slices.DeleteFunc(slices.Clone(p.Starts), func(start mig.Slices) bool {
					return !geometry.Has(gpu, mig.Instance{Profile: p, Start: start})
				})
				byPartition[name] = append(byPartition[name], &restricted)
			}
		}
		c.fixed = append(c.fixed, byPartition[name])
	}
}

// Mask returns the occupied memory slices of a GPU.
func (c *Cluster) Mask(gpu int) mig.Mask { return c.masks.get(gpu) }

// Occurs returns the masks that some GPU has.
func (c *Cluster) Occurs() *MaskSet { return &c.occurs }

// Lowest returns the lowest index of a GPU with a mask in the set; false if no GPU has one.
func (c *Cluster) Lowest(s *MaskSet) (int, bool) {
	best := int32(absent)
	for w, word := range s {
		for rest := word & c.occurs[w]; rest != 0; rest &= rest - 1 {
			best = min(best, c.lowest[w<<6|bits.TrailingZeros64(rest)])
		}
	}
	return int(best), best != absent
}

// Next returns the first GPU with a mask in the set; false if no GPU has one. It searches from
// the given index to the end and then from the beginning.
func (c *Cluster) Next(s *MaskSet, from int) (int, bool) {
	best := absent
	for w, word := range s {
		for rest := word & c.occurs[w]; rest != 0; rest &= rest - 1 {
			best = min(best, c.next(mig.Mask(w<<6|bits.TrailingZeros64(rest)), from))
		}
	}
	if best != absent {
		return best, true
	}
	return c.Lowest(s)
}

// next returns the lowest GPU with the mask from the given GPU on; absent if no such GPU has it.
func (c *Cluster) next(m mig.Mask, gpu int) int {
	if gpu >= c.gpus {
		return absent
	}
	next := c.masks.next(m, gpu)
	if next == absent {
		block := c.blocks[m].next(gpu/blockGPUs + 1)
		if block == absent {
			return absent
		}
		next = c.masks.next(m, block*blockGPUs)
	}
	if next >= c.gpus { // in the rest of the last block
		return absent
	}
	return next
}

// set changes the mask of a GPU.
func (c *Cluster) set(gpu int, to mig.Mask) {
	from, block := c.masks.get(gpu), gpu/blockGPUs
	c.masks.set(gpu, to)

	if !c.masks.occurs(from, gpu) {
		c.blocks[from].remove(block)
	}
	c.count[from]--
	if c.count[from] == 0 {
		c.occurs.Remove(from)
		c.lowest[from] = absent
	} else if c.lowest[from] == int32(gpu) {
		c.lowest[from] = int32(c.next(from, gpu+1))
	}

	c.blocks[to].insert(block)
	c.count[to]++
	if c.count[to] == 1 {
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
func (s *MaskSet) Meets(o *MaskSet) bool { return s[0]&o[0]|s[1]&o[1]|s[2]&o[2]|s[3]&o[3] != 0 }
