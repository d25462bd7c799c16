package sim

import (
	"iter"

	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// Queue is the state of the dispatch track that a dispatcher sees: the jobs that wait, and the slices of the fleet.
// Jobs wait in the order of their deadlines (EDF), and with equal deadlines in the order of arrival. The results of
// its methods belong to the engine: do not change them. They are valid until the next decision.
type Queue struct {
	now  task.Minutes
	jobs []task.Job
	// waiting has the jobs that wait. The key is the deadline. The tie is the index,
	// which sorts equal deadlines by arrival, because jobs are listed by arrival.
	waiting heap.Heap[task.Minutes]
	slices  []Slice
	free    int
	busy    []mig.Slices // the number of busy compute slices by GPU
	watts   []float64    // [task.Fleet.Watts]: the power of a GPU by its number of busy compute slices
}

// A Slice is one instance of a GPU of the fleet (the reports' "slice").
type Slice struct {
	GPU    int          // counts from 0, in the order of [task.Fleet.Partitions]
	Size   mig.Slices   // the number of compute slices
	Busy   bool         // reports whether a job runs on the slice
	FreeAt task.Minutes // the end of that job; for a free slice, the end of its last job
}

// Now returns the time of the decision.
func (q *Queue) Now() task.Minutes { return q.now }

// Head returns the job to dispatch.
func (q *Queue) Head() *task.Job { return &q.jobs[q.waiting[0].ID] }

// Next returns the job that will be at the head next if no other job arrives before that; nil if no other job waits. It
// is one of the two children of the heap's root.
func (q *Queue) Next() *task.Job {
	switch {
	case len(q.waiting) < 2:
		return nil
	case len(q.waiting) > 2 && q.waiting[2].Before(q.waiting[1]):
		return &q.jobs[q.waiting[2].ID]
	}
	return &q.jobs[q.waiting[1].ID]
}

// Waiting returns the number of jobs that wait, including the head.
func (q *Queue) Waiting() int { return len(q.waiting) }

// All yields the jobs that wait: the head first, then the others in an arbitrary but fixed order.
func (q *Queue) All() iter.Seq[*task.Job] {
	return func(yield func(*task.Job) bool) {
		for _, w := range q.waiting {
			if !yield(&q.jobs[w.ID]) {
				return
			}
		}
	}
}

// Slices returns the slices of the fleet: GPU by GPU, and from left to right in each partition.
func (q *Queue) Slices() []Slice { return q.slices }

// Free returns the number of free slices, at least 1 when a decision is due.
func (q *Queue) Free() int { return q.free }

// Watts returns the power that a GPU would draw with so many more busy compute slices than now.
func (q *Queue) Watts(gpu int, more mig.Slices) float64 {
	return q.watts[min(int(q.busy[gpu]+more), len(q.watts)-1)]
}
