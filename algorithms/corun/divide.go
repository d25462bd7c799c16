package corun

import (
	"math"
	"math/bits"
	"slices"

	"miglab/harness/sim/corun"
)

// maxDivide is the largest number of jobs for which a divider has room and time.
const maxDivide = 20

// A divider divides jobs into groups that take the least time one after the other. It is
// not safe for concurrent use.
type divider struct {
	*search
	// largest is how many jobs a group may have.
	largest int
	// known has the seconds of sets of jobs in one group; +Inf where they take no longer in
	// smaller groups.
	known map[set]float64

	// What follows belongs to the jobs in hand. Sets of them are bit masks.

	// seconds has the time of each set in the best groups, and part one of these groups, or
	// of their unions; the set itself if it is one group.
	seconds []float64
	part    []uint32
	// useful has the sets that are faster in one group than in smaller ones, by first job.
	useful [][]timed
}

// A group is a set of jobs, ascending, and how long they take together.
type group struct {
	jobs    []int
	seconds float64
}

// A set has the jobs of a group in ascending order, and -1 for those that it has not.
type set [corun.MaxConcurrency]int

// noJobs is the empty set.
var noJobs = set(slices.Repeat([]int{-1}, corun.MaxConcurrency))

type timed struct {
	jobs    uint32
	seconds float64
}

func newDivider(w *corun.Window, f corun.Family) *divider {
	return &divider{
		search:  newSearch(w, f),
		largest: min(w.Concurrency, corun.MaxConcurrency),
		known:   map[set]float64{},
	}
}

// divide returns the best groups of up to maxDivide jobs, which are in ascending order.
// It finds them for all sets of the jobs by dynamic programming: no more jobs than a
// group may have are one group or two smaller sets; of more the first is in some group.
func (d *divider) divide(jobs []int) []group {
	n := len(jobs)
	largest := min(d.largest, n)
	d.seconds = slices.Grow(d.seconds[:0], 1<<n)[:1<<n]
	d.part = slices.Grow(d.part[:0], 1<<n)[:1<<n]
	d.useful = slices.Grow(d.useful[:0], n)[:n]
	for i := range d.useful {
		d.useful[i] = d.useful[i][:0]
	}
	for size := 1; size <= largest; size++ {
		for m := uint32(1)<<size - 1; m < 1<<n; m = next(m) {
			d.seconds[m] = math.Inf(1)
			others := m & (m - 1)
			for sub := others; sub != 0; sub = (sub - 1) & others {
				if t := d.seconds[sub] + d.seconds[m^sub]; t < d.seconds[m] {
					d.seconds[m], d.part[m] = t, sub
				}
			}
			if t := d.together(members(jobs, m), d.seconds[m]); t < d.seconds[m] {
				d.seconds[m], d.part[m] = t, m
				i := bits.TrailingZeros32(m)
				d.useful[i] = append(d.useful[i], timed{m, t})
			}
		}
	}
	for m := uint32(1); m < 1<<n; m++ {
		// The jobs that are missing after the first one are in groups with those before it.
		first, size := bits.TrailingZeros32(m), bits.OnesCount32(m)
		if size <= largest || n-first-size > first*(largest-1) {
			continue
		}
		d.seconds[m] = math.Inf(1)
		for i := range d.useful[first] {
			if g := &d.useful[first][i]; g.jobs&^m == 0 {
				if t := g.seconds + d.seconds[m^g.jobs]; t < d.seconds[m] {
					d.seconds[m], d.part[m] = t, g.jobs
				}
			}
		}
	}
	var groups []group
	for left := uint32(1)<<n - 1; left != 0; {
		m := left
		for d.part[m] != m {
			m = d.part[m]
		}
		s := members(jobs, m)
		groups = append(groups, group{s.jobs(), d.seconds[m]})
		left ^= m
	}
	return groups
}

// together returns how long a set takes in one group if that is less than below, which
// is what it takes in smaller groups, and +Inf if it is not.
func (d *divider) together(s set, below float64) float64 {
	t, ok := d.known[s]
	if !ok {
		if t = d.fastest(s.jobs(), below); t == below {
			t = math.Inf(1)
		}
		d.known[s] = t
	}
	return t
}

// next returns the next larger number with as many bits.
func next(x uint32) uint32 {
	low := x & -x
	ripple := x + low
	return ripple | (x^ripple)>>2/low
}

func members(jobs []int, mask uint32) set {
	s := noJobs
	for i := 0; mask != 0; mask &= mask - 1 {
		s[i] = jobs[bits.TrailingZeros32(mask)]
		i++
	}
	return s
}

// jobs returns the jobs without the -1.
func (s *set) jobs() []int {
	n := slices.Index(s[:], -1)
	if n < 0 {
		n = len(s)
	}
	return s[:n]
}
