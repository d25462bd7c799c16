package sim

import "miglab/harness/task"

// A Dispatcher is a scheduler of the dispatch track.
type Dispatcher interface {
	// Dispatch chooses a free slice for the job at the head of the queue, as an index in Queue.Slices. At least one
	// slice is free, and the job may not wait for another.
	Dispatch(q *Queue) int
}

// A BatchDispatcher is a [Dispatcher] that decides faster for several days at once. A network, for example, reads its
// weights once for all of them. Its choice depends on the queue alone, not on earlier decisions or random numbers, so
// that one dispatcher may serve all days.
type BatchDispatcher interface {
	Dispatcher
	// DispatchAll sets choices[i] to the choice of Dispatch for queues[i]. Each queue has at least two free slices.
	DispatchAll(queues []*Queue, choices []int)
}

// DispatchSetting has the facts that a dispatcher may know before the first job.
type DispatchSetting struct {
	Seed   uint64 // starts the stream of a scheduler that draws random numbers
	Slices int    // the number of slices of the fleet
	// Preemptive is [task.Fleet.Preemptive]: jobs that have run return to the queue with shorter durations.
	Preemptive bool
	NumPy      *task.NumPyStream // [task.Queue.NumPy]; nil if the jobs were not drawn from NumPy's stream
}
