package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// ends are the states in which a job no longer computes, or is being killed.
var ends = []string{
	"BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
	"PREEMPTED", "REVOKED", "TIMEOUT",
}

// Queue returns the states of the tasks that wait or run in the job arrays of a name, for example PENDING.
func Queue(ctx context.Context, name string) (map[int]string, error) {
	out, err := Run(ctx, "squeue", "-h", "-r", "-t", "all", "--name="+name, "-o", "%i|%T")
	if err != nil {
		return nil, err
	}
	states := map[int]string{}
	for line := range strings.Lines(out) { // such as 12_3|RUNNING: array, task and state
		id, state, _ := strings.Cut(strings.TrimSpace(line), "|")
		_, index, isTask := strings.Cut(id, "_")
		if !isTask || slices.Contains(ends, state) {
			continue // a merge, or a task that has ended
		}
		task, err := strconv.Atoi(index)
		if err != nil {
			return nil, fmt.Errorf("squeue answers %q; want a task such as 12_3|RUNNING", line)
		}
		states[task] = state
	}
	return states, nil
}

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

// Requeue puts the array task that this process is back into the queue. It reports whether it did. It
// leaves a process that is not a task of an array as it is.
func Requeue(ctx context.Context) (bool, error) {
	array, index := os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID")
	if array == "" || index == "" {
		return false, nil
	}
	// Not by SLURM_JOB_ID: for one task of an array that is the number of all of it.
	_, err := Run(ctx, "scontrol", "requeue", array+"_"+index)
	return err == nil, err
}

// Run runs a command of Slurm, or the script of a [Submission], and returns what it prints. The error of one that fails
// has the last line that it says.
func Run(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	failed, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return string(out), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case failed != nil && len(failed.Stderr) > 0:
		text := strings.TrimSpace(string(failed.Stderr))
		return "", fmt.Errorf("%s", text[strings.LastIndexByte(text, '\n')+1:])
	}
	return "", fmt.Errorf("%s: %w", name, err)
}
