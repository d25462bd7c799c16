package slurm

import (
	"cmp"
	"context"
	"os"
)

// RunName names this run of a task, as no other run of any task is named: by the job, which
// Slurm numbers, and how often Slurm has restarted it. It is empty if this process is not a
// job of Slurm.
func RunName() string {
	job := os.Getenv("SLURM_JOB_ID")
	if job == "" {
		return ""
	}
	return job + "-" + cmp.Or(os.Getenv("SLURM_RESTART_COUNT"), "0")
}

// Requeue puts the array task that this process is back into the queue. It reports whether it did. If this
// process is not a task of an array, it does nothing.
func Requeue(ctx context.Context) (bool, error) {
	array, index := os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID")
	if array == "" || index == "" {
		return false, nil
	}
	// Not by SLURM_JOB_ID: for one task of an array that is the number of all of it.
	_, err := runCommand(ctx, "scontrol", "requeue", array+"_"+index)
	return err == nil, err
}
