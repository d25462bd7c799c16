package task

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"miglab/harness/mig"
)

// Batches is one batch of tasks, or a stream of several.
type Batches struct {
	// Tasks holds the batches one after the other, each in order of arrival.
	Tasks Batch
	// Lengths holds the number of tasks of each batch; it adds up to len(Tasks).
	Lengths []int
	// Start lists the instances that exist at time 0. If it is empty, the GPU is empty.
	Start []Existing
	// Arrivals holds the time at which each task arrives, in ascending order. It is nil if all tasks arrive at time 0.
	Arrivals []mig.Seconds
	// Estimates holds the tasks in the order of Tasks, with estimated durations for the scheduler. Tasks has the true
	// durations. It is nil if the scheduler knows the true durations.
	Estimates Batch
	// Restart is the shortest break of a stopped task before it continues. It is 0 if tasks cannot be stopped.
	Restart mig.Seconds
}

// Releases returns the earliest time at which each task may start; nil for time 0. A batch is
// scheduled as a whole: its tasks wait until its last task has arrived.
func (b *Batches) Releases() []mig.Seconds {
	if b.Arrivals == nil {
		return nil
	}
	out := make([]mig.Seconds, 0, len(b.Tasks))
	for _, n := range b.Lengths {
		out = append(out, slices.Repeat([]mig.Seconds{b.Arrivals[len(out)+n-1]}, n)...)
	}
	return out
}

// Existing is an instance that exists at time 0.
type Existing struct {
	// GPU counts from 0.
	GPU      int
	Instance mig.Instance
	// BusyUntil is the time from which the instance can be used or destroyed. It is 0 if the instance is idle.
	BusyUntil mig.Seconds
}

// OneBatch returns the payload that consists of a single batch.
func OneBatch(b Batch) Batches { return Batches{Tasks: b, Lengths: []int{len(b)}} }

// Kind implements [Payload].
func (Batches) Kind() string { return "tasks" }

// AddTo implements [Payload].
func (b Batches) AddTo(d *Digest) {
	h := b.Tasks.Hash()
	d.Text(string(h[:]))
	d.Int(len(b.Lengths))
	for _, n := range b.Lengths {
		d.Int(n)
	}
	for _, e := range b.Start { // an empty GPU adds no values, so that older digests stay valid
		d.Int(e.GPU)
		d.Text(e.Instance.String())
		d.Float(float64(e.BusyUntil))
	}
	if b.Arrivals != nil {
		d.Text("arrivals")
		for _, at := range b.Arrivals {
			d.Float(float64(at))
		}
	}
	if b.Estimates != nil {
		h := b.Estimates.Hash()
		d.Text(string(h[:]))
	}
	if b.Restart > 0 {
		d.Text("restart")
		d.Float(float64(b.Restart))
	}
}

// WriteCSV implements [Payload]. The format cannot express instances that exist at time 0, estimates, or tasks that
// can be stopped; each is an error.
func (b Batches) WriteCSV(w io.Writer, g *mig.GPU) error {
	if b.Estimates != nil {
		return errors.New("a tasks file has no place for estimates; write the tasks without noise")
	}
	if len(b.Start) > 0 {
		return fmt.Errorf("%d instances exist at time 0, and a tasks file cannot say so; write tasks that start on "+
			"an empty GPU", len(b.Start))
	}
	if b.Restart > 0 {
		return fmt.Errorf("tasks can be stopped, and a tasks file cannot say so; write a dataset with restart=0")
	}
	return WriteStream(w, g, b)
}
