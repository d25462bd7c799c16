//go:build !linux

package affinity

// Take returns an empty set: only Linux can keep a thread on a processor.
func Take(int) *Set { return &Set{} }

// Free does nothing.
func (s *Set) Free() {}

// Pin does nothing.
func (s *Set) Pin(int) (undo func()) { return func() {} }
