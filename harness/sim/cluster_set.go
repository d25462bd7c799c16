package sim

import (
	"math/bits"

	"miglab/harness/mig"
)

// blockGPUs is the number of GPUs in a block. The masks of a block fill one cache line.
const blockGPUs = 64

// maskList holds the mask of each GPU, eight to a word.
type maskList []uint64

// newMaskList returns a list of empty GPUs. The GPUs after the last one, up to the end of its block, are empty, too.
func newMaskList(gpus int) maskList {
	return make(maskList, (gpus+blockGPUs-1)/blockGPUs*(blockGPUs/8))
}

// maskShift returns the number of the first bit of a GPU's mask in its word.
func maskShift(gpu int) uint { return uint(gpu) % 8 * 8 }

func (l maskList) get(gpu int) mig.Mask { return mig.Mask(l[gpu/8] >> maskShift(gpu)) }

func (l maskList) set(gpu int, m mig.Mask) {
	l[gpu/8] = l[gpu/8]&^(0xff<<maskShift(gpu)) | uint64(m)<<maskShift(gpu)
}

// block returns the masks of the block that a GPU is in.
func (l maskList) block(gpu int) *[blockGPUs / 8]uint64 {
	return (*[blockGPUs / 8]uint64)(l[gpu/blockGPUs*(blockGPUs/8):])
}

// equalBytes sets the top bit of each byte of a word that is a mask, and clears all other bits.
func equalBytes(word uint64, m mig.Mask) uint64 {
	const low, ones = 0x7f7f7f7f7f7f7f7f, 0x0101010101010101
	x := word ^ uint64(m)*ones // the bytes that are the mask become 0
	// The sum sets the top bit of all other bytes below 0x80; in x, it is set in the bytes from 0x80 on.
	return ^(x&low + low | x | low)
}

// occurs reports whether a GPU in the block of the given GPU has a mask. GPUs after the last one count as empty.
func (l maskList) occurs(m mig.Mask, gpu int) bool {
	b := l.block(gpu) // A loop with an early exit would be slower: its branches are unpredictable.
	return equalBytes(b[0], m)|equalBytes(b[1], m)|equalBytes(b[2], m)|equalBytes(b[3], m)|
		equalBytes(b[4], m)|equalBytes(b[5], m)|equalBytes(b[6], m)|equalBytes(b[7], m) != 0
}

// next returns the lowest GPU with the mask from the given GPU to the end of its block; absent if no such GPU has it.
// GPUs after the last one count as empty: the caller leaves them out.
func (l maskList) next(m mig.Mask, gpu int) int {
	candidates := ^uint64(0) << maskShift(gpu)
	block := l.block(gpu)
	for w := gpu % blockGPUs / 8; w < len(block); w++ {
		hit := equalBytes(block[w], m) & candidates
		if hit != 0 {
			return gpu/blockGPUs*blockGPUs + w*8 + bits.TrailingZeros64(hit)/8
		}
		candidates = ^uint64(0)
	}
	return absent
}

// intSet is a set of whole numbers as a tree of 64-ary bit words: bit i of level 0 is the number i, and a bit of a
// higher level says that the word below it is not zero. Every operation touches at most one word of each level on the
// way up and one on the way down.
type intSet struct {
	levels [][]uint64 // the words from level 0 up to a single word
}

// newIntSets returns empty sets of numbers below n, which is at least 1. They share three allocations, which makes a
// new cluster cheap.
func newIntSets(sets, n int) []intSet {
	var lengths []int
	total := 0
	for {
		n = (n + 63) / 64
		lengths = append(lengths, n)
		total += n
		if n == 1 {
			break
		}
	}
	words := make([]uint64, sets*total)
	levels := make([][]uint64, sets*len(lengths))
	out := make([]intSet, sets)
	for i := range out {
		out[i].levels, levels = levels[:len(lengths)], levels[len(lengths):]
		for l, n := range lengths {
			out[i].levels[l], words = words[:n], words[n:]
		}
	}
	return out
}

func (s *intSet) insert(i int) {
	for _, level := range s.levels {
		word := &level[i>>6]
		before := *word
		*word = before | 1<<(i&63)
		if before != 0 {
			return
		}
		i >>= 6
	}
}

func (s *intSet) remove(i int) {
	for _, level := range s.levels {
		word := &level[i>>6]
		*word &^= 1 << (i & 63)
		if *word != 0 {
			return
		}
		i >>= 6
	}
}

// next returns the lowest member from i on; absent if the set has no such member.
func (s *intSet) next(i int) int {
	for l, level := range s.levels {
		if i>>6 >= len(level) {
			return absent
		}
		rest := level[i>>6] >> (i & 63)
		if rest != 0 {
			i += bits.TrailingZeros64(rest)
			for l > 0 {
				l--
				i = i<<6 | bits.TrailingZeros64(s.levels[l][i])
			}
			return i
		}
		i = i>>6 + 1
	}
	return absent
}
