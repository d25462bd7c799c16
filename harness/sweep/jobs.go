package sweep

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"miglab/harness/atomicfile"
)

// A Job is one submission of a sweep.
type Job struct {
	// Name is the name of its jobs in Slurm's queue.
	Name string `json:"name"`
	// Array is Slurm's number of the array of tasks, and Merge that of the job that merges.
	Array string `json:"array"`
	Merge string `json:"merge"`
	// Tasks are the tasks' numbers.
	Tasks     []int     `json:"tasks"`
	Submitted time.Time `json:"submitted"`
}

const jobsFile = "jobs.json"

// Jobs returns what was submitted, in order; nothing where nothing was.
func Jobs(folder string) ([]Job, error) {
	var all []Job
	if err := readJSON(filepath.Join(folder, jobsFile), &all); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return all, nil
}

// AddJob notes a submission. Several processes may do so at the same time.
func AddJob(folder string, j Job) error {
	// It waits whatever happens, since Slurm has the job already.
	unlock, err := atomicfile.Lock(context.Background(), filepath.Join(folder, ".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	all, err := Jobs(folder)
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(folder, jobsFile), append(all, j))
}
