package schedule

import (
	"cmp"
	"slices"

	"miglab/harness/mig"
)

// A History says when pieces of work arrived, waited and ran: the tasks of a schedule, requests, or jobs.
type History struct {
	Slices int  // the number of compute slices of all GPUs
	Due    bool // the work has deadlines
	Work   []Work
}

// Work is a task, a request or a job.
type Work struct {
	Arrival mig.Seconds
	Late    bool   // the work ended after its deadline
	Stays   []Stay // the runs of the work in the order of time: at least one, and several if it was stopped
}

// A Stay is a run from Start up to End on a number of compute slices.
type Stay struct {
	Start, End mig.Seconds
	Slices     int
}

// A Step is the value of a count from an instant on, until the next step.
type Step struct {
	At mig.Seconds `json:"at"`
	N  int         `json:"n"`
}

// NewHistory returns the history of a schedule that [Check] accepts. arrivals has the arrival of each task; nil means
// time 0.
func NewHistory(p Problem, s Schedule, arrivals []mig.Seconds) History {
	h := History{Slices: p.GPUs() * int(p.GPU.ComputeSlices), Work: make([]Work, len(p.Tasks))}
	for i, at := range arrivals {
		h.Work[i].Arrival = at
	}
	for _, pl := range s.Placements {
		w := &h.Work[pl.Task]
		w.Stays = append(w.Stays, Stay{Start: pl.Start, End: pl.End, Slices: int(pl.Instance.Size())})
	}
	for _, w := range h.Work {
		slices.SortFunc(w.Stays, func(a, b Stay) int { return cmp.Compare(a.Start, b.Start) })
	}
	return h
}

// End returns the time at which the last run ends; 0 without a run.
func (h History) End() (end mig.Seconds) {
	for _, w := range h.Work {
		for _, s := range w.Stays {
			end = max(end, s.End)
		}
	}
	return end
}

// Steps counts over time the compute slices on which work runs, the work that has arrived and neither runs nor has
// ended, and the work that has ended late so far. At an instant, up to the referee's tolerance, ends come before starts
// and arrivals. The first step of a count is at time 0, and each has another value than the step before.
func (h History) Steps() (used, waiting, late []Step) {
	for _, w := range h.Work {
		since := w.Arrival // the start of the next wait
		for _, s := range w.Stays {
			used = append(used, Step{At: s.Start, N: s.Slices}, Step{At: s.End, N: -s.Slices})
			waiting = append(waiting, Step{At: since, N: 1}, Step{At: s.Start, N: -1})
			since = s.End
		}
		if w.Late {
			late = append(late, Step{At: since, N: 1})
		}
	}
	return sumChanges(used), sumChanges(waiting), sumChanges(late)
}

// sumChanges turns changes of a count into its values.
func sumChanges(changes []Step) []Step {
	slices.SortFunc(changes, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	out := []Step{{}}
	for _, change := range changes {
		last := out[len(out)-1]
		if !sameInstant(last.At, change.At) {
			out = append(out, Step{At: change.At, N: last.N})
		}
		out[len(out)-1].N += change.N
	}
	return slices.CompactFunc(out, func(a, b Step) bool { return a.N == b.N })
}
