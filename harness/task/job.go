package task

import (
	"fmt"
	"math"

	"miglab/harness/mig"
)

// Minutes is a duration or a point in time in minutes, the unit of the deadline report.
type Minutes float64

// MaxMinutes bounds the times and durations of jobs, so that sums over many jobs keep their precision.
const MaxMinutes Minutes = 1e9

// A Job has a deadline and runs on one instance of a GPU whose partition never changes (deadline report 2.4).
type Job struct {
	// Arrival and Deadline count from the beginning of the day.
	Arrival, Deadline Minutes
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
