package algo

import "miglab/harness/schedule"

// A Clock times plans for a problem of the batch or the stream track. Everything happens as early as the order of the
// plans and the reconfiguration model allow.
type Clock interface {
	// Add times a plan after all plans that were added before, whose times stay. The plan must be one that
	// [schedule.DecodePlan] can return.
	Add(schedule.Plan)
	// Existing returns the instances that exist after the last plan, with the times at which their tasks end.
	Existing() []schedule.Existing
	// Schedule returns the schedule of all plans.
	Schedule() schedule.Schedule
}

var newClock func(Problem) Clock

// RegisterClock sets the engine that times plans. It panics if there is one already, which is a mistake in the program.
func RegisterClock(f func(Problem) Clock) {
	if newClock != nil {
		panic("algo: a clock is registered twice")
	}
	newClock = f
}

// NewClock returns a clock that starts from the start instances of a problem. It panics if no engine is registered,
// which is a mistake in the program.
func NewClock(p Problem) Clock {
	if newClock == nil {
		panic("algo: no clock is registered; import miglab/algorithms")
	}
	return newClock(p)
}
