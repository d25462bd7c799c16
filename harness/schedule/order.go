package schedule

import (
	"cmp"
	"slices"

	"miglab/harness/mig"
)

// sortedPlacements returns the placements sorted by start, GPU, slice and task, then by
// size and end, which differ only in invalid schedules.
func (s *Schedule) sortedPlacements() []Placement {
	sorted := slices.Clone(s.Placements)
	slices.SortFunc(sorted, func(a, b Placement) int {
		return cmp.Or(
			cmp.Compare(a.Start, b.Start),
			cmp.Compare(a.GPU, b.GPU),
			cmp.Compare(a.Instance.Start, b.Instance.Start),
			cmp.Compare(a.Task, b.Task),
			cmp.Compare(size(a.Instance), size(b.Instance)),
			cmp.Compare(a.End, b.End),
		)
	})
	return sorted
}

// sortedOperations returns the operations sorted by start, destroys first, then by GPU, slice, size and end.
func (s *Schedule) sortedOperations() []Operation {
	sorted := slices.Clone(s.Operations)
	slices.SortFunc(sorted, func(a, b Operation) int {
		// Nearly all pairs differ here, and the comparisons below, which also order NaN, take longer.
		if a.Start < b.Start {
			return -1
		}
		if a.Start > b.Start {
			return 1
		}
		return cmp.Or(
			cmp.Compare(a.Start, b.Start),
			-cmp.Compare(a.Op, b.Op),
			cmp.Compare(a.GPU, b.GPU),
			cmp.Compare(a.Instance.Start, b.Instance.Start),
			cmp.Compare(size(a.Instance), size(b.Instance)),
			cmp.Compare(a.End, b.End),
		)
	})
	return sorted
}

// size returns the instance's size, or 0 if it has no profile.
func size(in mig.Instance) mig.Slices {
	if in.Profile == nil {
		return 0
	}
	return in.Size()
}
