package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"miglab/harness/deep"
	"miglab/harness/sweep"
)

// spread takes long enough to be disturbed. It searches or, unless tests are deep, waits.
var spread = []string{"run", "--algorithms", "far,dawdle", "--datasets", "WIDETIMES", "--instances", "40"}

func init() {
	if deep.On() {
		spread[2] = "far,lns?iterations=500"
	}
}

// fails runs the program, which has to end with the exit code, and returns what it prints.
func fails(t *testing.T, dir string, code int, args ...string) string {
	t.Helper()
	c := exec.Command("miglab", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != code {
		t.Fatalf("miglab %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, code, out)
	}
	return string(out)
}

// One task is killed, one is interrupted, one runs twice at a time and the database of one is damaged. After all tasks
// ran again, what is merged is what one process computes.
func TestSweepGivesTheSameBytesHoweverItCameAbout(t *testing.T) {
	t.Setenv(dawdles, "1")
	undisturbed, dir := t.TempDir(), t.TempDir()
	miglab(t, undisturbed, spread...)
	folder := filepath.Join(dir, "sweep")
	planned(t, dir, "4", folder, spread)
	task := func(i int) []string { return []string{"task", folder, "--index", strconv.Itoa(i)} }
	databases := func(i int) []string {
		found, err := filepath.Glob(filepath.Join(folder, "results", fmt.Sprintf("%04d-*.db", i)))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	begun := func(i int) func() bool { return func() bool { return len(databases(i)) > 0 } }
	if got := interrupt(t, dir, os.Kill, begun(0), task(0)...); !got.interrupted {
		t.Error("task 0 ended before it was killed")
	}
	if got := interrupt(t, dir, os.Interrupt, begun(1), task(1)...); got.code != exitInterrupted {
		t.Errorf("interrupted: exit code %d\n%s", got.code, got.stderr)
	}
	var twice sync.WaitGroup
	for range 2 {
		twice.Go(func() { miglab(t, dir, task(2)...) })
	}
	twice.Wait()
	miglab(t, dir, task(3)...)
	damaged := databases(3)[0]
	if err := os.Truncate(damaged, sizeOf(damaged)/2); err != nil {
		t.Fatal(err)
	}

	if out := miglab(t, dir, "status", folder); !strings.Contains(out, "damaged  "+damaged) {
		t.Errorf("the damage to %s is not named:\n%s", damaged, out)
	}
	said := fails(t, dir, exitFailed, "merge", folder)
	if !strings.Contains(said, damaged) || !strings.Contains(said, "are missing, of tasks 0, 1, 3; to go on: ") {
		t.Errorf("merge says\n%s", said)
	}
	for _, i := range []int{0, 1, 3} {
		miglab(t, dir, task(i)...)
	}
	miglab(t, dir, "merge", folder)
	if table(t, dir) != table(t, undisturbed) {
		t.Error("other bytes than in one process")
	}
	before := miglab(t, dir, "export", "--timing")
	if miglab(t, dir, "merge", folder); miglab(t, dir, "export", "--timing") != before {
		t.Error("merging again changes the results")
	}
}

// TestAnotherBuild: what another build computes must not come between the results of the one that
// planned the sweep.
func TestAnotherBuild(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "sweep")
	command := []string{"run", "--algorithms", "far", "--datasets", "WIDETIMES", "--instances", "3"}
	planned(t, dir, "2", folder, command)
	p, err := sweep.ReadPlan(folder)
	if err != nil {
		t.Fatal(err)
	}
	p.Program = strings.Repeat("0", 64)
	if err := p.Write(folder); err != nil {
		t.Fatal(err)
	}
	again := append([]string{"submit", "slurm", "--sweep", folder, "--"}, command...)
	for _, args := range [][]string{again, {"submit", "slurm", "--missing", folder}, {"task", folder, "--index", "0"}} {
		if said := fails(t, dir, exitBadInput, args...); !strings.HasPrefix(said, "miglab: another build of miglab planned "+folder) {
			t.Errorf("miglab %s: %s", strings.Join(args, " "), said)
		}
	}
}

// TestShardsOfAnIndexedJob runs the command that harness/README.md shows for Kubernetes as its two pods do. Together
// they give the bytes of one run.
func TestShardsOfAnIndexedJob(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the command is one of a shell")
	}
	command := strings.TrimSpace(block(t, "harness/README.md", "On a cluster", "sh"))
	shared, alone := t.TempDir(), t.TempDir()
	before, _, found := strings.Cut(command, " --shard ")
	if !found {
		t.Fatalf("%s has no --shard", command)
	}
	miglab(t, alone, words(before)[1:]...)
	want := table(t, alone)
	for _, index := range []string{"0", "1"} {
		c := exec.Command("sh", "-c", command)
		c.Dir, c.Env = shared, append(os.Environ(), "JOB_COMPLETION_INDEX="+index)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("pod %s: %v\n%s", index, err, out)
		}
		if same := table(t, shared) == want; same != (index == "1") {
			t.Errorf("after pod %s, the same bytes as in one process: %t", index, same)
		}
	}
}
