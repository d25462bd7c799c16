package slurm

import (
	"context"
	"errors"
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

// Queued returns the tasks of job arrays that wait or run. Slurm forgets jobs some minutes after their end. An array that
// it does not know has no such tasks and is no error.
func Queued(ctx context.Context, arrays []string) ([]int, error) {
	if len(arrays) == 0 {
		return nil, nil
	}
	out, err := runCommand(ctx, "squeue", "-h", "-r", "-t", "all", "-j", strings.Join(arrays, ","), "-o", "%i|%T")
	if failed := (*CommandError)(nil); errors.As(err, &failed) &&
		strings.Contains(failed.Reason, "Invalid job id specified") {
		return nil, nil // squeue answers this when it has forgotten all of the arrays
	}
	if err != nil {
		return nil, err
	}
	return parseQueue(out)
}

// parseQueue returns the tasks that have not ended, from lines such as 12_3|RUNNING: array, task and state.
func parseQueue(text string) (tasks []int, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		id, state, hasState := strings.Cut(line, "|")
		_, index, isTask := strings.Cut(id, "_")
		task, err := strconv.Atoi(index)
		if !hasState || !isTask || err != nil || task < 0 {
			return nil, &CommandError{"squeue", fmt.Sprintf("answers %q; want a task such as 12_3|RUNNING", line)}
		}
		if !slices.Contains(ends, state) {
			tasks = append(tasks, task)
		}
	}
	return tasks, nil
}
