package algo

import (
	"context"
	"fmt"
	"time"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// Problem is the input of a scheduler of the batch and stream tracks.
type Problem = schedule.Problem

// Batch schedules the tasks of one batch. Implementations are safe for concurrent use, check ctx between phases if
// they can take longer than a second, and return an [*InfeasibleError] if the rules they follow allow no schedule.
type Batch interface {
	Schedule(ctx context.Context, p Problem) (schedule.Schedule, error)
}

// Stream schedules batches that arrive one after the other. Batch k holds lengths[k] consecutive tasks of p.Tasks. It
// is scheduled without knowledge of later batches, and decisions about earlier ones stay (FAR 4).
type Stream interface {
	ScheduleStream(ctx context.Context, p Problem, lengths []int) (schedule.Schedule, error)
}

// Together is a [Batch] or a [Stream] that schedules several problems at once faster than
// one after the other. A network, for example, reads its weights once for all of them.
type Together interface {
	// ScheduleTogether returns the schedule of each problem, the same as alone. Problem i has
	// batches of lengths[i] tasks. All problems are on the same GPU model and under the same
	// reconfiguration model. It returns no schedules with an error.
	ScheduleTogether(ctx context.Context, problems []Problem, lengths [][]int) ([]schedule.Schedule, error)
}

// Bound computes a makespan with which schedules are compared: a lower bound, or an optimum.
type Bound interface {
	Bound(ctx context.Context, p Problem) (mig.Seconds, error)
}

// EnergyBound is a [Bound] that also computes a lower bound on the energy of every schedule, for models with a
// [mig.Power].
type EnergyBound interface {
	EnergyAtLeast(ctx context.Context, p Problem) (mig.Joules, error)
}

// Corun decides which jobs of a window run together, and on which partition of the GPU
// (hierarchical paper IV-A). Implementations are safe for concurrent use.
type Corun interface {
	Plan(ctx context.Context, w corun.Window) (corun.Plan, error)
}

// Offline computes bounds on every scheduler for a stream of requests to a cluster, even one that knows all requests.
type Offline interface {
	// AcceptedAtMost returns an upper bound on the number of accepted requests, for clusters that reject.
	AcceptedAtMost(ctx context.Context, g *mig.GPU, gpus int, requests []task.Request) (int, error)
	// TurnaroundAtLeast returns lower bounds for clusters that let requests wait: on the sum of the slots from arrival
	// to end, and on the slot in which the last request ends.
	TurnaroundAtLeast(g *mig.GPU, in task.Requests) (turnaround float64, end int)
}

// A Dialogue is a [sim.Placer] or [sim.Dispatcher] that asks a program for each decision.
type Dialogue interface {
	// Converse calls simulate, during which the scheduler decides. If the program has to be replaced, it calls simulate
	// again, which starts from the beginning. The error describes the program's mistake, or comes from simulate or ctx.
	Converse(ctx context.Context, simulate func() error) error
}

// Simulate runs a simulation with an algorithm, which may be a [Dialogue].
func Simulate(ctx context.Context, algorithm any, simulation func() error) error {
	if d, ok := algorithm.(Dialogue); ok {
		return d.Converse(ctx, simulation)
	}
	return simulation()
}

// Timed is an algorithm that knows how long its last schedule took. The clock around the call
// would also count other work, such as starting a process.
type Timed interface {
	Took() time.Duration
}

// A Failure is an error with its own kind in the results, for algorithms that can fail in
// ways that this program does not know.
type Failure interface {
	error
	// FailureKind is the kind in one word, for example "crashed".
	FailureKind() string
	// FailureText is the text that the results store. It is the same in every run. The text of
	// Error may differ from run to run.
	FailureText() string
}

// InfeasibleError says that an algorithm's own rules leave a task without a place.
type InfeasibleError struct {
	Algorithm string // the name of the algorithm
	Task      string // the name of the task
	// Reason completes the sentence "task ... ", for example "fits no instance of 2-2".
	Reason string
}

func (e *InfeasibleError) Error() string {
	return fmt.Sprintf("%s is infeasible: task %q %s", e.Algorithm, e.Task, e.Reason)
}

// UnsupportedError says that an algorithm cannot decide on such a problem at all, for example because
// it was trained for other GPUs.
type UnsupportedError struct {
	// What names the input. Reason says why the algorithm cannot schedule it.
	What, Reason string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("the algorithm cannot schedule on %s: %s", e.What, e.Reason)
}
