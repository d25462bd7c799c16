package external

import (
	"cmp"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

func init() {
	protocols[algo.TrackDispatch] = func(p *program) algo.Constructor {
		return algo.NewDispatcher(func(_ algo.Args, setting sim.DispatchSetting) (sim.Dispatcher, error) {
			if setting.Preemptive {
				return nil, &algo.UnsupportedError{
					What: "a pre-emptive fleet", Reason: "the protocol does not tell what is left of a job that has run",
				}
			}
			return &dispatcher{dialogue: newDialogue(p, setting.Seed)}, nil
		})
	}
}

// The questions of the dispatch track.
type (
	// fleet is the opening message.
	fleet struct {
		Type   string       `json:"type"` // fleet
		ID     int64        `json:"id"`
		Slices []fleetSlice `json:"slices"`
		Watts  []float64    `json:"watts"` // the power of a GPU by its number of busy compute slices, from 0
	}
	fleetSlice struct {
		GPU  int        `json:"gpu"`
		Size mig.Slices `json:"size"`
	}
	// dispatchRequest asks for a decision about a job.
	dispatchRequest struct {
		Type    string       `json:"type"` // job
		ID      int64        `json:"id"`
		Now     task.Minutes `json:"now_min"`
		Arrived []arrivedJob `json:"arrived"` // the jobs that have arrived since the last decision
		Job     int          `json:"job"`     // the number of the job to dispatch
		Free    []int        `json:"free"`    // the indices of the slices that are free
	}
	arrivedJob struct {
		Job      int                         `json:"job"`
		Arrival  task.Minutes                `json:"arrival_min"`
		Deadline task.Minutes                `json:"deadline_min"`
		Minutes  map[mig.Slices]task.Minutes `json:"minutes"` // lacks the sizes that the job does not fit
	}
)

// newFleet returns the opening message for a queue whose slices have not been used yet.
func newFleet(id int64, q *sim.Queue) fleet {
	f := fleet{Type: "fleet", ID: id}
	size := map[int]mig.Slices{} // by GPU
	largest := mig.Slices(0)
	for _, s := range q.Slices() {
		f.Slices = append(f.Slices, fleetSlice{s.GPU, s.Size})
		size[s.GPU] += s.Size
		largest = max(largest, size[s.GPU])
	}
	for busy := range largest + 1 {
		f.Watts = append(f.Watts, q.Watts(0, busy))
	}
	return f
}

// A choice is the answer to a dispatchRequest.
type choice struct {
	head
	Slice *int `json:"slice"`
}

func (c *choice) check(id int64) error {
	return c.expect(id, "slice is", []bool{c.Slice != nil}, "dispatch")
}

// A dispatcher is a program of the dispatch track.
type dispatcher struct {
	dialogue
	numbers map[*task.Job]int // the jobs that the program knows, numbered in the order of the messages
	waiting int               // the number of known jobs that still wait
}

// Dispatch implements [sim.Dispatcher]. If the program fails, Dispatch returns -1, which ends the simulation.
func (d *dispatcher) Dispatch(q *sim.Queue) int {
	if !d.opened {
		d.opened = true
		d.numbers = map[*task.Job]int{}
		d.waiting = 0
		d.ask(newFleet(d.id, q), &ready{})
	}
	arrived := d.newArrivals(q) // before the head is looked up in numbers
	question := dispatchRequest{Type: "job", ID: d.id, Now: q.Now(), Arrived: arrived, Job: d.numbers[q.Head()]}
	for i, s := range q.Slices() {
		if !s.Busy {
			question.Free = append(question.Free, i)
		}
	}
	var answer choice
	if !d.ask(question, &answer) {
		return -1
	}
	return *answer.Slice
}

// newArrivals numbers the jobs that the program does not know yet, by arrival and deadline.
func (d *dispatcher) newArrivals(q *sim.Queue) []arrivedJob {
	var unknown []*task.Job
	if q.Waiting() > d.waiting {
		for j := range q.All() {
			_, known := d.numbers[j]
			if !known {
				unknown = append(unknown, j)
			}
		}
	}
	d.waiting = q.Waiting() - 1 // without the job that is dispatched now
	slices.SortStableFunc(unknown, func(a, b *task.Job) int {
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.Deadline, b.Deadline))
	})
	var out []arrivedJob
	for _, j := range unknown {
		d.numbers[j] = len(d.numbers)
		a := arrivedJob{d.numbers[j], j.Arrival, j.Deadline, map[mig.Slices]task.Minutes{}}
		for size := mig.Slices(1); size <= mig.MaxSize; size++ {
			takes := j.On(size)
			if !math.IsInf(float64(takes), 1) {
				a.Minutes[size] = takes
			}
		}
		out = append(out, a)
	}
	return out
}
