package execute

import (
	"cmp"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/profiling"
)

// A life is an instance from its create to its destroy.
type life struct {
	in     mig.Instance
	create *operation
	// destroy is nil if the plan leaves the instance.
	destroy *operation
	// tasks are indices in Problem.Tasks, in the order of their runs.
	tasks []int

	// made is the instance while it exists.
	made   profiling.Instance
	exists bool
}

type operation struct {
	schedule.Operation
	// previous is the operation with the previous turn; nil for the first.
	previous *operation
	// done is closed when the operation has succeeded.
	done chan struct{}
}

// planLives returns the lives of a schedule that [schedule.Check] accepts for a problem with one GPU, no start
// partition and sequential reconfiguration. The operations take turns by planned start, which differ, since each takes
// a while.
func planLives(s *schedule.Schedule) []*life {
	sorted := slices.SortedFunc(slices.Values(s.Operations), func(a, b schedule.Operation) int {
		return cmp.Compare(a.Start, b.Start)
	})
	var lives []*life
	at := map[mig.Instance][]*life{}
	var previous *operation
	for _, o := range sorted {
		turn := &operation{Operation: o, previous: previous, done: make(chan struct{})}
		previous = turn
		here := at[o.Instance]
		if o.Op == schedule.Destroy {
			here[len(here)-1].destroy = turn
			continue
		}
		l := &life{in: o.Instance, create: turn}
		at[o.Instance] = append(here, l)
		lives = append(lives, l)
	}
	placements := slices.Clone(s.Placements)
	slices.SortStableFunc(placements, func(a, b schedule.Placement) int { return cmp.Compare(a.Start, b.Start) })
	for _, pl := range placements {
		for _, l := range slices.Backward(at[pl.Instance]) {
			if l.create.Start < pl.Start { // Check may accept a start just before the end of the create
				l.tasks = append(l.tasks, pl.Task)
				break
			}
		}
	}
	return lives
}
