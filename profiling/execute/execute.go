// Package execute runs schedules on real GPUs. It extends FAR Algorithm 3 to every schedule that the referee accepts:
// from any algorithm, under any reconfiguration model, on several GPUs, with instances that merge as well as split.
//
// As in Algorithm 3, each instance has a thread that creates it, runs its tasks one after the other and destroys it.
// The algorithm follows the tree of instances that FAR splits: a thread creates its instance as soon as the instance
// above is gone, and the threads ask the driver in any order. A schedule in general has no such tree. So here the
// operations of a GPU happen in the order of the plan, and each waits until the one before it has ended, even if the
// two are independent. This makes the execution of every valid plan safe: when an instance's turn comes, everything
// that shared its slices is destroyed. While times are as planned this costs no time, because drivers do one operation
// at a time (FAR 2.1). If a task takes longer than planned, a later operation may wait longer than with free threads.
//
// Tasks do not take turns. A task starts as soon as its instance exists, the task before it on the instance has ended,
// and it has been released. Tasks and operations do not wait for planned instants, so a plan with gaps runs faster than
// planned.
package execute

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/profiling"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

// Options have the GPUs, programs and launcher of an execution.
type Options struct {
	// GPUs has one session for each GPU of the problem.
	GPUs []*session.Session
	// Kernels are the programs of the problem's tasks, by task name.
	Kernels map[string]*launch.Kernel
	// Launcher starts them.
	Launcher measure.Launcher
	// Progress is told about every task that has ended; it may be nil.
	Progress func(done, all int)
}

// A TaskError says that a task failed.
type TaskError struct {
	// Task is its name.
	Task string
	// GPU counts from 0.
	GPU      int
	Instance mig.Instance
	Outcome  launch.Outcome
}

func (e *TaskError) Error() string {
	s := fmt.Sprintf("task %q on %v of GPU %d: %s", e.Task, e.Instance, e.GPU, e.Outcome.Status)
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
// Run refuses an invalid schedule (the error is a [*schedule.InvalidError]), a problem with a start partition, and
// a task without a kernel. There must be as many GPUs as in the problem, of its model and empty.
//
// The first failure ends the execution: Run starts no more tasks, kills running ones, and destroys every instance
// that it made, even if ctx has ended. If a task failed, the error is a [*TaskError]; other errors come from the
// session or ctx. With an error, Run returns what happened until then: the tasks and operations that succeeded.
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
		group.Go(func() error { return r.live(inner, l) })
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
		// If the GPU is lost, or somebody else removed the instance, one error is enough.
		if errors.Is(again, profiling.ErrLost) && errors.Is(err, profiling.ErrLost) ||
			errors.Is(again, profiling.ErrUnknownInstance) && err != nil {
			continue
		}
		err = errors.Join(err, again)
	}
	return r.happened, err
}

func checkProblem(p *schedule.Problem, s *schedule.Schedule, o *Options) error {
	if v := schedule.Check(*p, *s); len(v) > 0 {
		return &schedule.InvalidError{Algorithm: s.Algorithm, Violations: v}
	}
	if n := len(p.Start); n > 0 {
		return fmt.Errorf("the problem starts with %d instances; only schedules that start on empty GPUs are executed",
			n)
	}
	if len(o.GPUs) != p.GPUs() {
		return fmt.Errorf("the schedule needs %d GPUs; %d are given", p.GPUs(), len(o.GPUs))
	}
	for i, g := range o.GPUs {
		id := g.Identity()
		if slices.Contains(o.GPUs[:i], g) {
			return fmt.Errorf("GPU %d is given twice", i)
		}
		if id.Model != p.GPU {
			return fmt.Errorf("GPU %d is a %s (%s); the schedule is for %s%s", i, id.Name, id.Model, p.GPU,
				afterMode(id.Model))
		}
		exist, err := g.Device().Instances()
		if err != nil {
			return fmt.Errorf("GPU %d: %w", i, err)
		}
		if err := allExist(g, i, s); err != nil {
			return err
		}
		if len(exist) > 0 {
			return fmt.Errorf("GPU %d holds %d instances, the first of them %v; schedules start on empty GPUs", i,
				len(exist), exist[0].Instance)
		}
	}
	for i := range p.Tasks {
		name := p.Tasks[i].Name
		if o.Kernels[name] == nil {
			return nearest.Unknown("kernel", name, slices.Collect(maps.Keys(o.Kernels)))
		}
	}
	return nil
}

// allExist refuses a schedule that needs other instances than those that exist, if the session may not make any.
func allExist(on *session.Session, gpu int, s *schedule.Schedule) error {
	if !on.Identity().Existing {
		return nil
	}
	var there []mig.Instance
	for _, p := range on.Identity().Model.Profiles {
		starts, err := on.Device().Placements(p)
		if err != nil {
			return fmt.Errorf("GPU %d: %w", gpu, err)
		}
		for _, start := range starts {
			there = append(there, mig.Instance{Profile: p, Start: start})
		}
	}
	for _, o := range s.Operations {
		if o.GPU == gpu && !slices.Contains(there, o.Instance) {
			return fmt.Errorf("the schedule needs %v on GPU %d, which does not exist, and none is made (mode "+
				"mig-existing); there are %v: give a schedule for those, for example --algorithm fixpart with their "+
				"partition",
				o.Instance, gpu, there)
		}
	}
	return nil
}

// afterMode returns the remedy if the driver told the model only after the session had turned on MIG mode.
func afterMode(g *mig.GPU) string {
	if g.Origin == "" {
		return ""
	}
	return "; turn MIG mode on before, so that the schedule is made for the model that the driver tells"
}

type run struct {
	Options
	problem schedule.Problem
	start   time.Time

	mu       sync.Mutex
	happened schedule.Schedule
}

func (r *run) now() mig.Seconds { return profiling.Seconds(time.Since(r.start)) }

// live does everything that the plan says for an instance.
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
	r.happened.Operations = append(r.happened.Operations,
		schedule.Operation{Op: op, GPU: l.gpu, Instance: l.in, Start: start, End: end})
	return nil
}

// task runs a task once it has been released.
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
	if out.Status != launch.OK {
		return &TaskError{Task: name, GPU: l.gpu, Instance: l.in, Outcome: out}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happened.Placements = append(r.happened.Placements,
		schedule.Placement{Task: k, GPU: l.gpu, Instance: l.in, Start: start, End: end})
	if r.Progress != nil {
		r.Progress(len(r.happened.Placements), len(r.problem.Tasks))
	}
	return nil
}

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
