//go:build linux

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"miglab/harness/deep"
	"miglab/harness/store"
)

// gated is a command with 5 cells an instance that can be held in the middle.
func gated(instances int) []string {
	return []string{"run", "--algorithms", "far,exec:./gate?timeout=1h", "--datasets", "WIDETIMES", "--instances", strconv.Itoa(instances)}
}

// gatedFolder returns a folder to run gated in.
func gatedFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "gate"), mustRead(t, "testdata/gate.sh"))
	return dir
}

// A slurmSweep is the sweep of a gated command on a cluster of its own.
type slurmSweep struct {
	*slurmCluster
	t         *testing.T
	instances int
	dir       string // where the command is given
	jobs      []slurmJobs
}

// slurmJobs are the numbers of what was submitted at a time.
type slurmJobs struct{ array, merge string }

func newSlurmSweep(t *testing.T, instances int) *slurmSweep {
	t.Helper()
	dir := gatedFolder(t)
	return &slurmSweep{slurmCluster: startSlurm(t, 2, 8), t: t, instances: instances, dir: dir}
}

// hold has tasks stop in the middle.
func (s *slurmSweep) hold(tasks ...int) {
	s.t.Helper()
	for _, task := range tasks {
		s.holdAt(task, 4)
	}
}

// holdAt has a task stop at an instance, counted over all its runs that Slurm did not restart.
func (s *slurmSweep) holdAt(task, instance int) {
	s.t.Helper()
	write(s.t, filepath.Join(s.dir, fmt.Sprintf("hold-%d", task)), fmt.Sprintln(instance))
}

// release lets tasks go on.
func (s *slurmSweep) release(tasks ...int) {
	s.t.Helper()
	for _, task := range tasks {
		if err := os.Remove(filepath.Join(s.dir, fmt.Sprintf("hold-%d", task))); err != nil {
			s.t.Fatal(err)
		}
	}
}

// awaitHeld waits until tasks that Slurm has restarted so often have stopped in the middle.
func (s *slurmSweep) awaitHeld(restarts int, tasks ...int) {
	s.t.Helper()
	for _, task := range tasks {
		name := fmt.Sprintf("at-%d-%d", task, restarts)
		s.Await("the file "+name, func() bool {
			_, err := os.Stat(filepath.Join(s.dir, name))
			return err == nil
		})
	}
}

// miglab runs the program where the command is given.
func (s *slurmSweep) miglab(args ...string) string {
	s.t.Helper()
	c := s.Command("miglab", args...)
	c.Dir = s.dir
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("miglab %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// submit submits the command as 8 tasks.
func (s *slurmSweep) submit(flags ...string) {
	s.t.Helper()
	s.submitted(slices.Concat([]string{"submit", "slurm", "--tasks", "8"}, flags, []string{"--"}, gated(s.instances))...)
}

// submitted notes the jobs that a command submits, and returns their tasks.
func (s *slurmSweep) submitted(args ...string) (tasks []string) {
	s.t.Helper()
	out := s.miglab(args...)
	found := regexp.MustCompile(`(?m)^job +(\d+): (?:tasks|merge)`).FindAllStringSubmatch(out, -1)
	if len(found) != 2 {
		s.t.Fatalf("miglab %s submits no array and merge:\n%s", strings.Join(args, " "), out)
	}
	s.jobs = append(s.jobs, slurmJobs{found[0][1], found[1][1]})
	tasks = s.queue(found[0][1], "%K")
	slices.Sort(tasks)
	return tasks
}

// submitMissing submits what is missing and checks which tasks that are.
func (s *slurmSweep) submitMissing(want ...int) {
	s.t.Helper()
	if tasks := s.submitted("submit", "slurm", "--missing", s.folder()); strings.Trim(fmt.Sprint(want), "[]") != strings.Join(tasks, " ") {
		s.t.Errorf("submitted %v, want tasks %v", tasks, want)
	}
}

// folder returns the sweep's folder.
func (s *slurmSweep) folder() string {
	s.t.Helper()
	found, _ := filepath.Glob(filepath.Join(s.dir, "results/sweeps/*"))
	if len(found) != 1 {
		s.t.Fatalf("there are the sweeps %q, want one", found)
	}
	return found[0]
}

// merge returns Slurm's number of the merge that was submitted last.
func (s *slurmSweep) merge() string { return s.jobs[len(s.jobs)-1].merge }

// array returns Slurm's name of a task that was submitted first.
func (s *slurmSweep) array(task any) string { return fmt.Sprintf("%s_%v", s.jobs[0].array, task) }

// queue returns a field of Slurm's queue about a job, a line a task.
func (s *slurmSweep) queue(job, field string) []string {
	s.t.Helper()
	return strings.Fields(s.Output("squeue", "--noheader", "--array", "--states=all", "--jobs="+job, "--format="+field))
}

// runs returns the processes that are at work on a task, in the order in which Slurm started them.
func (s *slurmSweep) runs(task int) []int {
	byRestart := map[string]int{}
	for _, pid := range processes(fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", task)) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		_, restart, _ := strings.Cut(string(environment), "\x00SLURM_RESTART_COUNT=")
		restart, _, _ = strings.Cut(restart, "\x00")
		if strings.Contains(string(command), "\x00task\x00"+s.folder()+"\x00") {
			byRestart[restart] = pid // the first has no count
		}
	}
	pids := []int{}
	for _, restart := range slices.Sorted(maps.Keys(byRestart)) {
		pids = append(pids, byRestart[restart])
	}
	return pids
}

// awaitRunning waits until a run of a task is at work, and returns its process.
func (s *slurmSweep) awaitRunning(task int) (pid int) {
	s.t.Helper()
	s.Await(fmt.Sprintf("task %d to run", task), func() bool {
		runs := s.runs(task)
		if len(runs) > 0 {
			pid = runs[len(runs)-1]
		}
		return len(runs) > 0
	})
	return pid
}

// awaitEnded waits until no run of tasks is at work that have each written something.
func (s *slurmSweep) awaitEnded(tasks ...int) {
	s.t.Helper()
	for _, task := range tasks {
		s.Await(fmt.Sprintf("task %d to end", task), func() bool {
			return len(s.databases(task)) > 0 && len(s.runs(task)) == 0
		})
	}
}

// kill kills a process.
func (s *slurmSweep) kill(pid int) {
	s.t.Helper()
	s.signal(pid, syscall.SIGKILL)
}

func (s *slurmSweep) signal(pid int, signal syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		s.t.Fatal(err)
	}
}

// databases returns the databases of a task.
func (s *slurmSweep) databases(task int) []string {
	found, _ := filepath.Glob(filepath.Join(s.folder(), "results", fmt.Sprintf("%04d-*.db", task)))
	return found
}

// countRows returns the number of results in databases. It counts a result that several have once.
func (s *slurmSweep) countRows(paths ...string) (rows int) {
	s.t.Helper()
	db, tally, damaged, err := store.OpenIntact(paths...)
	if err != nil || damaged != nil {
		s.t.Fatal(damaged, err)
	}
	for _, n := range tally {
		rows += n.Done
	}
	if err := db.Close(); err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// checkComputedOnce checks that the runs of a task together wrote each of its results once.
func (s *slurmSweep) checkComputedOnce(task int) {
	s.t.Helper()
	rows := 0
	for _, path := range s.databases(task) {
		rows += s.countRows(path)
	}
	if want := s.countRows(s.databases(task)...); rows != want || want == 0 {
		s.t.Errorf("the runs of task %d wrote %d rows, want its %d cells", task, rows, want)
	}
}

// awaitIncomplete waits for the merge that was submitted last and checks that it says that
// results are missing. It returns all that it says.
func (s *slurmSweep) awaitIncomplete() string {
	s.t.Helper()
	merge := s.merge()
	s.Await("the merge to fail", func() bool { return slices.Equal(s.queue(merge, "%T"), []string{"FAILED"}) })
	text := mustRead(s.t, filepath.Join(s.folder(), "logs", merge+".log"))
	if !strings.Contains(text, "are missing") || !strings.Contains(text, "miglab submit slurm --missing") {
		s.t.Errorf("a merge that misses results says\n%s", text)
	}
	if strings.Contains(text, "all results in") {
		s.t.Errorf("it says that all is there nevertheless:\n%s", text)
	}
	return text
}

// awaitComplete waits for the merge that was submitted last and checks that an export has the
// bytes that it should have, and no result twice.
func (s *slurmSweep) awaitComplete(want string) {
	s.t.Helper()
	merge := s.merge()
	s.Await("the merge to be done", func() bool { return slices.Equal(s.queue(merge, "%T"), []string{"COMPLETED"}) })
	got := s.miglab("export")
	if got != want {
		s.t.Error("other bytes than on one machine")
	}
	if rows := strings.Count(got, "\n"); rows != 1+5*s.instances {
		s.t.Errorf("the table has %d lines, want a header and %d", rows, 5*s.instances)
	}
}

// slurmTests are about one cluster each. want is what the command's table must be.
var slurmTests = map[string]struct {
	instances int
	test      func(s *slurmSweep, want string)
}{
	"2000 cells": {400, func(s *slurmSweep, want string) {
		s.submit()
		s.awaitComplete(want)
		job := s.jobs[0]
		ends := s.queue(job.array, "%e")
		begin := s.queue(job.merge, "%S")
		// Slurm's times are texts of equal length.
		if len(ends) != 8 || len(begin) != 1 || slices.Max(ends) > begin[0] {
			s.t.Errorf("the merge began at %v and the tasks ended at %v", begin, ends)
		}
	}},

	// What a run wrote before is not lost when the next is killed.
	"a task is killed": {80, func(s *slurmSweep, want string) {
		s.hold(3)
		s.submit()
		s.awaitHeld(0, 3)
		s.Output("scontrol", "requeue", s.array(3))
		s.awaitHeld(1, 3)
		if s.countRows(s.databases(3)...) == 0 {
			s.t.Error("a run that was told to end wrote nothing")
		}
		s.kill(s.awaitRunning(3))
		s.awaitIncomplete()
		s.release(3)
		s.submitMissing(3)
		s.awaitComplete(want)
		s.checkComputedOnce(3)
	}},

	// Each is killed in one of its first instances, or as it waits in the last of them.
	"tasks are killed at random moments": {400, func(s *slurmSweep, want string) {
		tasks := []int{0, 1, 2, 3, 4, 5, 6, 7}
		submit := func() { s.submit() }
		for killed := 0; killed < kills(s.t); {
			for _, task := range tasks {
				s.holdAt(task, 1+rand.N(16))
			}
			submit()
			rand.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
			victims := tasks[:1+rand.N(min(len(tasks), kills(s.t)-killed))]
			for _, task := range victims {
				run := s.awaitRunning(task)
				time.Sleep(rand.N(1500 * time.Millisecond))
				s.kill(run) // it is held, and has not ended
				killed++
			}
			s.release(tasks...)
			s.awaitIncomplete()
			tasks = slices.Sorted(slices.Values(victims))
			submit = func() { s.submitMissing(tasks...) }
		}
		submit()
		s.awaitComplete(want)
		for task := range 8 {
			s.checkComputedOnce(task)
		}
	}},

	"a node is lost": {80, func(s *slurmSweep, want string) {
		s.hold(3)
		s.submit()
		s.awaitHeld(0, 3)
		s.Await("the other tasks to end", func() bool {
			return len(slices.DeleteFunc(s.queue(s.jobs[0].array, "%T"), func(state string) bool { return state == "COMPLETED" })) == 1
		})
		s.KillNode(s.queue(s.array(3), "%N")[0])
		s.awaitHeld(1, 3)
		if runs := s.runs(3); len(runs) != 2 {
			s.t.Errorf("the processes %v work on the task, want two at the same time", runs)
		}
		s.release(3)
		s.awaitEnded(3)
		s.awaitComplete(want)
	}},

	"a task reaches its time limit": {80, func(s *slurmSweep, want string) {
		s.hold(3)
		s.submit("--time", "1")
		s.awaitHeld(0, 3)
		s.awaitHeld(1, 3)
		s.release(3)
		s.awaitComplete(want)
		if n := len(s.databases(3)); n < 2 {
			s.t.Errorf("the task has the database of %d run, want one of each", n)
		}
		s.checkComputedOnce(3)
	}},

	"half of the tasks are cancelled": {80, func(s *slurmSweep, want string) {
		s.hold(0, 1, 2, 3)
		s.submit()
		s.awaitHeld(0, 0, 1, 2, 3)
		s.Output("scancel", s.array("[0-3]"))
		s.awaitIncomplete()
		s.awaitEnded(0, 1, 2, 3)
		for task := range 4 {
			if s.countRows(s.databases(task)...) == 0 {
				s.t.Errorf("task %d was told to end and wrote nothing", task)
			}
		}
		s.release(0, 1, 2, 3)
		s.submitMissing(0, 1, 2, 3)
		s.awaitComplete(want)
	}},

	"the controller goes and comes": {80, func(s *slurmSweep, want string) {
		all := []int{0, 1, 2, 3, 4, 5, 6, 7}
		s.hold(all...)
		s.submit()
		s.awaitHeld(0, all...)
		s.StopController()
		s.release(all[:4]...)
		s.awaitEnded(all[:4]...)
		s.StartController()
		s.release(all[4:]...)
		s.awaitComplete(want)
	}},

	"a database is cut short": {80, func(s *slurmSweep, want string) {
		s.hold(7)
		s.submit()
		s.awaitEnded(3)
		s.awaitHeld(0, 7)
		database := s.databases(3)[0]
		if err := os.Truncate(database, sizeOf(database)/2); err != nil {
			s.t.Fatal(err)
		}
		s.release(7)
		if text := s.awaitIncomplete(); !strings.Contains(text, database) {
			s.t.Errorf("the merge does not name %s:\n%s", database, text)
		}
		if text := s.miglab("status", s.folder()); !strings.Contains(text, database) {
			s.t.Errorf("status does not name %s:\n%s", database, text)
		}
		s.submitMissing(3)
		s.awaitComplete(want)
	}},

	// The file system is full for one task: it can begin files but not write to them.
	"a disk is full": {80, func(s *slurmSweep, want string) {
		s.hold(3)
		s.submit()
		s.awaitHeld(0, 3)
		if err := unix.Prlimit(s.awaitRunning(3), unix.RLIMIT_FSIZE, &unix.Rlimit{}, nil); err != nil {
			s.t.Fatal(err)
		}
		s.release(3)
		s.awaitIncomplete()
		if state := s.queue(s.array(3), "%T"); !slices.Equal(state, []string{"FAILED"}) {
			s.t.Errorf("for Slurm the task is %v", state)
		}
		s.submitMissing(3)
		s.awaitComplete(want)
	}},
}

// TestSweepOnSlurm runs sweeps on real clusters, with all that goes wrong there. Whatever it
// is, the table has the same bytes in the end as on one machine. Some clusters run at the
// same time, as they mostly wait for Slurm's timers. Unless tests are deep there are two.
func TestSweepOnSlurm(t *testing.T) {
	t.Parallel()
	startSlurm(t, 1, 1) // or skip
	want := map[int]string{}
	for _, instances := range []int{80, 400}[:deep.N(1, 2)] {
		dir := gatedFolder(t)
		fails(t, dir, exitFailed, gated(instances)...) // the gate is no scheduler: all its cells fail
		want[instances] = table(t, dir)
	}
	var running sync.WaitGroup
	for name, tt := range slurmTests {
		if !deep.On() && name != "a task is killed" {
			continue
		}
		running.Go(func() {
			t.Run(name, func(t *testing.T) { tt.test(newSlurmSweep(t, tt.instances), want[tt.instances]) })
		})
	}
	running.Wait()
}

// Nothing is submitted, and no sweep is left, where Slurm refuses.
func TestSlurmRefuses(t *testing.T) {
	s := newSlurmSweep(t, 1)
	c := s.Command("miglab", slices.Concat([]string{"submit", "slurm", "--partition", "nowhere", "--"}, gated(1))...)
	c.Dir = s.dir
	var stderr strings.Builder
	c.Stderr = &stderr
	err := c.Run()
	if c.ProcessState.ExitCode() != exitBadInput || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "partition") {
		t.Errorf("%v: %s", err, &stderr)
	}
	if queue := s.Output("squeue", "--noheader", "--states=all"); queue != "" {
		t.Errorf("the queue has %s", queue)
	}
	if left, err := os.ReadDir(filepath.Join(s.dir, "results/sweeps")); err != nil || len(left) > 0 {
		t.Errorf("there is a sweep: %v, %v", left, err)
	}
}
