package sim

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// Dispatch is the event engine of the dispatch track (deadline report 2.3, 2.4 and its released environment). A fleet
// of GPUs with fixed partitions serves jobs with deadlines: the job with the earliest deadline starts on a free slice
// and stays there until it ends. Time does not advance while a job waits and a slice is free; otherwise it jumps to
// the next arrival or completion. At the same time arrivals come first, then dispatches, then completions.
//
// A pre-emptive fleet ([task.Fleet.Preemptive]) is the environment of the authors' first notebook
// (RL_project_scheduling.ipynb): whenever a job arrives or ends, the running jobs return to the queue, and each may be
// dispatched to any free slice. A job that has run for a share of its duration on its slice needs that share less on
// every size. At the same time completions come first, then arrivals, then all jobs are dispatched again. The
// notebook does this for one event after the other, which differs only if events coincide.
//
// [RunDispatch] drives it with a [Dispatcher]. Other callers, such as an environment for
// reinforcement learning, call Next and Place in turn.
type Dispatch struct {
	queue      Queue
	sizes      []mig.Slices   // the distinct sizes of the fleet's slices, in ascending order
	arrived    int            // the number of jobs that have arrived
	rounded    bool           // [task.Fleet.Float32]
	ends       []task.Minutes // the end of the job on each slice; never if the slice is free
	stays      []Run          // the job on each slice with its start; nil unless the fleet is pre-emptive
	completion task.Minutes   // the time at which the next busy slice becomes free; never if all are free

	result    DispatchResult
	tardiness task.Minutes // the sum over the jobs dispatched so far
}

// ChoiceError describes an impossible choice of a dispatcher or placer.
type ChoiceError struct{ text string }

func (e *ChoiceError) Error() string { return e.text }

// NewDispatch returns an engine at the beginning of the day. Jobs must be listed by ascending arrival. They must run
// on every size in the fleet, because a job may not wait while any slice is free. With [task.Fleet.Float32] arrivals
// must be float32 numbers: a job could otherwise end before it starts. NewDispatch returns an error for an impossible
// fleet or job. The engine reads the jobs and the fleet until it is done; they must not change.
func NewDispatch(jobs []task.Job, fleet task.Fleet) (*Dispatch, error) {
	if err := fleet.Validate(); err != nil {
		return nil, err
	}
	e := &Dispatch{rounded: fleet.Float32}
	q := &e.queue
	q.watts = fleet.Watts
	q.busy = make([]mig.Slices, len(fleet.Partitions))
	for gpu, p := range fleet.Partitions {
		for _, in := range p {
			q.slices = append(q.slices, Slice{GPU: gpu, Size: in.Size()})
			e.sizes = append(e.sizes, in.Size())
		}
	}
	if fleet.Preemptive {
		e.stays = make([]Run, len(q.slices))
	}
	slices.Sort(e.sizes)
	e.sizes = slices.Compact(e.sizes)
	e.ends = make([]task.Minutes, len(q.slices))
	if err := e.Reset(jobs); err != nil {
		return nil, err
	}
	return e, nil
}

// Reset returns to the beginning of a day with other jobs, as if the engine were new.
// It returns the errors of [NewDispatch] for jobs; the engine is then unchanged. Reset reuses memory:
// it overwrites the runs of earlier results and the jobs of a pre-emptive fleet, which are copies.
func (e *Dispatch) Reset(jobs []task.Job) error {
	if err := e.checkJobs(jobs); err != nil {
		return err
	}
	q := &e.queue
	logged := len(jobs) // the log has a run for each job, or grows with the stays
	if e.stays != nil {
		jobs = append(q.jobs[:0], jobs...)
		logged = 0
	}
	q.now = 0
	q.jobs = jobs
	q.waiting = q.waiting[:0]
	q.free = len(q.slices)
	for i := range q.slices {
		q.slices[i].Busy, q.slices[i].FreeAt = false, 0
		e.ends[i] = never
	}
	clear(q.busy)
	runs := slices.Grow(e.result.Runs[:0], logged)[:logged]
	clear(runs)
	e.arrived = 0
	e.completion = never
	e.tardiness = 0
	e.result = DispatchResult{Runs: runs}
	return nil
}

// never is later than every time.
var never = task.Minutes(math.Inf(1))

// checkJobs returns an error if the fleet cannot serve the jobs; see [NewDispatch].
func (e *Dispatch) checkJobs(jobs []task.Job) error {
	if len(jobs) > math.MaxInt32 {
		return fmt.Errorf("there are %d jobs; there may be %d", len(jobs), math.MaxInt32)
	}
	for i := range jobs {
		j := &jobs[i]
		if err := j.Validate(e.sizes); err != nil {
			return fmt.Errorf("job %d %w", i, err)
		}
		if i > 0 && j.Arrival < jobs[i-1].Arrival {
			return fmt.Errorf("job %d arrives at %v min, before job %d at %v min; list jobs by ascending arrival",
				i, j.Arrival, i-1, jobs[i-1].Arrival)
		}
		if e.rounded && task.Minutes(float32(j.Arrival)) != j.Arrival {
			return fmt.Errorf("job %d arrives at %v min, which is not a float32 number; the fleet's clock is float32",
				i, j.Arrival)
		}
	}
	return nil
}

// Next advances time until a job waits and a slice is free. It returns nil once every job is completed.
func (e *Dispatch) Next() *Queue {
	q := &e.queue
	for len(q.waiting) == 0 || q.free == 0 {
		arrival := never
		if e.arrived < len(q.jobs) {
			arrival = q.jobs[e.arrived].Arrival
		}
		switch {
		case arrival == never && e.completion == never:
			return nil
		case e.stays != nil:
			e.preempt(arrival)
		case arrival <= e.completion:
			e.arrive()
		default:
			e.complete()
		}
	}
	return q
}

// preempt advances to the next arrival or completion, carries out all events of that time, and returns the jobs
// that still run to the queue.
func (e *Dispatch) preempt(arrival task.Minutes) {
	q := &e.queue
	ends := e.completion <= arrival
	if ends {
		e.complete()
	}
	if !ends || arrival == q.now {
		e.arrive()
	}
	for i := range q.slices {
		s, stay := &q.slices[i], &e.stays[i]
		if !s.Busy {
			continue
		}
		q.jobs[stay.Job].Shorten(1 - float64((q.now-stay.Start)/(s.FreeAt-stay.Start)))
		if q.now > stay.Start {
			e.leave(i)
		}
		s.FreeAt = q.now
		e.release(i)
		e.wait(stay.Job)
	}
	e.completion = never
}

// leave logs the end of the stay on a slice of a pre-emptive fleet.
func (e *Dispatch) leave(slice int) {
	stay := e.stays[slice]
	stay.End = e.queue.now
	e.result.Runs = append(e.result.Runs, stay)
}

// arrive advances to the next arrival and adds all jobs of that time to the queue.
func (e *Dispatch) arrive() {
	q := &e.queue
	at := q.jobs[e.arrived].Arrival
	energy := e.energy(at - q.now)
	e.result.Energy += energy
	e.result.EnergyAsReleased += energy
	q.now = at
	for e.arrived < len(q.jobs) && q.jobs[e.arrived].Arrival == at {
		e.wait(e.arrived)
		e.arrived++
	}
}

// wait adds a job to the queue.
func (e *Dispatch) wait(job int) {
	e.queue.waiting.Push(heap.Item[task.Minutes]{
		Key: e.queue.jobs[job].Deadline, Tie: int32(job), ID: int32(job),
	})
}

// release frees a slice.
func (e *Dispatch) release(slice int) {
	q := &e.queue
	s := &q.slices[slice]
	s.Busy = false
	q.free++
	q.busy[s.GPU] -= s.Size
	e.ends[slice] = never
}

// complete advances to the next completion and frees all slices whose jobs end then.
// The report's released code frees them before it charges for the interval in which they
// were busy. This is the only difference between the two energies.
func (e *Dispatch) complete() {
	q := &e.queue
	interval := e.completion - q.now
	e.result.Energy += e.energy(interval)
	q.now = e.completion
	e.completion = never
	for i, end := range e.ends {
		if end <= q.now {
			e.release(i)
			if e.stays != nil {
				e.leave(i)
				e.count(&q.jobs[e.stays[i].Job], q.now)
			}
		} else if end < e.completion {
			e.completion = end
		}
	}
	e.result.EnergyAsReleased += e.energy(interval)
	e.result.Makespan = q.now
}

// energy returns the energy that the fleet uses in a time d in its present state. It adds up all GPUs each time,
// because a running sum would accumulate rounding errors.
func (e *Dispatch) energy(d task.Minutes) WattMinutes {
	watts := 0.0
	for gpu := range e.queue.busy {
		watts += e.queue.Watts(gpu, 0)
	}
	return WattMinutes(watts * float64(d))
}

// Place starts the job at the head on a slice, given by its index in [Queue.Slices]. Call it once after each Next that
// did not return nil. It returns a [*ChoiceError] if the slice is busy or does not exist; the engine is then unchanged.
func (e *Dispatch) Place(slice int) error {
	q := &e.queue
	job := int(q.waiting[0].ID)
	if slice < 0 || slice >= len(q.slices) {
		return &ChoiceError{fmt.Sprintf("job %d was dispatched to slice %d, which does not exist; choose a free one "+
			"from 0 to %d", job, slice, len(q.slices)-1)}
	}
	s := &q.slices[slice]
	if s.Busy {
		return &ChoiceError{fmt.Sprintf("job %d was dispatched to slice %d, which is busy until %v min; choose "+
			"one of the %d free ones", job, slice, s.FreeAt, q.free)}
	}
	q.waiting.Pop()
	j := &q.jobs[job]
	s.Busy, s.FreeAt = true, q.now+j.On(s.Size)
	if e.rounded {
		s.FreeAt = task.Minutes(float32(s.FreeAt))
	}
	q.free--
	q.busy[s.GPU] += s.Size
	e.ends[slice] = s.FreeAt
	e.completion = min(e.completion, s.FreeAt)

	stay := Run{Job: job, Slice: slice, Start: q.now, End: s.FreeAt}
	if e.stays != nil {
		e.stays[slice] = stay
		return nil
	}
	e.count(j, s.FreeAt)
	e.result.Runs[job] = stay
	return nil
}

// count adds a job and its end to the measurements.
func (e *Dispatch) count(j *task.Job, end task.Minutes) {
	e.result.Jobs++
	if end > j.Deadline {
		e.result.Late++
		e.tardiness += end - j.Deadline
	}
}

// Result returns the measurements so far. They are complete once Next has returned nil.
func (e *Dispatch) Result() DispatchResult {
	r := e.result
	if r.Jobs > 0 {
		r.Tardiness = e.tardiness / task.Minutes(r.Jobs)
	}
	return r
}

// RunDispatch serves all jobs with a dispatcher. It returns the errors of [NewDispatch] and [Dispatch.Place].
func RunDispatch(jobs []task.Job, fleet task.Fleet, d Dispatcher) (DispatchResult, error) {
	e, err := NewDispatch(jobs, fleet)
	if err != nil {
		return DispatchResult{}, err
	}
	for q := e.Next(); q != nil; q = e.Next() {
		if err := e.Place(d.Dispatch(q)); err != nil {
			return DispatchResult{}, err
		}
	}
	return e.Result(), nil
}

// RunDispatches serves several days side by side, with the same results as [RunDispatch]. If a
// day fails, it returns that day's error and no results.
func RunDispatches(days []task.Queue, d BatchDispatcher) ([]DispatchResult, error) {
	engines := make([]*Dispatch, len(days))
	for i, day := range days {
		var err error
		if engines[i], err = NewDispatch(day.Jobs, day.Fleet); err != nil {
			return nil, err
		}
	}
	var queues []*Queue
	choices := make([]int, len(days))
	for active := slices.Clone(engines); ; {
		waiting := active[:0]
		queues = queues[:0]
		for _, e := range active {
			q := e.nextChoice()
			if q != nil {
				waiting = append(waiting, e)
				queues = append(queues, q)
			}
		}
		active = waiting
		if len(active) == 0 {
			break
		}
		d.DispatchAll(queues, choices[:len(queues)])
		for i, e := range active {
			if err := e.Place(choices[i]); err != nil {
				return nil, err
			}
		}
	}
	results := make([]DispatchResult, len(days))
	for i, e := range engines {
		results[i] = e.Result()
	}
	return results, nil
}

// nextChoice advances until a job can start on more than one slice. It starts earlier jobs on
// the only free slice. It returns nil once every job is completed.
func (e *Dispatch) nextChoice() *Queue {
	for {
		q := e.Next()
		if q == nil || q.free > 1 {
			return q
		}
		only := slices.IndexFunc(q.slices, func(s Slice) bool { return !s.Busy })
		if err := e.Place(only); err != nil {
			panic("sim: " + err.Error()) // Next returns a queue with a free slice.
		}
	}
}
