//go:build linux

package main

import (
	"encoding/json"
	"fmt"
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
	"miglab/harness/sweep"
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
	if tasks := s.submitted("submit", "--missing", s.folder()); strings.Trim(fmt.Sprint(want), "[]") != strings.Join(tasks, " ") {
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

// attempts returns the runs of a task by the time of their beginning.
func (s *slurmSweep) attempts(task int) (all []sweep.Attempt) {
	s.t.Helper()
	db, _, _, err := store.OpenIntact(s.databases(task)...)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	units, err := db.Units("attempt")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, u := range units {
		var a sweep.Attempt
		if err := json.Unmarshal([]byte(u.Record), &a); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b sweep.Attempt) int { return a.Started.Compare(b.Started) })
	return all
}

// awaitStates waits until the runs of a task have states.
func (s *slurmSweep) awaitStates(task int, want ...string) {
	s.t.Helper()
	var states []string
	defer func() {
		if s.t.Failed() {
			s.t.Logf("the runs of task %d are %+v", task, s.attempts(task))
		}
	}()
	s.Await(fmt.Sprintf("runs of task %d that are %v", task, want), func() bool {
		states = nil
		for _, a := range s.attempts(task) {
			states = append(states, a.State)
		}
		return slices.Equal(states, want)
	})
}

// awaitRunning waits until a run of a task is at work.
func (s *slurmSweep) awaitRunning(task int) {
	s.t.Helper()
	s.Await(fmt.Sprintf("task %d to run", task), func() bool {
		runs := s.attempts(task)
		return len(runs) > 0 && syscall.Kill(runs[len(runs)-1].PID, 0) == nil
	})
}

// databases returns the databases of a task.
func (s *slurmSweep) databases(task int) []string {
	found, _ := filepath.Glob(filepath.Join(s.folder(), "results", fmt.Sprintf("%04d-*.db", task)))
	return found
}

// checkComputedOnce checks that the runs of a task together wrote each of its results once.
func (s *slurmSweep) checkComputedOnce(task int) {
	s.t.Helper()
	rows := 0
	for _, path := range s.databases(task) {
		db, tally, damaged, err := store.OpenIntact(path)
		if err != nil || damaged != nil {
			s.t.Fatal(damaged, err)
		}
		if err := db.Close(); err != nil {
			s.t.Fatal(err)
		}
		for _, n := range tally {
			rows += n.Done
		}
	}
	want := 0 // a run that is killed as it begins has counted nothing
	for _, a := range s.attempts(task) {
		want = max(want, a.Total)
	}
	if rows != want {
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
	if !strings.Contains(text, "are missing") || !strings.Contains(text, "miglab submit --missing") {
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
		if len(s.databases(3)) == 0 {
			s.t.Error("a run that was told to end wrote nothing")
		}
		runs := s.attempts(3)
		if err := syscall.Kill(runs[len(runs)-1].PID, syscall.SIGKILL); err != nil {
			s.t.Fatal(err)
		}
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
				s.awaitRunning(task)
				time.Sleep(rand.N(1500 * time.Millisecond))
				runs := s.attempts(task)
				if err := syscall.Kill(runs[len(runs)-1].PID, syscall.SIGKILL); err != nil {
					s.t.Fatalf("task %d, which is held, has ended: %v", task, err)
				}
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
		runs := s.attempts(3)
		if len(runs) != 2 || runs[0].PID == runs[1].PID || syscall.Kill(runs[0].PID, 0) != nil || syscall.Kill(runs[1].PID, 0) != nil {
			s.t.Errorf("of the task there run %+v, want two at the same time", runs)
		}
		s.release(3)
		s.awaitStates(3, sweep.Done, sweep.Done)
		s.awaitComplete(want)
	}},

	"a task reaches its time limit": {80, func(s *slurmSweep, want string) {
		s.hold(3)
		s.submit("--time", "1")
		s.awaitHeld(0, 3)
		s.awaitHeld(1, 3)
		s.release(3)
		s.awaitComplete(want)
		s.awaitStates(3, sweep.Stopped, sweep.Done)
		s.checkComputedOnce(3)
	}},

	"half of the tasks are cancelled": {80, func(s *slurmSweep, want string) {
		s.hold(0, 1, 2, 3)
		s.submit()
		s.awaitHeld(0, 0, 1, 2, 3)
		s.Output("scancel", s.array("[0-3]"))
		s.awaitIncomplete()
		for task := range 4 {
			s.awaitStates(task, sweep.Stopped)
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
		for task := range 4 {
			s.awaitStates(task, sweep.Done)
		}
		s.StartController()
		s.release(all[4:]...)
		s.awaitComplete(want)
	}},

	"a database is cut short": {80, func(s *slurmSweep, want string) {
		s.hold(7)
		s.submit()
		s.awaitStates(3, sweep.Done)
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
		if err := unix.Prlimit(s.attempts(3)[0].PID, unix.RLIMIT_FSIZE, &unix.Rlimit{}, nil); err != nil {
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
// is, the table has the same bytes in the end as on one machine. The clusters run at the
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
