package execute

import (
	"cmp"
	"math"
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
	// needs lists the operations that must come before it, whatever the times are.
	needs []*operation
	// previous is the operation with the previous turn; nil for the first.
	previous *operation
	placed   bool
	// done is closed when the operation has succeeded.
	done chan struct{}
}

// planLives returns the lives of a schedule that [schedule.Check] accepts for a problem with one GPU and no start
// partition. It gives the operations an order: by planned start, at the same instant destroys before creates and then
// from left to right, but never before an operation that they need.
//
// Planned times alone do not determine the order: under [mig.Free] operations take no time, and Check has a
// tolerance. So an operation also has needs, whatever the times are. A create comes before its destroy. Of two
// lives that share a memory slice, the one with the earlier middle is over before the other begins. Check accepts
// two such lives only if one ends before the other begins. Either their middles are in that order, too, or both
// lives are shorter than the tolerance and either order is valid. Lives in the order of their middles cannot need
// each other in a circle. So every operation has its turn, and then no existing instance is in its way.
func planLives(s *schedule.Schedule) []*life {
	operations := make([]*operation, len(s.Operations))
	for i, o := range s.Operations {
		operations[i] = &operation{Operation: o, done: make(chan struct{})}
	}
	slices.SortStableFunc(operations, func(a, b *operation) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), -cmp.Compare(a.Op, b.Op),
			cmp.Compare(a.Instance.Start, b.Instance.Start), cmp.Compare(a.Instance.Profile.ID, b.Instance.Profile.ID))
	})
	var lives []*life
	at := map[mig.Instance][]*life{}
	for _, o := range operations {
		if o.Op == schedule.Create {
			l := &life{in: o.Instance, create: o}
			at[l.in] = append(at[l.in], l)
			lives = append(lives, l)
		}
	}
	ended := map[mig.Instance]int{}
	for _, o := range operations {
		if o.Op == schedule.Destroy {
			l := at[o.Instance][ended[o.Instance]]
			ended[o.Instance]++
			l.destroy, o.needs = o, []*operation{l.create}
		}
	}
	placements := slices.Clone(s.Placements)
	slices.SortStableFunc(placements, func(a, b schedule.Placement) int { return cmp.Compare(a.Start, b.Start) })
	for _, pl := range placements {
		// The middle of a run lies within its life, whatever the tolerance.
		midRun := pl.Start/2 + pl.End/2
		here := at[pl.Instance]
		i := 0
		for i+1 < len(here) && here[i+1].create.Start <= midRun {
			i++
		}
		here[i].tasks = append(here[i].tasks, pl.Task)
	}
	addNeeds(lives)
	takeTurns(operations)
	return lives
}

// middle returns the middle of the time during which a life occupies its slices.
func (l *life) middle() float64 {
	if l.destroy == nil {
		return math.Inf(1)
	}
	return float64(l.create.Start)/2 + float64(l.destroy.End)/2
}

// addNeeds sorts the lives by their middles, and lets each create come after the destroys of earlier instances that
// share its slices. A profile that a GPU can hold only once (1g.5gb+me) counts as one more slice.
func addNeeds(lives []*life) {
	slices.SortStableFunc(lives, func(a, b *life) int { return cmp.Compare(a.middle(), b.middle()) })
	type resource struct {
		slice mig.Slices
		only  *mig.Profile
	}
	holder := map[resource]*life{}
	for _, l := range lives {
		var takes []resource
		for i := range l.in.Profile.Length {
			takes = append(takes, resource{slice: l.in.Start + i})
		}
		if l.in.Profile.Max == 1 {
			takes = append(takes, resource{only: l.in.Profile})
		}
		for _, r := range takes {
			if h := holder[r]; h != nil && !slices.Contains(l.create.needs, h.destroy) {
				l.create.needs = append(l.create.needs, h.destroy)
			}
			holder[r] = l
		}
	}
}

// takeTurns orders the operations as they are sorted, except that operations that one needs come before it.
func takeTurns(operations []*operation) {
	var last *operation
	var place func(*operation)
	place = func(o *operation) {
		if o.placed {
			return
		}
		o.placed = true
		for _, e := range o.needs {
			place(e)
		}
		o.previous = last
		last = o
	}
	for _, o := range operations {
		place(o)
	}
}
