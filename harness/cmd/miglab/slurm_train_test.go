//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"miglab/harness/deep"
)

// trainings is how many trainings the command trains has, each with some checkpoints.
var (
	trainings = deep.N(3, 5)
	trains    = []string{
		"train", "--agent", "rl-float-GOODSCALING-dqn-64", "--steps", "36864",
		"--seeds", "1,2,3,4,5"[:2*trainings-1],
	}
)

// submitTraining submits trains as 3 tasks.
func (s *slurmSweep) submitTraining(flags ...string) {
	s.t.Helper()
	if tasks := s.submitted(slices.Concat([]string{"submit", "slurm", "--tasks", "3"}, flags, []string{"--"}, trains)...); len(tasks) != 3 {
		s.t.Fatalf("submitted tasks %v, want 3", tasks)
	}
}

// halt stops the process of a task, without ending it, once a training of the task has a
// checkpoint, and returns its number.
func (s *slurmSweep) halt(task int) int {
	s.t.Helper()
	unit := fmt.Sprintf("rl-float-GOODSCALING-dqn-64-seed%d", task+1)
	// To ask for the number takes longer than what a training does after its checkpoint.
	pid := s.awaitRunning(task)
	s.Await("a checkpoint of "+unit, func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "results/train", unit, "checkpoint"))
		return err == nil
	})
	s.signal(pid, syscall.SIGSTOP)
	return pid
}

// awaitTrained waits for the merge that was submitted last and compares all files of all
// trainings.
func (s *slurmSweep) awaitTrained(want map[string]string) {
	s.t.Helper()
	merge := s.merge()
	s.Await("the merge to be done", func() bool { return slices.Equal(s.queue(merge, "%T"), []string{"COMPLETED"}) })
	equal(s.t, trained(s.t, s.dir), want)
}

// slurmTrainingTests are about one cluster each. want has the files of an undisturbed run.
var slurmTrainingTests = map[string]func(s *slurmSweep, want map[string]string){
	"a task is killed": func(s *slurmSweep, want map[string]string) {
		s.submitTraining()
		s.signal(s.halt(1), syscall.SIGKILL)
		s.awaitIncomplete()
		s.submitMissing(1)
		s.awaitTrained(want)
	},

	// The lost node's process goes on when another has done its work.
	"a node is lost": func(s *slurmSweep, want map[string]string) {
		s.submitTraining()
		lost := s.halt(1)
		s.Await("the other tasks to end", func() bool {
			return len(slices.DeleteFunc(s.queue(s.jobs[0].array, "%T"), func(state string) bool { return state == "COMPLETED" })) == 1
		})
		s.KillNode(s.queue(s.array(1), "%N")[0])
		s.Await("another run to do the work", func() bool {
			return slices.Equal(s.queue(s.array(1), "%T"), []string{"COMPLETED"}) && slices.Equal(s.runs(1), []int{lost})
		})
		s.signal(lost, syscall.SIGCONT)
		// It may fail: the merge removes a temporary file that it was stopped with.
		s.Await("the lost run to end", func() bool { return len(s.runs(1)) == 0 })
		s.awaitTrained(want)
	},

	// Slurm lets the process go on when it tells it to end.
	"a task reaches its time limit": func(s *slurmSweep, want map[string]string) {
		s.submitTraining("--time", "1")
		s.halt(1)
		s.awaitTrained(want)
		if n := len(s.databases(1)); n < 2 {
			s.t.Errorf("the task has the database of %d run, want one of each", n)
		}
	},
}

// TestTrainingOnSlurm trains on real clusters, with what goes wrong there. The curves, weights
// and checkpoints have the same bytes in the end as on one machine. Unless tests are deep one thing goes wrong.
func TestTrainingOnSlurm(t *testing.T) {
	t.Parallel()        // beside the other sweeps, which wait for Slurm's timers, too
	startSlurm(t, 1, 1) // or skip
	dir := t.TempDir()
	miglab(t, dir, trains...)
	want := trained(t, dir)
	if len(want) != trainings*3 {
		t.Fatalf("%d files, want the checkpoint, curve and weights of each of %d", len(want), trainings)
	}
	var running sync.WaitGroup
	for name, test := range slurmTrainingTests {
		if !deep.On() && name != "a task is killed" {
			continue
		}
		running.Go(func() {
			t.Run(name, func(t *testing.T) { test(&slurmSweep{slurmCluster: startSlurm(t, 2, 8), t: t, dir: t.TempDir()}, want) })
		})
	}
	running.Wait()
}

// TestTrainsAllOnSlurm trains every agent for a moment, with one command, while tasks reach
// their time limit, one is killed and a node is lost. What is missing is submitted again.
func TestTrainsAllOnSlurm(t *testing.T) {
	if os.Getenv("MIGLAB_LONG") != "1" {
		t.Skip("takes minutes of both cores; make test-long sets MIGLAB_LONG=1")
	}
	all := []string{"train", "--all", "--steps", "1"}
	dir := t.TempDir()
	miglab(t, dir, all...)
	want := trained(t, dir)

	s := &slurmSweep{slurmCluster: startSlurm(t, 2, 8), t: t, dir: t.TempDir()}
	s.submitted(append([]string{"submit", "slurm", "--tasks", "16", "--time", "3", "--"}, all...)...)
	s.kill(s.awaitRunning(0))
	s.KillNode("n2")
	for range 5 {
		merge := s.merge()
		var state []string
		for len(state) == 0 || !slices.Contains([]string{"COMPLETED", "FAILED"}, state[0]) { // until go test has no more patience
			time.Sleep(time.Second)
			state = s.queue(merge, "%T")
		}
		if state[0] == "COMPLETED" {
			break
		}
		s.submitted("submit", "slurm", "--missing", s.folder())
	}
	if len(s.jobs) < 2 {
		t.Error("the task that was killed was not missing")
	}
	equal(t, trained(t, s.dir), want)
}
