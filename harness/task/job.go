package task

import (
	"math"

	"miglab/harness/mig"
)

// Minutes is a duration or an instant in minutes, the unit of the deadline report.
type Minutes float64

// A Job has a deadline and runs on one slice of a GPU that is partitioned once and
// for all (deadline report 2.4).
type Job struct {
	// Arrival and Deadline are instants from the beginning of the day.
	Arrival, Deadline Minutes
	// minutes is the duration by size, less one; zero where none is known.
	minutes [mig.MaxSize]Minutes
}

// On returns how long the job takes on an instance of the size; +Inf where it does
// not fit.
func (j *Job) On(size mig.Slices) Minutes {
	if d := j.minutes[size-1]; d != 0 {
		return d
	}
	return Minutes(math.Inf(1))
}

// Set gives the job's duration on instances of a size.
func (j *Job) Set(size mig.Slices, d Minutes) { j.minutes[size-1] = d }

// A Fleet is the GPUs of the dispatch track: each has a partition that never
// changes.
type Fleet struct {
	// Partitions has one entry a GPU.
	Partitions []mig.Partition
	// Watts is what a GPU draws by its number of busy compute slices, from 0; more
	// slices than there are entries draw the last one.
	Watts []float64
}
