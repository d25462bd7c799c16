package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A training that is stopped at its time limit goes back into the queue only if it got on: one
// that never reaches a checkpoint would be requeued for ever.
func TestTrainingIsRequeuedOnlyAfterACheckpoint(t *testing.T) {
	const agent = "rl-float-GOODSCALING-dqn-64"
	for _, test := range []struct {
		name, steps string
		// until is the file after which the task is told to end.
		until    string
		requeued bool
	}{
		{"no checkpoint", "200000000", "s/results/*.db", false},        // the first comes after 5 million steps
		{"a checkpoint", "245760", "results/train/*/checkpoint", true}, // after half of the steps
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			until := func() bool { found, _ := filepath.Glob(filepath.Join(dir, test.until)); return found != nil }
			timeLimit(t, dir, until, syscall.SIGHUP, test.requeued, "train", "--agent", agent, "--seeds", "1", "--steps", test.steps)
		})
	}
}

// TestCellsAreRequeuedOnlyAfterOne has a task reach its time limit, or be cancelled, in a cell that never ends: its
// first, or its second.
func TestCellsAreRequeuedOnlyAfterOne(t *testing.T) {
	for _, test := range []struct {
		algorithms string
		signal     syscall.Signal
		requeued   bool
	}{
		{"test-endless", syscall.SIGHUP, false},
		{"far,test-endless", syscall.SIGHUP, true},
		{"far,test-endless", syscall.SIGTERM, false},
	} {
		t.Run(fmt.Sprint(test.algorithms, " ", test.signal), func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv(stuckVariable, dir)
			timeLimit(t, dir, func() bool { _, err := os.Stat(filepath.Join(dir, "called")); return err == nil }, test.signal, test.requeued,
				"run", "--algorithms", test.algorithms, "--datasets", "WIDETIMES", "--instances", "1", "--workers", "1")
		})
	}
}

// timeLimit runs the only task of a sweep under what looks like Slurm, which sends it the signal of the time limit, or
// another, once something is so, and wants it to be put back into the queue or not.
func timeLimit(t *testing.T, dir string, until func() bool, signal syscall.Signal, requeued bool, command ...string) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the commands of Slurm are shell scripts here")
	}
	planned(t, dir, "1", "s", command)

	fake, calls := t.TempDir(), filepath.Join(dir, "calls")
	write(t, filepath.Join(fake, "scontrol"), "#!/bin/sh\necho \"$*\" >>\"$CALLS\"\n")
	t.Setenv("PATH", fake+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("CALLS", calls)
	t.Setenv("SLURM_JOB_ID", "8")
	t.Setenv("SLURM_ARRAY_JOB_ID", "7")
	t.Setenv("SLURM_ARRAY_TASK_ID", "0")

	got := interrupt(t, dir, signal, until, "task", "s", "--index", "0")
	want := exitInterrupted
	if requeued {
		want = exitDone
	}
	if got.code != want {
		t.Errorf("exit code %d, want %d\n%s", got.code, want, got.stderr)
	}
	said, _ := os.ReadFile(calls) // there is none where scontrol was not called
	if did := strings.Contains(string(said), "requeue 7_0\n"); did != requeued {
		t.Errorf("requeued: %v, want %v; scontrol was called with %q", did, requeued, said)
	}
}
