// Package plan is the engine of the schedulers of batches and streams. A plan says which instances exist, in which
// order, and which tasks each of them runs. It has no times: a [Timer] adds them, reconfigurations included, so that no
// scheduler is timed more favourably than another.
//
// [Improve] and [Solve] search for a better plan on the repartitioning tree, from a first plan that a [Rule] makes.
// They compare sets of tasks in a model without some waits (subsets.go), and keep a plan by its times on a clock
// (clock.go). [LastTasks] uses the same model for the end of a batch.
//
// The package registers no scheduler. These are in package algorithms.
package plan

import "miglab/harness/mig"

// A Use is a stretch of time in which one instance runs tasks one after the other. A plan is a list of uses. Of two
// uses that share a slice, the use that is earlier in the list runs first.
type Use struct {
	GPU      int
	Instance mig.Instance
	Tasks    []Task // in order of execution
	// Destroy requests the destruction of the instance after the tasks, even if no later use needs its slices.
	Destroy bool
	// seconds is the sum of the tasks' durations. Only clocks with sums or with the rule longestTail need it.
	seconds float64
}

// A Task is a task of a problem and its duration on the instance that runs it.
type Task struct {
	Seconds float64
	Index   int32 // the task's index in the problem's Tasks
}
