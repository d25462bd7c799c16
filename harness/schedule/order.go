package schedule

import (
	"cmp"
	"slices"

	"miglab/harness/mig"
)

// sortedPlacements returns the placements by start, GPU, slice and task; size and
// end, which tell only invalid ones apart, come last.
func (s *Schedule) sortedPlacements() []Placement {
	return slices.SortedFunc(slices.Values(s.Placements), func(a, b Placement) int {
		return cmp.Or(
			cmp.Compare(a.Start, b.Start),
			cmp.Compare(a.GPU, b.GPU),
			cmp.Compare(a.Instance.Start, b.Instance.Start),
			cmp.Compare(a.Task, b.Task),
			cmp.Compare(size(a.Instance), size(b.Instance)),
			cmp.Compare(a.End, b.End),
		)
	})
}

// sortedOperations returns the operations by start, destroys first, GPU, slice, size and end.
func (s *Schedule) sortedOperations() []Operation {
	return slices.SortedFunc(slices.Values(s.Operations), func(a, b Operation) int {
		return cmp.Or(
			cmp.Compare(a.Start, b.Start),
			-cmp.Compare(a.Op, b.Op),
			cmp.Compare(a.GPU, b.GPU),
			cmp.Compare(a.Instance.Start, b.Instance.Start),
			cmp.Compare(size(a.Instance), size(b.Instance)),
			cmp.Compare(a.End, b.End),
		)
	})
}

// size is the instance's size; 0 for one without a profile.
func size(in mig.Instance) mig.Slices {
	if in.Profile == nil {
		return 0
	}
	return in.Size()
}
