package sim

import "miglab/harness/task"

// A Dispatcher is a scheduler of the dispatch track.
type Dispatcher interface {
	// Dispatch chooses a free slice for the job at the head of the queue, as an index
	// in Queue.Slices. At least one slice is free, and the job may not wait for another.
	Dispatch(q *Queue) int
}

// A BatchDispatcher is a [Dispatcher] that decides faster for several days at once, such as a
// network that reads its weights once for all of them. It carries no state from decision to
// decision and draws no random numbers, so that one may serve all the days.
type BatchDispatcher interface {
	Dispatcher
	// DispatchAll writes the choice for the head of each queue, the same as Dispatch's. At
	// least two slices of each queue are free.
	DispatchAll(queues []*Queue, choices []int)
}

// DispatchSetting is what a dispatcher may know before the first job.
type DispatchSetting struct {
	// Seed names the stream of a scheduler that draws random numbers.
	Seed uint64
	// Slices is how many slices the fleet has.
	Slices int
	// Preemptive is that of the [task.Fleet]: jobs that have run return to the queue, with durations that are shorter.
	Preemptive bool
	// NumPy is that of the [task.Queue]; nil if it has none.
	NumPy *task.NumPyStream
}
