//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

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

// gated is a command with 5 cells an instance, all of which fail, that can be held in the middle.
var gated = []string{"run", "--algorithms", "far,exec:./gate?timeout=1h", "--datasets", "WIDETIMES", "--instances", "80"}

// A jobArray is gated, spread over 8 tasks of a cluster by slurm.sh.
type jobArray struct {
	*slurmCluster
	t *testing.T
	// dir is where the command is given, and job Slurm's number of the array.
	dir, job string
}

// newJobArray submits the command, with some tasks held at their fourth instance.
func newJobArray(t *testing.T, minutes string, held ...int) *jobArray {
	t.Helper()
	a := &jobArray{t: t, dir: t.TempDir(), slurmCluster: startSlurm(t, 2, 8)}
	write(t, filepath.Join(a.dir, "gate"), mustRead(t, "testdata/gate.sh"))
	for _, task := range held {
		write(t, a.hold(task), "4\n")
	}
	script, err := filepath.Abs(filepath.Join(root, "harness/slurm.sh"))
	if err != nil {
		t.Fatal(err)
	}
	a.job = a.Output("sbatch", slices.Concat([]string{
		"--parsable", "--chdir=" + a.dir, "--array=0-7", "--time=" + minutes, script,
	}, gated)...)
	return a
}

// hold returns the file that holds a task.
func (a *jobArray) hold(task int) string { return filepath.Join(a.dir, fmt.Sprintf("hold-%d", task)) }

// release lets a task go on.
func (a *jobArray) release(task int) {
	a.t.Helper()
	if err := os.Remove(a.hold(task)); err != nil {
		a.t.Fatal(err)
	}
}

// awaitHeld waits until a task that Slurm has restarted so often is held.
func (a *jobArray) awaitHeld(restarts, task int) {
	a.t.Helper()
	name := fmt.Sprintf("at-%d-%d", task, restarts)
	a.Await("the file "+name, func() bool { return exists(filepath.Join(a.dir, name)) })
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// states returns the states of the tasks that have not ended. All fail, because the gate is no scheduler.
func (a *jobArray) states() []string {
	a.t.Helper()
	all := strings.Fields(a.Output("squeue", "--noheader", "--array", "--states=all", "--jobs="+a.job, "--format=%T"))
	return slices.DeleteFunc(all, func(state string) bool { return state == "FAILED" })
}

// awaitEnd waits for all tasks.
func (a *jobArray) awaitEnd() {
	a.t.Helper()
	a.Await("the tasks to end", func() bool { return len(a.states()) == 0 })
}

// runs returns the processes of miglab that are at work on a task of this array.
func (a *jobArray) runs(task int) (pids []int) {
	own, _ := os.Stat(a.dir)
	for _, pid := range processes(fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", task)) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		folder, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid))
		if regexp.MustCompile(`^miglab\x00run\x00.*--shard`).Match(command) && err == nil && os.SameFile(own, folder) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// check runs the command again without Slurm. The results must have the bytes of a run on one machine. computed says
// whether something was left to compute.
func (a *jobArray) check(want string, computed bool) {
	a.t.Helper()
	fails(a.t, a.dir, exitFailed, gated...)
	if table(a.t, a.dir) != want {
		a.t.Error("other bytes than on one machine")
	}
	if got := exists(filepath.Join(a.dir, "results/results.db")); got != computed {
		a.t.Errorf("the command without Slurm computed something: %t, want %t", got, computed)
	}
}

// What goes wrong on a cluster changes no byte of the results.
func TestSlurm(t *testing.T) {
	t.Parallel()        // it mostly waits for Slurm's timers
	startSlurm(t, 1, 1) // or skip
	alone := t.TempDir()
	write(t, filepath.Join(alone, "gate"), mustRead(t, "testdata/gate.sh"))
	fails(t, alone, exitFailed, gated...)
	want := table(t, alone)

	t.Run("a task is killed, and Slurm starts another again", func(t *testing.T) {
		t.Parallel()
		a := newJobArray(t, "60", 3, 5)
		a.awaitHeld(0, 3)
		a.awaitHeld(0, 5)
		runs := a.runs(3)
		if len(runs) != 1 {
			t.Fatalf("the processes %v work on a task", runs)
		}
		if err := syscall.Kill(runs[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		a.Output("scontrol", "requeue", a.job+"_5")
		a.awaitHeld(1, 5)
		a.release(3)
		a.release(5)
		a.awaitEnd()
		a.check(want, true)
	})
	t.Run("a task reaches its time limit", func(t *testing.T) {
		t.Parallel()
		a := newJobArray(t, "1", 3)
		a.awaitHeld(0, 3)
		a.awaitHeld(1, 3)
		a.release(3)
		a.awaitEnd()
		a.check(want, false)
	})
	t.Run("a node is lost, and its run lives on", func(t *testing.T) {
		t.Parallel()
		a := newJobArray(t, "60", 3)
		a.awaitHeld(0, 3)
		a.Await("the other tasks to end", func() bool { return slices.Equal(a.states(), []string{"RUNNING"}) })
		a.KillNode(a.Output("squeue", "--noheader", "--array", "--jobs="+a.job, "--format=%N"))
		a.awaitHeld(1, 3)
		if runs := a.runs(3); len(runs) != 2 {
			t.Errorf("the processes %v work on the task, want two at the same time", runs)
		}
		a.release(3)
		a.Await("both runs to end", func() bool { return len(a.runs(3)) == 0 })
		a.awaitEnd()
		a.check(want, false)
	})
}

// TestShardsOfAnIndexedJob runs the command that harness/README.md shows for Kubernetes as its two pods do. Together
// they give the bytes of one run.
func TestShardsOfAnIndexedJob(t *testing.T) {
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
