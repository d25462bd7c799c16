package schedule

import (
	"cmp"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Problem is a batch of tasks and the GPUs to schedule them on.
type Problem struct {
	GPU   *mig.GPU            // the model; all GPUs are of one model
	Count int                 // the number of GPUs; 0 means 1
	Model mig.Reconfiguration // says how long reconfigurations take
	// Start lists the instances that exist at time 0. If it is empty, the GPUs are empty.
	Start   []Existing
	Release []mig.Seconds // the earliest time at which each task may start; nil if all may start at time 0
	// Restart is the shortest break of a stopped task before it continues, on any instance of any GPU. The task keeps
	// the work that it has done. 0 means that tasks cannot be stopped: each runs once, without a break.
	Restart mig.Seconds
	// Tasks lists the tasks in order of arrival. Each must run once.
	Tasks task.Batch
}

// GPUs returns the number of GPUs.
func (p *Problem) GPUs() int { return max(p.Count, 1) }

// ReleaseOf returns the earliest time at which a task may start.
func (p *Problem) ReleaseOf(i int) mig.Seconds {
	if p.Release == nil {
		return 0
	}
	return p.Release[i]
}

// Existing is an instance that exists at time 0.
type Existing = task.Existing

// A Placement is the run of a task, or a part of it where tasks can be stopped.
type Placement struct {
	Task       int // the index in Problem.Tasks
	GPU        int // counts from 0
	Instance   mig.Instance
	Start, End mig.Seconds
}

// Op is a reconfiguration operation.
type Op uint8

// The two operations of MIG (FAR 2.1).
const (
	Create Op = iota
	Destroy
)

// String returns "create" or "destroy".
func (o Op) String() string {
	if o == Create {
		return "create"
	}
	return "destroy"
}

// An Operation creates or destroys an instance.
type Operation struct {
	Op         Op
	GPU        int // counts from 0
	Instance   mig.Instance
	Start, End mig.Seconds
}

// A Schedule is a solution of a [Problem].
type Schedule struct {
	GPU *mig.GPU
	// Algorithm is the ID, with parameters, of the algorithm that made the schedule. Package algo sets it.
	Algorithm  string
	Model      mig.Reconfiguration
	Placements []Placement // one entry for each task, or for each part of its run, in any order
	Operations []Operation // one entry for each create or destroy, in any order
	// Counters are whole numbers that an algorithm reports about its work, for example
	// the moves and swaps of FAR's refinement. It is nil if the algorithm reports no numbers.
	Counters map[string]int
}

// Makespan returns the time at which the last task ends (FAR 2.2). Destroying the
// remaining instances is not part of it. It is 0 for a schedule without tasks.
func (s *Schedule) Makespan() mig.Seconds {
	var m mig.Seconds
	for i := range s.Placements {
		m = max(m, s.Placements[i].End)
	}
	return m
}

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
