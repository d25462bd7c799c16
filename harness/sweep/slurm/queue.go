package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An Entry is a line of the queue.
type Entry struct {
	// Job is the number of the job or array.
	Job string
	// Index is the task's index in its array; -1 for a job without an array.
	Index int
	// State is one of Slurm's job states, such as PENDING.
	State string
	// Reason is why it waits, such as Resources.
	Reason string
}

// ends are the states in which a job does nothing any more.
var ends = []string{
	"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
	"REVOKED", "TIMEOUT",
}

// Ended reports whether the job does nothing any more.
func (e Entry) Ended() bool { return slices.Contains(ends, e.State) }

// Ending reports whether the job has ended or is being killed.
func (e Entry) Ending() bool { return e.Ended() || e.State == "COMPLETING" }

// Queue returns the entries of jobs. Slurm forgets jobs some minutes after their end, so a job
// that it does not know is none of the entries and no error.
func Queue(ctx context.Context, jobs []string) ([]Entry, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	out, err := runCommand(ctx, "squeue", "-h", "-r", "-t", "all", "-j", strings.Join(jobs, ","), "-o", "%i|%T|%r")
	if failed := (*CommandError)(nil); errors.As(err, &failed) &&
		strings.Contains(failed.Reason, "Invalid job id specified") {
		return nil, nil // that is how it answers when it has forgotten all of them
	}
	if err != nil {
		return nil, err
	}
	return parseQueue(out)
}

// parseQueue reads lines such as 12_3|RUNNING|None.
func parseQueue(text string) ([]Entry, error) {
	var out []Entry
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		fields := strings.SplitN(line, "|", 3)
		if len(fields) < 3 {
			return nil, &CommandError{
				"squeue",
				fmt.Sprintf("answers %q; a job, its state and a reason were asked for", line),
			}
		}
		e := Entry{Job: fields[0], Index: -1, State: fields[1], Reason: fields[2]}
		if job, index, ok := strings.Cut(e.Job, "_"); ok {
			i, err := strconv.Atoi(index)
			if err != nil || i < 0 {
				return nil, &CommandError{
					"squeue",
					fmt.Sprintf("answers %q; %q is not an index of an array", line, index),
				}
			}
			e.Job, e.Index = job, i
		}
		out = append(out, e)
	}
	return out, nil
}

// Queued returns the tasks of arrays that wait or run. Tasks that are being killed are none of them.
func Queued(ctx context.Context, arrays []string) (tasks []int, err error) {
	entries, err := Queue(ctx, arrays)
	for _, e := range entries {
		if e.Index >= 0 && !e.Ending() {
			tasks = append(tasks, e.Index)
		}
	}
	return tasks, err
}
