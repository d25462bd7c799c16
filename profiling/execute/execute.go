// Package execute runs a schedule for real: FAR Algorithm 3, for every schedule that
// the referee accepts.
package execute

import (
	"context"

	"miglab/harness/schedule"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

// Options say what a schedule is run with.
type Options struct {
	// GPUs has one session for each GPU of the problem.
	GPUs []*session.Session
	// Kernels are the programs of the problem's tasks, by the task's name.
	Kernels map[string]*kernel.Kernel
	// Launcher starts them; nil means [measure.Real].
	Launcher measure.Launcher
	// Progress hears about every task that has ended; may be nil.
	Progress func(done, all int)
}

// Run executes a schedule. What it returns is the schedule as it happened, on the
// same instances: instants count from the start of the first operation.
func Run(ctx context.Context, p schedule.Problem, s schedule.Schedule, o Options) (schedule.Schedule, error) {
	panic("not yet")
}
