// Package execute runs a schedule for real: FAR Algorithm 3, for every schedule that
// the referee accepts - of any algorithm, under any reconfiguration model, on several
// GPUs, with instances that merge as well as split.
//
// As in Algorithm 3, each instance has a thread of its own that creates it, runs its
// tasks one after the other and destroys it. The algorithm walks the tree of
// instances that FAR splits: a thread creates its instance as soon as the one above
// is gone, and whichever thread asks the driver first comes first. A schedule in
// general has no such tree. So here the operations of a GPU happen in the order of
// the plan: each waits until the one before it has ended, even where the two have
// nothing to do with each other. That makes the execution of every valid plan safe,
// since whatever shared an instance's slices has been destroyed when its turn comes,
// and its order the plan's. It costs nothing while times are as planned, because
// drivers do one operation at a time (FAR 2.1); where a task takes longer than
// planned, an operation that was planned after it can come later than with threads
// that are free.
//
// Tasks wait for no turn: one starts as soon as its instance is there, the task before
// it on the instance has ended, and it has been released. Planned instants are
// otherwise not waited for, so that a plan with gaps runs ahead of itself.
package execute

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/profiling"
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

// A TaskError says that a task did not end well.
type TaskError struct {
	// Task is its name.
	Task string
	// GPU counts from 0.
	GPU      int
	Instance mig.Instance
	Outcome  kernel.Outcome
}

func (e *TaskError) Error() string {
	s := fmt.Sprintf("task %q on %v of GPU %d: %s", e.Task, e.Instance, e.GPU, e.Outcome.Status)
	if e.Outcome.Detail != "" {
		s += ": " + e.Outcome.Detail
	}
	return s
}

// Run executes a schedule. What it returns is the schedule as it happened, on the
// same instances: instants count from when Run starts to work; a task's are those
// just before its launch and just after (Algorithm 3, lines 6 and 8), an operation's
// those around the call of the session. Instances that the plan leaves are destroyed
// in the end, which is no part of the makespan.
//
// Nothing is run where the schedule is not valid (the error is a
// [*schedule.InvalidError]), the problem has a start partition, the GPUs are not as
// many as the problem's or not of its model or not empty, or a task has no kernel.
//
// The first thing that goes wrong ends the execution: nothing more is started,
// running tasks are killed, and every instance that was made is destroyed before Run
// returns, also when ctx has ended. A task that ends otherwise than well is a
// [*TaskError]; the other errors are those of the session and of ctx. With an error
// comes what happened until then: the tasks that ended well and the operations that
// succeeded.
func Run(ctx context.Context, p schedule.Problem, s schedule.Schedule, o Options) (schedule.Schedule, error) {
	if err := refuse(&p, &s, &o); err != nil {
		return schedule.Schedule{}, err
	}
	if o.Launcher == nil {
		o.Launcher = measure.Real{}
	}
	r := &run{
		Options: o, problem: p, start: time.Now(),
		happened: schedule.Schedule{GPU: s.GPU, Algorithm: s.Algorithm, Model: s.Model},
	}
	lives := plan(&s)
	group, inner := errgroup.WithContext(ctx)
	for _, l := range lives {
		group.Go(func() error { return r.live(inner, l) })
	}
	err := group.Wait()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("stopped when %d of %d tasks had ended: %w", len(r.happened.Placements), len(p.Tasks), context.Cause(ctx))
	}
	for _, l := range lives {
		if !l.exists {
			continue
		}
		again := r.operate(context.WithoutCancel(ctx), l, schedule.Destroy)
		// What went with its GPU, or by somebody else's hand, is gone: once is enough to say so.
		if errors.Is(again, profiling.ErrLost) && errors.Is(err, profiling.ErrLost) || errors.Is(again, profiling.ErrUnknownInstance) && err != nil {
			continue
		}
		err = errors.Join(err, again)
	}
	return r.happened, err
}

// refuse says why a schedule cannot be executed.
func refuse(p *schedule.Problem, s *schedule.Schedule, o *Options) error {
	if v := schedule.Check(*p, *s); len(v) > 0 {
		return &schedule.InvalidError{Algorithm: s.Algorithm, Violations: v}
	}
	if n := len(p.Start); n > 0 {
		return fmt.Errorf("the problem starts with %d instances; only schedules that start on empty GPUs are executed", n)
	}
	if len(o.GPUs) != p.GPUs() {
		return fmt.Errorf("the schedule is for %d GPUs, not for %d", p.GPUs(), len(o.GPUs))
	}
	for i, g := range o.GPUs {
		id := g.Identity()
		if slices.Contains(o.GPUs[:i], g) {
			return fmt.Errorf("GPU %d is given twice", i)
		}
		if id.Model != p.GPU {
			return fmt.Errorf("GPU %d is a %s (%s); the schedule is for %s", i, id.Name, id.Model, p.GPU)
		}
		exist, err := g.Device().Instances()
		if err != nil {
			return fmt.Errorf("GPU %d: %w", i, err)
		}
		if len(exist) > 0 {
			return fmt.Errorf("GPU %d holds %d instances, the first of them %v; schedules start on empty GPUs", i, len(exist), exist[0].Instance)
		}
	}
	for i := range p.Tasks {
		name := p.Tasks[i].Name
		if o.Kernels[name] == nil {
			var known []string
			for k := range o.Kernels {
				known = append(known, k)
			}
			return nearest.Unknown("kernel", name, known)
		}
	}
	return nil
}

// run is an execution.
type run struct {
	Options
	problem schedule.Problem
	start   time.Time

	mu       sync.Mutex
	happened schedule.Schedule
}

// now is the time since the execution began.
func (r *run) now() mig.Seconds { return profiling.Seconds(time.Since(r.start)) }

// live does all that the plan wants of an instance.
func (r *run) live(ctx context.Context, l *life) error {
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

// turn waits for the turn of an operation and carries it out.
func (r *run) turn(ctx context.Context, l *life, o *operation) error {
	if o.before != nil {
		select {
		case <-ctx.Done():
		case <-o.before.done:
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

// operate creates or destroys the instance of a life.
func (r *run) operate(ctx context.Context, l *life, op schedule.Op) error {
	start := r.now()
	var err error
	if op == schedule.Create {
		l.made, _, err = r.GPUs[l.gpu].Create(ctx, l.in)
		l.exists = err == nil
	} else {
		_, err = r.GPUs[l.gpu].Destroy(ctx, l.made)
		l.exists = err != nil
	}
	end := r.now()
	if err != nil {
		return fmt.Errorf("%v of %v on GPU %d: %w", op, l.in, l.gpu, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happened.Operations = append(r.happened.Operations, schedule.Operation{Op: op, GPU: l.gpu, Instance: l.in, Start: start, End: end})
	return nil
}

// task runs a task when it has been released.
func (r *run) task(ctx context.Context, l *life, k int) error {
	if err := r.sleepUntil(ctx, r.problem.ReleaseOf(k)); err != nil {
		return err
	}
	name := r.problem.Tasks[k].Name
	start := r.now()
	out, err := r.Launcher.Launch(ctx, r.Kernels[name], l.made)
	end := r.now()
	if err != nil {
		return fmt.Errorf("task %q on %v of GPU %d: %w", name, l.in, l.gpu, err)
	}
	if out.Status != kernel.OK {
		return &TaskError{Task: name, GPU: l.gpu, Instance: l.in, Outcome: out}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happened.Placements = append(r.happened.Placements, schedule.Placement{Task: k, GPU: l.gpu, Instance: l.in, Start: start, End: end})
	if r.Progress != nil {
		r.Progress(len(r.happened.Placements), len(r.problem.Tasks))
	}
	return nil
}

// sleepUntil returns at an instant, not before it; at once if it has passed.
func (r *run) sleepUntil(ctx context.Context, at mig.Seconds) error {
	const longest = float64(math.MaxInt64 / 2)
	t := time.NewTimer(time.Duration(min(math.Ceil(float64(at)*1e9), longest)) - time.Since(r.start))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
