package schedule

import (
	"cmp"
	"math/bits"

	"miglab/harness/mig"
)

// An occupation is an interval in which a run, an operation or a life uses memory slices of a GPU.
type occupation struct {
	start, end mig.Seconds
	gpu        int
	id         int32 // the index of the placement, operation or life; -1-i for instance i of the start partition
	key        int32 // the number of the instance (see checker.key)
	// mask holds the slices in use. Operations under [mig.Sequential] all have the same one.
	mask    mig.Mask
	destroy bool // the occupation is a destroy
}

// clash reports whether two occupations overlap by more than rounding. An occupation of length 0 overlaps one that
// begins before it and ends after it.
func clash(a, b *occupation) bool { return later(a.end, b.start) && later(b.end, a.start) }

// reportOverlaps reports each occupation b that clashes with an earlier one, a, on a memory slice. The occupations must
// be sorted by [byTime].
func reportOverlaps(all []occupation, report func(a, b *occupation)) {
	var holder [maskSlices]int // by slice, the index of the occupation that holds it longest, plus one
	for i := range all {
		b := &all[i]
		if i > 0 && b.gpu != all[i-1].gpu {
			holder = [maskSlices]int{}
		}
		before := holder
		for m := uint8(b.mask); m != 0; m &= m - 1 {
			bit := bits.TrailingZeros8(m)
			j := before[bit]
			if j != 0 && clash(&all[j-1], b) && isLowest(&before, b.mask, bit) {
				report(&all[j-1], b)
			}
			if j == 0 || b.end > all[j-1].end {
				holder[bit] = i + 1
			}
		}
	}
}

// isLowest reports whether no lower slice of the mask has the same holder.
func isLowest(holder *[maskSlices]int, mask mig.Mask, bit int) bool {
	for m := uint8(mask) & (1<<bit - 1); m != 0; m &= m - 1 {
		if holder[bits.TrailingZeros8(m)] == holder[bit] {
			return false
		}
	}
	return true
}

// byTime sorts by GPU, start, end and id.
func byTime(a, b occupation) int {
	// Nearly all pairs differ here, and the comparisons below take longer.
	if a.gpu == b.gpu {
		if a.start < b.start {
			return -1
		}
		if a.start > b.start {
			return 1
		}
	}
	return cmp.Or(cmp.Compare(a.gpu, b.gpu), cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end),
		cmp.Compare(a.id, b.id))
}

// byInstance sorts by GPU, instance, start and id.
func byInstance(a, b occupation) int {
	return cmp.Or(cmp.Compare(a.gpu, b.gpu), cmp.Compare(a.key, b.key), cmp.Compare(a.start, b.start),
		cmp.Compare(a.id, b.id))
}
