package sim

import "math/bits"

// gpuSet is a set of GPU indices as a tree of 64-ary bit words: bit i of level 0 is
// GPU i, and a bit of a higher level says that the word below it is not zero. Every
// operation touches at most one word a level going up and one going down: two levels
// for 100 GPUs and four for 1,000,000.
type gpuSet struct {
	// levels holds the words from the GPUs up to a single word.
	levels [][]uint64
}

// newGPUSets returns empty sets for a number of GPUs. They share three allocations, which
// makes a new cluster cheap.
func newGPUSets(sets, gpus int) []gpuSet {
	var lengths []int
	total := 0
	for n := gpus; ; {
		n = (n + 63) / 64
		lengths = append(lengths, n)
		total += n
		if n == 1 {
			break
		}
	}
	words := make([]uint64, sets*total)
	levels := make([][]uint64, sets*len(lengths))
	out := make([]gpuSet, sets)
	for i := range out {
		out[i].levels, levels = levels[:len(lengths)], levels[len(lengths):]
		for l, n := range lengths {
			out[i].levels[l], words = words[:n], words[n:]
		}
	}
	return out
}

func (s *gpuSet) insert(i int) {
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

func (s *gpuSet) remove(i int) {
	for _, level := range s.levels {
		word := &level[i>>6]
		*word &^= 1 << (i & 63)
		if *word != 0 {
			return
		}
		i >>= 6
	}
}

// next returns the lowest member that is not below i; nobody if there is none.
func (s *gpuSet) next(i int) int {
	for l, level := range s.levels {
		if i>>6 >= len(level) {
			return nobody
		}
		if rest := level[i>>6] >> (i & 63); rest != 0 {
			i += bits.TrailingZeros64(rest)
			for l > 0 {
				l--
				i = i<<6 | bits.TrailingZeros64(s.levels[l][i])
			}
			return i
		}
		i = i>>6 + 1
	}
	return nobody
}
