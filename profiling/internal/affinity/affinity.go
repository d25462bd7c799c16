// Package affinity keeps threads and processes on processors of their own, so that the host of a
// kernel that makes many short launches is neither moved about nor interrupted. On systems other
// than Linux it does nothing.
package affinity

import "slices"

// A Set is processors that were taken. An empty one does nothing.
type Set struct{ processors []int }

// Size returns the number of processors.
func (s *Set) Size() int { return len(s.processors) }

// free returns n processors of all that nobody has taken, without the first, which is for the
// rest of the program; nil if there are fewer.
func free(all, taken []int, n int) []int {
	if len(all) == 0 {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(all[1:]), func(p int) bool { return slices.Contains(taken, p) })
	if n > len(left) {
		return nil
	}
	return left[:n]
}
