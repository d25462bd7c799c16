package slurm

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"
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

// nearLimit is how long before its time limit a task may get TERM: the script asks for a
// minute, and Slurm may be a minute early and then takes time.
const nearLimit = 3 * time.Minute

// Requeue puts the array task that this process is back into the queue if its time limit is why
// it was told to end: one that was cancelled stays so. It reports whether it did. If this
// process is not a task of an array, it does nothing.
func Requeue(ctx context.Context) (bool, error) {
	array, index := os.Getenv("SLURM_ARRAY_JOB_ID"), os.Getenv("SLURM_ARRAY_TASK_ID")
	if array == "" || index == "" {
		return false, nil
	}
	// Not by SLURM_JOB_ID: for one task of an array that is the number of all of it.
	id := array + "_" + index
	out, err := runCommand(ctx, "scontrol", "show", "job", "-o", id)
	if err != nil {
		return false, err
	}
	if near, err := limitIsNear(out, time.Now()); err != nil || !near {
		return false, err
	}
	_, err = runCommand(ctx, "scontrol", "requeue", id)
	return err == nil, err
}

// limitIsNear reads what scontrol says about a job: whether it runs and soon has to end. A job that runs is SIGNALING
// until Slurm knows that its signal has arrived, which the job knows first.
func limitIsNear(show string, now time.Time) (bool, error) {
	fields := map[string]string{}
	for field := range strings.FieldsSeq(show) {
		name, value, _ := strings.Cut(field, "=")
		if _, ok := fields[name]; !ok { // the first: a comment may look like a field, too
			fields[name] = value
		}
	}
	state := fields["JobState"]
	if state != "RUNNING" && state != "SIGNALING" || fields["EndTime"] == "Unknown" {
		return false, nil
	}
	end, err := time.ParseInLocation("2006-01-02T15:04:05", fields["EndTime"], now.Location())
	if err != nil {
		return false, &CommandError{"scontrol", fmt.Sprintf("says EndTime=%s, which is no time", fields["EndTime"])}
	}
	return end.Sub(now) <= nearLimit, nil
}
