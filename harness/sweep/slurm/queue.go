package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ends are the states in which a job no longer computes, or is being killed.
var ends = []string{
	"BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
	"PREEMPTED", "REVOKED", "TIMEOUT",
}

// Queued returns the tasks that wait or run in the job arrays of a name.
func Queued(ctx context.Context, name string) (tasks []int, err error) {
	out, err := runCommand(ctx, "squeue", "-h", "-r", "-t", "all", "--name="+name, "-o", "%i|%T")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) { // such as 12_3|RUNNING: array, task and state
		id, state, _ := strings.Cut(strings.TrimSpace(line), "|")
		_, index, isTask := strings.Cut(id, "_")
		if !isTask || slices.Contains(ends, state) {
			continue // a merge, or what has ended
		}
		task, err := strconv.Atoi(index)
		if err != nil {
			return nil, fmt.Errorf("squeue answers %q; want a task such as 12_3|RUNNING", line)
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}
