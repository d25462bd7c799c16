package task

import (
	"errors"
	"fmt"
	"io"
	"math"

	"miglab/harness/mig"
)

// Minutes is a duration or a point in time in minutes, the unit of the deadline report.
type Minutes float64

// MaxMinutes bounds the times and durations of jobs, so that sums over many jobs keep their precision.
const MaxMinutes Minutes = 1e9

// A Job has a deadline and runs on one instance of a GPU whose partition never changes (deadline report 2.4).
type Job struct {
	Arrival, Deadline Minutes // count from the beginning of the day
	// minutes holds the duration for size s at index s-1. Zero means that the job does not fit.
	minutes [mig.MaxSize]Minutes
}

// On returns the duration of the job on an instance of the size. It returns +Inf if the job does not fit.
func (j *Job) On(size mig.Slices) Minutes {
	d := j.minutes[size-1]
	if d == 0 {
		return Minutes(math.Inf(1))
	}
	return d
}

// Set sets the job's duration on instances of a size.
func (j *Job) Set(size mig.Slices, d Minutes) { j.minutes[size-1] = d }

// Shorten multiplies the job's durations on all sizes by a factor.
func (j *Job) Shorten(factor float64) {
	for i := range j.minutes {
		j.minutes[i] *= Minutes(factor)
	}
}

// Validate checks that the job's times are possible and that it runs on instances of all
// the sizes. The error text continues a sentence that begins with the job.
func (j *Job) Validate(sizes []mig.Slices) error {
	if !(j.Arrival >= 0 && j.Arrival <= MaxMinutes) {
		return fmt.Errorf("arrives at %v min; instants are from 0 to %v", j.Arrival, MaxMinutes)
	}
	if !(j.Deadline >= j.Arrival && j.Deadline <= MaxMinutes) {
		return fmt.Errorf("has its deadline at %v min; it must be from its arrival at %v to %v", j.Deadline, j.Arrival,
			MaxMinutes)
	}
	for _, s := range sizes {
		d := j.On(s)
		if !(d > 0 && d <= MaxMinutes) {
			return fmt.Errorf("takes %v min on size %d; durations are positive and at most %v on every size "+
				"in the fleet", d, s, MaxMinutes)
		}
	}
	return nil
}

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
	Partitions []mig.Partition // one entry for each GPU
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
	Seed uint32 // the argument of np.random.seed
	Used int    // the number of 32-bit numbers drawn since
}

func (Queue) Kind() string { return "jobs" }

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

func (q Queue) WriteCSV(w io.Writer, g *mig.GPU) error { return WriteJobs(w, g, q.Jobs) }
