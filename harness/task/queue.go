package task

import (
	"errors"
	"fmt"
	"io"

	"miglab/harness/mig"
)

// Queue is a queue of jobs with deadlines, by arrival, and the fleet that serves it (deadline report 2.4).
type Queue struct {
	Jobs  []Job
	Fleet Fleet
	// NumPy is the position of NumPy's random stream after the jobs were drawn from it; nil if
	// the jobs have another source.
	NumPy *NumPyStream
}

// A Fleet is the GPUs of the dispatch track: each has a partition that never changes.
type Fleet struct {
	// Partitions has one entry for each GPU.
	Partitions []mig.Partition
	// Watts is the power of a GPU with 0, 1, 2, ... busy compute slices. The last entry is also for more slices.
	Watts []float64
	// Float32 rounds end times to float32 when a job starts, as the deadline report's code does.
	// All arrivals must then be float32 numbers.
	Float32 bool
	// Preemptive returns all running jobs to the queue whenever a job arrives or ends, as the authors' first notebook
	// does. A job keeps its progress and may continue on another slice.
	Preemptive bool
}

// Slices returns the number of instances of all GPUs; the deadline report calls an instance a slice.
func (f *Fleet) Slices() int {
	n := 0
	for _, p := range f.Partitions {
		n += len(p)
	}
	return n
}

// Validate checks that the fleet has GPUs, that the instances of each can exist together,
// and that the power table is valid.
func (f *Fleet) Validate() error {
	if len(f.Partitions) == 0 {
		return errors.New("the fleet has no GPUs; it needs at least 1")
	}
	for gpu, p := range f.Partitions {
		var taken mig.Mask
		for _, in := range p {
			if taken&in.Mask() != 0 {
				return fmt.Errorf("the fleet has GPU %d with the partition %q, in which %v overlaps another instance",
					gpu, p, in)
			}
			taken |= in.Mask()
		}
		if taken == 0 {
			return fmt.Errorf("the fleet has GPU %d with the partition %q, which has no slices", gpu, p)
		}
	}
	if len(f.Watts) == 0 {
		return errors.New("the fleet has no power table; give the watts of a GPU by busy slices, from 0")
	}
	for busy, w := range f.Watts {
		if !(w >= 0 && w <= maxWatts) {
			return fmt.Errorf("the fleet draws %v W a GPU with %d busy slices; give a number from 0 to %v", w, busy,
				float64(maxWatts))
		}
	}
	return nil
}

// maxWatts bounds the power of a GPU.
const maxWatts = 1e6

// A NumPyStream is a position in the random stream of NumPy, package numpy.
type NumPyStream struct {
	// Seed is the argument of np.random.seed.
	Seed uint32
	// Used is the number of 32-bit numbers drawn since.
	Used int
}

// Kind implements [Payload].
func (Queue) Kind() string { return "jobs" }

// AddTo implements [Payload].
func (q Queue) AddTo(d *Digest) {
	d.Floats(q.Fleet.Watts)
	d.Int(len(q.Fleet.Partitions))
	for _, p := range q.Fleet.Partitions {
		d.Text(p.String())
	}
	d.Int(len(q.Jobs))
	for i := range q.Jobs {
		j := &q.Jobs[i]
		d.Float(float64(j.Arrival))
		d.Float(float64(j.Deadline))
		for _, m := range j.minutes {
			d.Float(float64(m))
		}
	}
	// These fields are only added if they are set, so that older digests stay valid.
	if q.Fleet.Float32 {
		d.Text("float32")
	}
	if q.Fleet.Preemptive {
		d.Text("preemptive")
	}
	if q.NumPy != nil {
		d.Text("NumPy")
		d.Int(int(q.NumPy.Seed))
		d.Int(q.NumPy.Used)
	}
}

// WriteCSV implements [Payload].
func (q Queue) WriteCSV(w io.Writer, g *mig.GPU) error { return WriteJobs(w, g, q.Jobs) }
