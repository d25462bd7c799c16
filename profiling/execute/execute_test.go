package execute_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "miglab/algorithms"
	_ "miglab/algorithms/rl/agents"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/execute"
	"miglab/profiling/launch"
)

// rounding is what may come together where each duration is cut to nanoseconds.
const rounding = 1e-6

// batch is a batch of tasks with times of whole milliseconds.
func batch(g *mig.GPU, n int, seed uint64) task.Batch {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b task.Batch
	for i := range n {
		tk := task.New(fmt.Sprintf("task %d", i), nil)
		alone, speedup := 1000+9000*rng.Float64(), 0.2+rng.Float64()
		for _, size := range g.Sizes() {
			tk.Set(size, mig.Seconds(math.Round(alone/math.Pow(float64(size), speedup)))/1000)
		}
		b = append(b, tk)
	}
	return b
}

// batchAlgorithms are the registered ones with their parameters, for a problem.
func batchAlgorithms(g *mig.GPU) []string {
	var ids []string
	for _, s := range algo.All(algo.TrackBatch) {
		if s.Name == "fixpart" {
			for _, p := range g.Partitions() {
				ids = append(ids, "fixpart?p="+p.String())
			}
			continue
		}
		ids = append(ids, s.Name)
	}
	return ids
}

// placements returns a schedule's placements by task.
func placements(s schedule.Schedule) map[int]schedule.Placement {
	out := map[int]schedule.Placement{}
	for _, pl := range s.Placements {
		out[pl.Task] = pl
	}
	return out
}

// lateness returns how much later than planned the ends of tasks were, at most and at least.
func lateness(planned, real schedule.Schedule) (most, least mig.Seconds) {
	most, least = mig.Seconds(math.Inf(-1)), mig.Seconds(math.Inf(1))
	happened := placements(real)
	for _, pl := range planned.Placements {
		late := happened[pl.Task].End - pl.End
		most, least = max(most, late), min(least, late)
	}
	return most, least
}

// valid checks that what happened is a schedule by itself: that of a GPU which does one operation at a time.
func valid(p schedule.Problem, real schedule.Schedule) error {
	if v := schedule.Check(p, real); len(v) > 0 {
		return &schedule.InvalidError{Algorithm: "what happened", Violations: v}
	}
	return nil
}

// Batch algorithms let everything happen as early as it can. Where operations take what the model says, one at a time,
// their schedules happen exactly as simulated.
func TestAlgorithmsAreExecutedAsSimulated(t *testing.T) {
	for n, name := range []string{"A30", "A100", "H100"}[:deep.N(2, 3)] {
		g := mig.MustLookup(name)
		p := schedule.Problem{GPU: g, Tasks: batch(g, deep.N(7, 12), uint64(n))}
		for _, id := range batchAlgorithms(g) {
			s, err := algo.MustParse(id).Schedule(t.Context(), p)
			var unsupported *algo.UnsupportedError
			if errors.As(err, &unsupported) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			r := trial{problem: p, planned: s}.execute(t)
			if err := errors.Join(r.well(), valid(p, r.real)); err != nil {
				t.Fatalf("%s on %s: %v", id, g, err)
			}
			if most, least := lateness(s, r.real); most > rounding || least < -rounding {
				t.Errorf("%s on %s: tasks end between %v s earlier and %v s later than simulated", id, g, -least, most)
			}
			if r.real.Algorithm != s.Algorithm || len(r.real.Placements) != len(s.Placements) {
				t.Errorf("%s on %s: %q with %d placements, want %q with %d", id, g, r.real.Algorithm, len(r.real.Placements), s.Algorithm, len(s.Placements))
			}
		}
	}
}

// Any plan that the referee accepts can be executed, and what happens is a schedule that the referee accepts, too. No
// task is later than planned.
func TestEveryValidPlanIsExecuted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, s := drawPlan(rt)
		r := trial{problem: p, planned: s}.execute(t)
		if err := errors.Join(r.well(), valid(p, r.real)); err != nil {
			rt.Fatal(err)
		}
		if most, _ := lateness(s, r.real); most > rounding {
			rt.Errorf("a task is %v s late", most)
		}
	})
}

// in is an instance of the A100.
func in(t *testing.T, profile string, start mig.Slices) mig.Instance {
	t.Helper()
	p, err := mig.MustLookup("A100").ProfileByName(profile)
	if err != nil {
		t.Fatal(err)
	}
	return mig.Instance{Profile: p, Start: start}
}

// Two tasks on the two lives of one instance that touch: each has to find its own.
func TestTasksFindTheirLives(t *testing.T) {
	left, all := in(t, "3g.20gb", 0), in(t, "7g.40gb", 0)
	p := schedule.Problem{GPU: mig.MustLookup("A100"), Tasks: task.Batch{
		task.New("first", map[mig.Slices]mig.Seconds{3: 2}), task.New("second", map[mig.Slices]mig.Seconds{7: 1}),
		task.New("third", map[mig.Slices]mig.Seconds{3: 2}), task.New("fourth", map[mig.Slices]mig.Seconds{3: 2}),
	}}
	s := schedule.Schedule{
		GPU: p.GPU, Model: p.Model,
		Operations: []schedule.Operation{
			{Op: schedule.Create, Instance: left, Start: 6.28, End: 6.48},
			{Op: schedule.Create, Instance: left, Start: 0, End: 0.20},
			{Op: schedule.Destroy, Instance: left, Start: 2.20, End: 2.41},
			{Op: schedule.Create, Instance: all, Start: 2.41, End: 2.65},
			{Op: schedule.Destroy, Instance: all, Start: 3.65, End: 3.87},
			{Op: schedule.Create, Instance: left, Start: 3.87, End: 4.07},
			{Op: schedule.Destroy, Instance: left, Start: 6.07, End: 6.28},
		},
		Placements: []schedule.Placement{
			{Task: 3, Instance: left, Start: 6.48, End: 8.48},
			{Task: 2, Instance: left, Start: 4.0699999995, End: 6.07},
			{Task: 1, Instance: all, Start: 2.65, End: 3.65},
			{Task: 0, Instance: left, Start: 0.20, End: 2.20},
		},
	}
	r := trial{problem: p, planned: s}.succeed(t)
	happened := placements(r.real)
	for k, want := range []mig.Seconds{2.20, 3.65, 6.07, 8.48} {
		if d := happened[k].End - want; d < -rounding || d > rounding {
			t.Errorf("%s ends at %v s, want %v", p.Tasks[k].Name, happened[k].End, want)
		}
	}
}

// twoByTwo is a plan on the A100: a and b run beside each other on 3 slices, then c on all 7, then d on 4; the last
// instance stays.
func twoByTwo(t *testing.T) (schedule.Problem, schedule.Schedule) {
	t.Helper()
	left, right, all, four := in(t, "3g.20gb", 0), in(t, "3g.20gb", 4), in(t, "7g.40gb", 0), in(t, "4g.20gb", 0)
	on := func(name string, size mig.Slices, takes mig.Seconds) task.Task {
		return task.New(name, map[mig.Slices]mig.Seconds{size: takes})
	}
	p := schedule.Problem{GPU: mig.MustLookup("A100"), Tasks: task.Batch{on("a", 3, 10), on("b", 3, 4), on("c", 7, 5), on("d", 4, 2)}}
	s := schedule.Schedule{
		GPU: p.GPU, Algorithm: "by hand",
		Operations: []schedule.Operation{
			{Op: schedule.Create, Instance: left, Start: 0, End: 0.20},
			{Op: schedule.Create, Instance: right, Start: 0.20, End: 0.40},
			{Op: schedule.Destroy, Instance: right, Start: 4.40, End: 4.61},
			{Op: schedule.Destroy, Instance: left, Start: 10.20, End: 10.41},
			{Op: schedule.Create, Instance: all, Start: 10.41, End: 10.65},
			{Op: schedule.Destroy, Instance: all, Start: 15.65, End: 15.87},
			{Op: schedule.Create, Instance: four, Start: 15.87, End: 16.08},
		},
		Placements: []schedule.Placement{
			{Task: 0, Instance: left, Start: 0.20, End: 10.20},
			{Task: 1, Instance: right, Start: 0.40, End: 4.40},
			{Task: 2, Instance: all, Start: 10.65, End: 15.65},
			{Task: 3, Instance: four, Start: 16.08, End: 18.08},
		},
	}
	return p, s
}

func TestWhatHappened(t *testing.T) {
	p, s := twoByTwo(t)
	var heard []int
	r := trial{problem: p, planned: s, arrange: func(st *stage) {
		st.options.Progress = func(done, all int) { heard = append(heard, 10*done+all) }
	}}.succeed(t)
	if most, least := lateness(s, r.real); most > rounding || least < -rounding {
		t.Errorf("tasks end between %v s earlier and %v s later than planned", -least, most)
	}
	if fmt.Sprint(heard) != "[14 24 34 44]" {
		t.Errorf("progress %v", heard)
	}
	// The instance that the plan leaves is destroyed in the end.
	if n := len(r.real.Operations); n != len(s.Operations)+1 {
		t.Fatalf("%d operations, want one more than the %d planned", n, len(s.Operations))
	}
	last := r.real.Operations[len(s.Operations)]
	if last.Op != schedule.Destroy || last.Instance != in(t, "4g.20gb", 0) || last.Start < r.real.Makespan()-rounding {
		t.Errorf("the last operation is %+v", last)
	}
	if d := r.real.Makespan() - s.Makespan(); d < -rounding || d > rounding {
		t.Errorf("the makespan is %v s, want %v", r.real.Makespan(), s.Makespan())
	}
}

// A task that takes longer holds up what comes after it on the GPU, and all else is as it was.
func TestSlowTask(t *testing.T) {
	p, s := twoByTwo(t)
	r := trial{problem: p, planned: s, arrange: func(st *stage) { st.launcher.Times["a"][3] = 13 }}.succeed(t)
	happened := placements(r.real)
	for k, want := range []mig.Seconds{13.20, 4.40, 18.65, 21.08} {
		if d := happened[k].End - want; d < -rounding || d > rounding {
			t.Errorf("%s ends at %v s, want %v", p.Tasks[k].Name, happened[k].End, want)
		}
	}
}

// Instances that stay in use for a while cost their time, and no more.
func TestBusyDestroy(t *testing.T) {
	p, s := twoByTwo(t)
	r := trial{problem: p, planned: s, gpu: []devicetest.Option{devicetest.Busy(2, 300*time.Millisecond)}}.succeed(t)
	if late := r.real.Makespan() - s.Makespan(); late < 0.6 || late > 2 {
		t.Errorf("two destroys that wait 0.3 s each made it %v s longer", late)
	}
}

// Whatever goes wrong: an error says what, what ended well is in the result, and nothing is left on the GPU.
func TestFaults(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name    string
		arrange func(*stage)
		gpu     []devicetest.Option
		// want is part of the message, is what the error wraps.
		want string
		is   error
		// status is that of the *TaskError; none if empty.
		status launch.Status
		// ended are the tasks that ended well.
		ended string
		// lasts is until when something happened, at most.
		lasts mig.Seconds
	}{
		{
			name: "create refused", arrange: func(st *stage) { st.gpu.FailCreate(2, boom) },
			want: "create of 7@0: ", is: boom, ended: "a b", lasts: 10.41,
		},
		{
			name: "create refused while a task runs", arrange: func(st *stage) { st.gpu.FailCreate(1, profiling.ErrInsufficient) },
			want: "create of 3@4: ", is: profiling.ErrInsufficient, ended: "", lasts: 0.41,
		},
		{ // it is left to the session
			name: "destroy that never succeeds", gpu: []devicetest.Option{devicetest.Busy(0, 45*time.Second)},
			want: "destroy of 3@4: ", is: profiling.ErrBusy, ended: "a b", lasts: 95,
		},
		{
			name: "crash", arrange: func(st *stage) { st.launcher.Crash = map[string]bool{"b": true} },
			want: `task "b" on 3@4: crash: exit status 139`, status: launch.Crash, ended: "", lasts: 4.82,
		},
		{
			name: "hang", arrange: func(st *stage) {
				st.launcher.Times["c"][7] = 1e6
				st.options.Kernels["c"].Timeout = time.Minute
			},
			want: `task "c" on 7@0: timeout: killed after 1m0s`, status: launch.Timeout, ended: "a b", lasts: 70.87,
		},
		{
			name: "out of memory", arrange: func(st *stage) { st.launcher.Times["b"][3] = mig.Seconds(math.Inf(1)) },
			want: `task "b" on 3@4: oom: out of memory`, status: launch.OutOfMemory, ended: "", lasts: 0.82,
		},
		{
			name: "kernel that cannot be started", arrange: func(st *stage) { delete(st.launcher.Times, "d") },
			want: `task "d" on 4@0: devicetest: there is no time`, ended: "a b c", lasts: 16.29,
		},
		{
			name: "GPU lost while tasks run", arrange: func(st *stage) { time.AfterFunc(2*time.Second, st.gpu.Lose) },
			want: `task "b" on 3@4: crash`, is: profiling.ErrLost, status: launch.Crash, ended: "", lasts: 4.4,
		},
		{
			name: "GPU lost while the second instance is created", arrange: func(st *stage) { time.AfterFunc(300*time.Millisecond, st.gpu.Lose) },
			want: "create of 3@4: ", is: profiling.ErrLost, ended: "", lasts: 0.20,
		},
		{
			name: "GPU reset by somebody else", arrange: func(st *stage) { time.AfterFunc(time.Second, st.gpu.Reset) },
			want: `task "b" on 3@4: crash: unspecified launch failure`, status: launch.Crash, ended: "", lasts: 0.40,
		},
		{
			name: "GPU lost while an instance is created", arrange: func(st *stage) { time.AfterFunc(10500*time.Millisecond, st.gpu.Lose) },
			want: "create of 7@0: ", is: profiling.ErrLost, ended: "a b", lasts: 10.65,
		},
		{
			name: "GPU lost in the end", arrange: func(st *stage) { time.AfterFunc(18200*time.Millisecond, st.gpu.Lose) },
			want: "destroy of 4@0: ", is: profiling.ErrLost, ended: "a b c d", lasts: 18.08,
		},
		{
			name: "cancelled", arrange: func(st *stage) { st.cancelAfter(3 * time.Second) },
			want: "stopped when 0 of 4 tasks had ended: enough", is: errEnough, ended: "", lasts: 3.42,
		},
		{
			name: "cancelled while an instance is created", arrange: func(st *stage) { st.cancelAfter(10500 * time.Millisecond) },
			want: "stopped when 2 of 4 tasks had ended: enough", is: errEnough, ended: "a b", lasts: 10.87,
		},
		{
			name: "cancelled while waiting for a destroy", arrange: func(st *stage) { st.cancelAfter(10500 * time.Millisecond) },
			gpu:  []devicetest.Option{devicetest.Busy(0, time.Second)},
			want: "stopped when 2 of 4 tasks had ended: enough", is: errEnough, ended: "a b", lasts: 12.5,
		},
		{
			name: "cancelled before", arrange: func(st *stage) { st.cancelAfter(0) },
			want: "stopped when 0 of 4 tasks had ended: enough", is: errEnough, ended: "", lasts: 0,
		},
		{
			name: "time is up", arrange: func(st *stage) { st.ctx, st.cancel = context.WithTimeout(st.ctx, 5*time.Second) },
			want: "stopped when 1 of 4 tasks had ended: context deadline exceeded", is: context.DeadlineExceeded, ended: "b", lasts: 5.21,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s := twoByTwo(t)
			r := trial{problem: p, planned: s, gpu: c.gpu, arrange: c.arrange}.execute(t)
			if r.err == nil || !strings.HasPrefix(r.err.Error(), c.want) {
				t.Errorf("error %v, want %q", r.err, c.want)
			}
			if c.is != nil && !errors.Is(r.err, c.is) {
				t.Errorf("error %v is not %v", r.err, c.is)
			}
			if n := strings.Count(r.err.Error(), profiling.ErrLost.Error()); c.is == profiling.ErrLost && n != 1 || strings.Contains(r.err.Error(), profiling.ErrUnknownInstance.Error()) {
				t.Errorf("error %q says too much", r.err)
			}
			var failed *execute.TaskError
			if errors.As(r.err, &failed) != (c.status != "") || failed != nil && failed.Outcome.Status != c.status {
				t.Errorf("error %#v, want a *TaskError of status %q", r.err, c.status)
			}
			if len(r.left) > 0 || r.closing != nil {
				t.Errorf("left are %v, closing says %v", r.left, r.closing)
			}
			var ended []string
			happened := placements(r.real)
			for k := range p.Tasks {
				if _, ok := happened[k]; ok {
					ended = append(ended, p.Tasks[k].Name)
				}
			}
			if got := strings.Join(ended, " "); got != c.ended {
				t.Errorf("tasks %q ended well, want %q", got, c.ended)
			}
			for _, o := range r.real.Operations {
				if o.End > c.lasts+rounding {
					t.Errorf("the %v of %v ends at %v s, when all was to be over at %v s", o.Op, o.Instance, o.End, c.lasts)
				}
			}
		})
	}
}

var errEnough = errors.New("enough")

// cancelAfter ends the context of the execution.
func (st *stage) cancelAfter(d time.Duration) {
	ctx, cancel := context.WithCancelCause(st.ctx)
	st.ctx, st.cancel = ctx, func() { cancel(errEnough) }
	if d == 0 {
		st.cancel()
		return
	}
	time.AfterFunc(d, st.cancel)
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*schedule.Problem, *schedule.Schedule)
		// gpu and arrange are those of the trial.
		gpu     *mig.GPU
		arrange func(*stage)
		want    string
	}{
		{
			name:   "not valid",
			change: func(_ *schedule.Problem, s *schedule.Schedule) { s.Placements[0].End++ },
			want:   `invalid schedule of "by hand": wrong duration`,
		},
		{
			name: "start partition",
			change: func(p *schedule.Problem, s *schedule.Schedule) {
				p.Start = []schedule.Existing{{Instance: s.Operations[0].Instance}}
				s.Operations = s.Operations[1:]
			},
			want: "only schedules of a batch with sequential reconfiguration on one GPU, empty at the start, are executed",
		},
		{
			name:   "two GPUs",
			change: func(p *schedule.Problem, _ *schedule.Schedule) { p.Count = 2 },
			want:   "only schedules of a batch with sequential reconfiguration on one GPU, empty at the start, are executed",
		},
		{
			name: "another reconfiguration model",
			change: func(p *schedule.Problem, s *schedule.Schedule) {
				p.Model, s.Model = mig.Parallel, mig.Parallel
			},
			want: "only schedules of a batch with sequential reconfiguration on one GPU, empty at the start, are executed",
		},
		{
			name:   "releases",
			change: func(p *schedule.Problem, _ *schedule.Schedule) { p.Release = make([]mig.Seconds, len(p.Tasks)) },
			want:   "only schedules of a batch with sequential reconfiguration on one GPU, empty at the start, are executed",
		},
		{
			name:   "restarts",
			change: func(p *schedule.Problem, _ *schedule.Schedule) { p.Restart = 1 },
			want:   "only schedules of a batch with sequential reconfiguration on one GPU, empty at the start, are executed",
		},
		{
			name: "another model",
			gpu:  mig.MustLookup("A100-80GB"),
			want: "the GPU is a NVIDIA A100-80GB (fake) (A100-80GB); the schedule is for A100",
		},
		{
			name: "an instance of somebody else",
			arrange: func(st *stage) {
				if _, err := st.gpu.Create(in(t, "1g.5gb", 6)); err != nil {
					t.Error(err)
				}
			},
			want: "the GPU holds 1 instances, the first of them 1@6",
		},
		{
			name:    "no program",
			arrange: func(st *stage) { delete(st.options.Kernels, "b") },
			want:    `task "b" has no program`,
		},
		{
			name:    "lost already",
			arrange: func(st *stage) { st.gpu.Lose() },
			want:    "list instances: the GPU has fallen off the bus",
		},
	} {
		p, s := twoByTwo(t)
		if c.change != nil {
			c.change(&p, &s)
		}
		r := trial{model: c.gpu, problem: p, planned: s, arrange: c.arrange}.execute(t)
		if r.err == nil || !strings.HasPrefix(r.err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, r.err, c.want)
		}
		var invalid *schedule.InvalidError
		if errors.As(r.err, &invalid) != (c.name == "not valid") {
			t.Errorf("%s: error %#v", c.name, r.err)
		}
		if len(r.real.Operations) > 0 {
			t.Errorf("%s: something was done", c.name)
		}
	}
}
