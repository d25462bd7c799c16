package schedule

import (
	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Problem is what a schedule has to solve.
type Problem struct {
	// GPU is the model; all GPUs are of one model.
	GPU *mig.GPU
	// Count is the number of GPUs; 0 means 1.
	Count int
	// Model says what reconfiguring costs.
	Model mig.Reconfiguration
	// Start lists the instances that exist at time 0. Without it the GPUs are empty.
	Start []Existing
	// Release is the instant at which each task may start at the earliest; nil
	// means that all are there at time 0.
	Release []mig.Seconds
	// Tasks are the tasks to run, each once, in order of arrival.
	Tasks task.Batch
}

// GPUs returns the number of GPUs.
func (p *Problem) GPUs() int { return max(p.Count, 1) }

// ReleaseOf returns the instant at which a task may start at the earliest.
func (p *Problem) ReleaseOf(i int) mig.Seconds {
	if p.Release == nil {
		return 0
	}
	return p.Release[i]
}

// Existing is an instance that is there at time 0.
type Existing struct {
	// GPU counts from 0.
	GPU      int
	Instance mig.Instance
	// BusyUntil is the instant from which it can be used or destroyed; 0 when it is idle.
	BusyUntil mig.Seconds
}

// A Placement is one task's run.
type Placement struct {
	// Task is the index in Problem.Tasks.
	Task int
	// GPU counts from 0.
	GPU        int
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
	Op Op
	// GPU counts from 0.
	GPU        int
	Instance   mig.Instance
	Start, End mig.Seconds
}

// A Schedule is an answer to a [Problem].
type Schedule struct {
	GPU *mig.GPU
	// Algorithm is the ID of what made it, with its parameters; package algo fills
	// it in.
	Algorithm string
	Model     mig.Reconfiguration
	// Placements has one entry a task, in any order.
	Placements []Placement
	// Operations has one entry a create or destroy, in any order.
	Operations []Operation
	// Counters are whole numbers that an algorithm reports about its work, for
	// example the moves and swaps of FAR's refinement; nil when there are none.
	Counters map[string]int
}

// Makespan returns the instant at which the last task ends (FAR 2.2). Destroying
// what remains is not part of it. It is 0 for a schedule without tasks.
func (s *Schedule) Makespan() mig.Seconds {
	var m mig.Seconds
	for i := range s.Placements {
		m = max(m, s.Placements[i].End)
	}
	return m
}
