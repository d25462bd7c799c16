package external

import (
	"bytes"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/schedule"
)

// A timetable collects the answers to an instance.
type timetable struct {
	problem schedule.Problem
	// whole has the schedules of the answers. clock has the plans; it is nil before the first one.
	whole schedule.Schedule
	clock algo.Clock
	next  int // the index of the first task without an answer
}

func newTimetable(p schedule.Problem, algorithm string) timetable {
	return timetable{problem: p, whole: schedule.Schedule{GPU: p.GPU, Algorithm: algorithm, Model: p.Model}}
}

// add adds the answer for the next n tasks. The error is an [*Error] without a program.
func (t *timetable) add(s *solution, n int) error {
	part := t.problem
	part.Tasks, part.Release = t.problem.Tasks[t.next:t.next+n], nil
	if t.next > 0 && (s.Type == typePlan) != (t.clock != nil) {
		return newError(run.KindInvalid, "answers with a %s after answers of the other type to this instance", s.Type)
	}
	if s.Type == typePlan {
		plan, err := schedule.DecodePlan(bytes.NewReader(s.Plan), part)
		if err != nil {
			return newError(run.KindInvalid, "gives no plan: %s", withoutLine(err))
		}
		t.addPlan(plan)
	} else {
		own, err := schedule.Decode(bytes.NewReader(s.Schedule), part)
		if err != nil {
			return newError(run.KindInvalid, "gives no schedule: %s", withoutLine(err))
		}
		t.addSchedule(own)
	}
	t.next += n
	return nil
}

// withoutLine words a mistake without its line: an answer has only one.
func withoutLine(err error) string { return strings.TrimPrefix(err.Error(), "line 1: ") }

// addPlan adds a plan, whose tasks are numbered from 0.
func (t *timetable) addPlan(plan schedule.Plan) {
	for _, u := range plan {
		for i := range u.Tasks {
			u.Tasks[i] += t.next
		}
	}
	if t.clock == nil {
		t.clock = algo.NewClock(t.problem)
	}
	t.clock.Add(plan)
}

// addSchedule adds a schedule, whose tasks are numbered from 0.
func (t *timetable) addSchedule(s schedule.Schedule) {
	whole := &t.whole
	if s.Model != whole.Model {
		whole.Model = s.Model // the referee refuses it
	}
	for _, pl := range s.Placements {
		pl.Task += t.next
		whole.Placements = append(whole.Placements, pl)
	}
	whole.Operations = append(whole.Operations, s.Operations...)
	for name, n := range s.Counters {
		if whole.Counters == nil {
			whole.Counters = map[string]int{}
		}
		whole.Counters[name] += n
	}
}

// schedule returns the schedule of all answers.
func (t *timetable) schedule() schedule.Schedule {
	if t.clock != nil {
		return t.clock.Schedule()
	}
	return t.whole
}

// existing returns the instances that the plans have left, in the form of a message; nil without plans.
func (t *timetable) existing() []existing {
	if t.clock == nil {
		return nil
	}
	return existingInstances(t.clock.Existing())
}
