package sweep

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// Slurm is the engine of jobs that this program submits.
const Slurm = "slurm"

// A Job is one submission of a sweep.
type Job struct {
	// Engine is [Slurm], or another one in the file of an earlier version of miglab.
	Engine string `json:"engine"`
	// Name is the job's name in the engine's queue.
	Name string `json:"name,omitempty"`
	// IDs are the engine's names of what was submitted, and Merge that of the job
	// that merges, if there is one.
	IDs   []string `json:"ids"`
	Merge string   `json:"merge,omitempty"`
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

// AddJob notes a submission. No other process may do so at the same time.
func AddJob(folder string, j Job) error {
	all, err := Jobs(folder)
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(folder, jobsFile), append(all, j))
}
