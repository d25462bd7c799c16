package schedule

import (
	"cmp"
	"math"
	"slices"

	"miglab/harness/mig"
)

// Replay runs a valid schedule of standard instances with the durations of p in place of the planned ones. Every task
// keeps its instance, and every memory slice keeps the order of the tasks and operations that use it. Under
// [mig.Sequential] every GPU also keeps the order of its operations, as the executor on a GPU does. Each task and
// operation begins when all before it in these orders have ended, but no task begins before its release. Each task
// must also fit its instance with the durations of p, and p must not let tasks be stopped ([Problem.Restart]).
//
// A schedule without gaps stays the same to the last bit if the durations do not change.
func Replay(p Problem, s Schedule) Schedule {
	s.Placements, s.Operations = slices.Clone(s.Placements), slices.Clone(s.Operations)
	free := make([][maskSlices]mig.Seconds, p.GPUs()) // the time from which each slice is free
	for _, e := range p.Start {
		for i := range e.Instance.Profile.Length {
			free[e.GPU][e.Instance.Start+i] = e.BusyUntil
		}
	}
	operated := make([]mig.Seconds, p.GPUs()) // the end of the last operation on each GPU
	for _, e := range listEvents(&p, &s) {
		at := e.release
		if e.order != orderRun && p.Model == mig.Sequential {
			at = max(at, operated[e.gpu])
		}
		used := free[e.gpu][e.instance.Start:][:e.instance.Profile.Length]
		for _, t := range used {
			at = max(at, t)
		}
		if math.Abs(float64(at-*e.start)) > max(unmovedSeconds, float64(at)*unmovedShare) {
			*e.start = at
		}
		*e.end = *e.start + e.takes
		for i := range used {
			used[i] = *e.end
		}
		if e.order != orderRun {
			operated[e.gpu] = *e.end
		}
	}
	return s
}

// A planned start stays if it differs from the replayed start by at most the larger of unmovedSeconds and
// unmovedShare times the start: sums of the same durations differ by as much if they are added in another order.
const (
	unmovedSeconds = 1e-9
	unmovedShare   = 0x1p-49
)

// An event is a run or an operation of a schedule.
type event struct {
	gpu        int
	instance   mig.Instance
	start, end *mig.Seconds // point into the schedule
	// middle is halfway between start and end as planned. Events that share a slice have different middles or take no
	// time, whatever the tolerance of [Check] is.
	middle         mig.Seconds
	order          order
	release, takes mig.Seconds // release is the earliest start, and takes is the duration in the replay
}

// order sorts events with the same middle.
type order uint8

const (
	orderDestroy order = iota
	orderCreate
	orderRun
)

// listEvents returns the events of a schedule, each after all events that it waits for.
func listEvents(p *Problem, s *Schedule) []event {
	out := make([]event, 0, len(s.Placements)+len(s.Operations))
	for i := range s.Operations {
		o := &s.Operations[i]
		e := event{gpu: o.GPU, instance: o.Instance, start: &o.Start, end: &o.End, order: orderCreate}
		e.takes = p.Model.Cost(o.Instance.Profile.Create)
		if o.Op == Destroy {
			e.order = orderDestroy
			e.takes = p.Model.Cost(o.Instance.Profile.Destroy)
		}
		out = append(out, e)
	}
	for i := range s.Placements {
		pl := &s.Placements[i]
		out = append(out, event{
			gpu: pl.GPU, instance: pl.Instance, start: &pl.Start, end: &pl.End, order: orderRun,
			release: p.ReleaseOf(pl.Task), takes: p.Tasks[pl.Task].On(pl.Instance.Size()),
		})
	}
	for i := range out {
		out[i].middle = mig.Seconds(*out[i].start/2) + mig.Seconds(*out[i].end/2)
	}
	slices.SortStableFunc(out, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.middle, b.middle), cmp.Compare(a.order, b.order))
	})
	return out
}
