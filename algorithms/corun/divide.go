package corun

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"miglab/harness/sim/corun"
)

// maxDivide is the largest number of jobs that a divider takes. Memory grows as 2^n for n jobs.
const maxDivide = 20

// A divider divides jobs into groups that take the least time one after the other. It is not safe for concurrent use.
type divider struct {
	*search
	largest int // the largest size of a group
	// known caches the seconds of jobs in one group; +Inf if smaller groups of them take no longer.
	known map[set]float64

	// The other fields are about the jobs of the current call of divide. Bit i of a mask represents the i-th of them.

	// seconds has, by mask, the time of the jobs in their best groups. part has the mask of some of these groups
	// together, and the mask itself if all its jobs are one group.
	seconds []float64
	part    []uint32
	useful  [][]timedMask // by first job, the masks that are faster in one group than in smaller groups
}

// A jobGroup is a set of jobs in ascending order and the time that they take together.
type jobGroup struct {
	jobs    []int
	seconds float64
}

// A set has the jobs of a group in ascending order, then -1 in each free place. Unlike a slice it can be a map key.
type set [corun.MaxConcurrency]int

var noJobs = set(slices.Repeat([]int{-1}, corun.MaxConcurrency))

// A timedMask has jobs and their time in one group.
type timedMask struct {
	jobs    uint32
	seconds float64
}

// newDivider returns a divider for the jobs of a window with the setups of a family.
func newDivider(w *corun.Window, f corun.Family) *divider {
	return &divider{
		search:  newSearch(w, f),
		largest: min(w.Concurrency, corun.MaxConcurrency),
		known:   map[set]float64{},
	}
}

// divide returns the best groups of up to maxDivide jobs, which must be in ascending order, or nil if ctx is done.
// Dynamic programming finds the best groups of every set of the jobs, from the smallest sets up.
func (d *divider) divide(ctx context.Context, jobs []int) []jobGroup {
	n := len(jobs)
	d.seconds = slices.Grow(d.seconds[:0], 1<<n)[:1<<n]
	d.part = slices.Grow(d.part[:0], 1<<n)[:1<<n]
	d.useful = slices.Grow(d.useful[:0], n)[:n]
	for i := range d.useful {
		d.useful[i] = d.useful[i][:0]
	}
	d.divideSmall(ctx, jobs)
	d.divideLarge(ctx, n)
	if ctx.Err() != nil {
		return nil
	}
	var groups []jobGroup
	for left := uint32(1)<<n - 1; left != 0; {
		m := left
		for d.part[m] != m { // until m is one group
			m = d.part[m]
		}
		s := members(jobs, m)
		groups = append(groups, jobGroup{s.jobs(), d.seconds[m]})
		left ^= m
	}
	return groups
}

// divideSmall divides the masks that are small enough for one group: into two smaller ones, unless one group is faster.
func (d *divider) divideSmall(ctx context.Context, jobs []int) {
	n := len(jobs)
	for size := 1; size <= min(d.largest, n); size++ {
		for m := uint32(1)<<size - 1; m < 1<<n; m = nextOfSize(m) {
			if ctx.Err() != nil {
				return
			}
			d.seconds[m] = math.Inf(1)
			others := m & (m - 1)
			for sub := others; sub != 0; sub = (sub - 1) & others {
				t := d.seconds[sub] + d.seconds[m^sub]
				if t < d.seconds[m] {
					d.seconds[m], d.part[m] = t, sub
				}
			}
			t := d.oneGroup(members(jobs, m), d.seconds[m])
			if t < d.seconds[m] {
				d.seconds[m], d.part[m] = t, m
				first := bits.TrailingZeros32(m)
				d.useful[first] = append(d.useful[first], timedMask{m, t})
			}
		}
	}
}

// divideLarge divides the larger masks of n jobs: into a group with the first job of the mask, and the rest.
func (d *divider) divideLarge(ctx context.Context, n int) {
	largest := min(d.largest, n)
	for m := uint32(1); m < 1<<n; m++ {
		if m%1024 == 0 && ctx.Err() != nil {
			return
		}
		first, size := bits.TrailingZeros32(m), bits.OnesCount32(m)
		// Groups are split off by their first jobs. So m only remains if each job after first that m lacks was in a
		// group of a job before first. There are first such groups, each with room for largest-1 others.
		lacking := n - first - size
		if size <= largest || lacking > first*(largest-1) {
			continue
		}
		d.seconds[m] = math.Inf(1)
		for _, g := range d.useful[first] {
			if g.jobs&^m == 0 && g.seconds+d.seconds[m^g.jobs] < d.seconds[m] {
				d.seconds[m], d.part[m] = g.seconds+d.seconds[m^g.jobs], g.jobs
			}
		}
	}
}

// oneGroup returns the time of jobs in one group, or +Inf if it is not less than below, their time in smaller groups.
func (d *divider) oneGroup(s set, below float64) float64 {
	t, ok := d.known[s]
	if !ok {
		t = d.fastest(s.jobs(), below)
		if t == below {
			t = math.Inf(1)
		}
		d.known[s] = t
	}
	return t
}

// nextOfSize returns the next larger number with the same number of bits set (Gosper's hack).
func nextOfSize(x uint32) uint32 {
	low := x & -x
	ripple := x + low
	return ripple | (x^ripple)>>2/low
}

// members returns the jobs of a bit mask.
func members(jobs []int, mask uint32) set {
	s := noJobs
	for i := 0; mask != 0; mask &= mask - 1 {
		s[i] = jobs[bits.TrailingZeros32(mask)]
		i++
	}
	return s
}

// jobs returns the jobs without the free places. The slice shares the memory of the set.
func (s *set) jobs() []int {
	n := slices.Index(s[:], -1)
	if n < 0 {
		n = len(s)
	}
	return s[:n]
}
