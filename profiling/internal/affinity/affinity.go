// Package affinity keeps threads and processes on processors of their own, so that the host of a kernel that makes many
// short launches is neither moved about nor interrupted. On systems other than Linux it does nothing.
package affinity

// A Set is processors that were taken. An empty one does nothing.
type Set struct{ processors []int }

// Size returns the number of processors.
func (s *Set) Size() int { return len(s.processors) }
