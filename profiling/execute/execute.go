// Package execute runs the schedule of a batch on a real GPU. It extends FAR Algorithm 3 to every schedule of
// a batch on one GPU, empty at the start, with sequential reconfiguration that [schedule.Check] accepts: from any
// algorithm, with instances that merge as well as split.
//
// As in Algorithm 3, each instance has a thread that creates it, runs its tasks one after the other and destroys it.
// The algorithm follows the tree of instances that FAR splits: a thread creates its instance as soon as the instance
// above is gone, and the threads ask the driver in any order. A schedule in general has no such tree. So here the
// operations happen in the order of the plan, and each waits until the one before it has ended, even if the two are
// independent. This makes the execution of every valid plan safe: when an instance's turn comes, everything that shared
// its slices is destroyed. While times are as planned this costs no time, because the plan does one operation at a
// time, as drivers do (FAR 2.1). If a task takes longer than planned, a later operation may wait longer than with free
// threads.
//
// Tasks do not take turns. A task starts as soon as its instance exists and the task before it on the instance has
// ended. Tasks and operations do not wait for planned instants, so a plan with gaps runs faster than planned.
package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/profiling"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

// Options say what runs a schedule.
type Options struct {
	GPU *session.Session
	// Kernels are the programs of all the problem's tasks, by task name.
	Kernels map[string]*launch.Kernel
	// Launcher starts them.
	Launcher measure.Launcher
	// Progress is told about every task that has succeeded; it may be nil.
	Progress func(done, all int)
}

// A TaskError says that a task failed.
type TaskError struct {
	// Task is its name.
	Task     string
	Instance mig.Instance
	Outcome  launch.Outcome
}

func (e *TaskError) Error() string {
	s := fmt.Sprintf("task %q on %v: %s", e.Task, e.Instance, e.Outcome.Status)
	if e.Outcome.Detail != "" {
		s += ": " + e.Outcome.Detail
	}
	return s
}

// Run executes a schedule. It returns the schedule as it happened, on the same instances. Times count from the
// start of the execution. A task starts just before its launch and ends just after it (Algorithm 3, lines 6 and 8);
// an operation takes as long as the call of the session. Instances that the plan leaves are destroyed at the end,
// which is not part of the makespan.
//
// Run refuses an invalid schedule (the error is a [*schedule.InvalidError]), a problem with several GPUs, a start
// partition, releases, restarts or another reconfiguration model, a task without a program, and a GPU of another model
// or with instances.
//
// The first failure ends the execution: Run starts no more tasks, kills running ones, and destroys every instance
// that it made, even if ctx has ended. If a program failed, the error is a [*TaskError]; other errors come from the
// session, the launcher or ctx. With an error, Run returns what happened: the tasks and operations that succeeded,
// including the destroys at the end.
func Run(ctx context.Context, p schedule.Problem, s schedule.Schedule, o Options) (schedule.Schedule, error) {
	if err := checkProblem(&p, &s, &o); err != nil {
		return schedule.Schedule{}, err
	}
	r := &run{
		Options: o, problem: p, start: time.Now(),
		happened: schedule.Schedule{GPU: s.GPU, Algorithm: s.Algorithm, Model: s.Model},
	}
	lives := planLives(&s)
	group, inner := errgroup.WithContext(ctx)
	for _, l := range lives {
		group.Go(func() error { return r.runInstance(inner, l) })
	}
	err := group.Wait()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("stopped when %d of %d tasks had ended: %w", len(r.happened.Placements), len(p.Tasks),
			context.Cause(ctx))
	}
	for _, l := range lives {
		if !l.exists {
			continue
		}
		again := r.operate(context.WithoutCancel(ctx), l, schedule.Destroy)
		if !alreadyTold(err, again) {
			err = errors.Join(err, again)
		}
	}
	return r.happened, err
}

// alreadyTold reports whether the first error is enough: the GPU is lost, or somebody else removed the instance.
func alreadyTold(first, again error) bool {
	return errors.Is(again, profiling.ErrLost) && errors.Is(first, profiling.ErrLost) ||
		errors.Is(again, profiling.ErrUnknownInstance) && first != nil
}

func checkProblem(p *schedule.Problem, s *schedule.Schedule, o *Options) error {
	if v := schedule.Check(*p, *s); len(v) > 0 {
		return &schedule.InvalidError{Algorithm: s.Algorithm, Violations: v}
	}
	if p.GPUs() != 1 || len(p.Start) > 0 || len(p.Release) > 0 || p.Restart > 0 || p.Model != mig.Sequential {
		return errors.New("only schedules of a batch with sequential reconfiguration on one GPU, empty at the start, " +
			"are executed")
	}
	for _, t := range p.Tasks {
		if o.Kernels[t.Name] == nil {
			return fmt.Errorf("task %q has no program", t.Name)
		}
	}
	id := o.GPU.Identity()
	if id.Model != p.GPU {
		return fmt.Errorf("the GPU is a %s (%s); the schedule is for %s", id.Name, id.Model, p.GPU)
	}
	exist, err := o.GPU.Device().Instances()
	if err != nil {
		return err
	}
	if err := checkExisting(o.GPU, s); err != nil {
		return err
	}
	if len(exist) > 0 {
		return fmt.Errorf("the GPU holds %d instances, the first of them %v; schedules start on an empty GPU",
			len(exist), exist[0].Instance)
	}
	return nil
}

// checkExisting refuses a schedule that needs other instances than those that exist, if the session may not make any.
func checkExisting(on *session.Session, s *schedule.Schedule) error {
	there := on.Device().Existing()
	for _, o := range s.Operations {
		if len(there) > 0 && !slices.Contains(there, o.Instance) {
			return fmt.Errorf("the schedule needs %v, which does not exist, and none is made (mode mig-existing); "+
				"there are %v: give a schedule for those, for example --algorithm fixpart with their partition",
				o.Instance, there)
		}
	}
	return nil
}

type run struct {
	Options
	problem schedule.Problem
	start   time.Time

	mu       sync.Mutex
	happened schedule.Schedule
}

func (r *run) now() mig.Seconds { return profiling.Seconds(time.Since(r.start)) }

// runInstance does everything that the plan says for an instance.
func (r *run) runInstance(ctx context.Context, l *life) error {
	if err := r.turn(ctx, l, l.create); err != nil {
		return err
	}
	for _, k := range l.tasks {
		if err := r.task(ctx, l, k); err != nil {
			return err
		}
	}
	if l.destroy == nil {
		return nil
	}
	return r.turn(ctx, l, l.destroy)
}

// turn waits for the turn of an operation and does it.
func (r *run) turn(ctx context.Context, l *life, o *operation) error {
	if o.previous != nil {
		select {
		case <-ctx.Done():
		case <-o.previous.done:
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.operate(ctx, l, o.Op); err != nil {
		return err
	}
	close(o.done)
	return nil
}

func (r *run) operate(ctx context.Context, l *life, op schedule.Op) error {
	start := r.now()
	var err error
	if op == schedule.Create {
		l.made, _, err = r.GPU.Create(ctx, l.in)
		l.exists = err == nil
	} else {
		_, err = r.GPU.Destroy(ctx, l.made)
		l.exists = err != nil
	}
	end := r.now()
	if err != nil {
		return fmt.Errorf("%v of %v: %w", op, l.in, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happened.Operations = append(r.happened.Operations,
		schedule.Operation{Op: op, Instance: l.in, Start: start, End: end})
	return nil
}

// task runs a task.
func (r *run) task(ctx context.Context, l *life, k int) error {
	name := r.problem.Tasks[k].Name
	start := r.now()
	out, err := r.Launcher.Launch(ctx, r.Kernels[name], l.made)
	end := r.now()
	if err != nil {
		return fmt.Errorf("task %q on %v: %w", name, l.in, err)
	}
	if out.Status != launch.OK {
		return &TaskError{Task: name, Instance: l.in, Outcome: out}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happened.Placements = append(r.happened.Placements,
		schedule.Placement{Task: k, Instance: l.in, Start: start, End: end})
	if r.Progress != nil {
		r.Progress(len(r.happened.Placements), len(r.problem.Tasks))
	}
	return nil
}
