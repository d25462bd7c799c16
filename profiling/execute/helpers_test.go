package execute_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/execute"
	"miglab/profiling/launch"
	"miglab/profiling/session"
)

// A trial is one execution on a fake GPU.
type trial struct {
	problem schedule.Problem
	planned schedule.Schedule
	// model is that of the GPU; nil means that of the problem.
	model *mig.GPU
	gpu   []devicetest.Option
	// arrange changes what the execution begins with; it may be nil.
	arrange func(*stage)
}

// A stage is what an execution begins with.
type stage struct {
	ctx      context.Context
	cancel   context.CancelFunc
	gpu      *devicetest.GPU
	launcher *devicetest.Launcher
	options  execute.Options
}

// A result is what came of it.
type result struct {
	real schedule.Schedule
	err  error
	// left are the instances that existed when Run returned.
	left []profiling.Instance
	// closing is the error of closing the session.
	closing error
}

// execute runs a trial in a bubble with a clock of its own.
func (tr trial) execute(t *testing.T) (out result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		model, dir := cmp.Or(tr.model, tr.problem.GPU), t.TempDir()
		st := &stage{ctx: t.Context(), cancel: func() {}, launcher: &devicetest.Launcher{Times: map[string]map[mig.Slices]mig.Seconds{}}}
		st.gpu = devicetest.New(model, tr.gpu...)
		s, err := session.Open(st.ctx, st.gpu, session.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { out.closing = s.Close() }()
		st.options.GPU, st.launcher.GPUs = s, []*devicetest.GPU{st.gpu}
		st.options.Kernels = map[string]*launch.Kernel{}
		for _, tk := range tr.problem.Tasks {
			st.options.Kernels[tk.Name] = &launch.Kernel{Name: tk.Name}
			times := map[mig.Slices]mig.Seconds{}
			for _, size := range tr.problem.GPU.Sizes() {
				times[size] = tk.On(size)
			}
			st.launcher.Times[tk.Name] = times
		}
		st.options.Launcher = st.launcher
		if tr.arrange != nil {
			tr.arrange(st)
		}
		defer func() { st.cancel() }()
		out.real, out.err = execute.Run(st.ctx, tr.problem, tr.planned, st.options)
		if out.left, err = st.gpu.Instances(); err != nil {
			st.gpu.Reset() // lost
		}
	})
	return out
}

// well checks that an execution came to its end.
func (r result) well() error {
	if r.err != nil {
		return r.err
	}
	if len(r.left) > 0 {
		return fmt.Errorf("%d instances are left, the first %v", len(r.left), r.left[0].Instance)
	}
	return r.closing
}

// succeed runs a trial that must come to its end.
func (tr trial) succeed(t *testing.T) result {
	t.Helper()
	r := tr.execute(t)
	if err := r.well(); err != nil {
		t.Fatal(err)
	}
	return r
}

// A device is the GPU while a plan is drawn: ready says from when an instance that exists can be used, the others
// from when something new can be created.
type device struct {
	ready      map[mig.Instance]mig.Seconds
	slice      [8]mig.Seconds
	profile    map[*mig.Profile]mig.Seconds
	operations mig.Seconds
}

// drawPlan draws a problem and a valid schedule for it, with gaps, instances without tasks, and all kinds of
// profiles: each task goes on a random instance, for which what is in its way is destroyed.
func drawPlan(t *rapid.T) (schedule.Problem, schedule.Schedule) {
	p := schedule.Problem{
		GPU: mig.MustLookup(rapid.SampledFrom([]string{"A30", "A100", "H100"}).Draw(t, "gpu")),
	}
	s := schedule.Schedule{GPU: p.GPU, Algorithm: "drawn"}
	gap := rapid.SampledFrom([]mig.Seconds{0, 0, 0, 0.25, 1})
	d := device{ready: map[mig.Instance]mig.Seconds{}, profile: map[*mig.Profile]mig.Seconds{}}
	var all []mig.Instance
	for _, pr := range p.GPU.Profiles {
		for _, start := range pr.Starts {
			all = append(all, mig.Instance{Profile: pr, Start: start})
		}
	}
	operate := func(op schedule.Op, in mig.Instance, start, cost mig.Seconds) mig.Seconds {
		start = max(start, d.operations) + gap.Draw(t, "gap")
		d.operations = start + cost
		s.Operations = append(s.Operations, schedule.Operation{Op: op, Instance: in, Start: start, End: start + cost})
		return start + cost
	}
	for i := range rapid.IntRange(1, 10).Draw(t, "steps") {
		in := rapid.SampledFrom(all).Draw(t, "instance")
		if _, ok := d.ready[in]; !ok {
			var conflicts []mig.Instance
			for o := range d.ready {
				if o.Overlaps(in) || o.Profile == in.Profile && in.Profile.MediaExtensions {
					conflicts = append(conflicts, o)
				}
			}
			slices.SortFunc(conflicts, func(a, b mig.Instance) int { return int(a.Start - b.Start) })
			for _, o := range conflicts {
				end := operate(schedule.Destroy, o, d.ready[o], o.Profile.Destroy)
				for j := range d.slice {
					if o.Mask()>>j&1 == 1 {
						d.slice[j] = end
					}
				}
				d.profile[o.Profile] = max(d.profile[o.Profile], end)
				delete(d.ready, o)
			}
			start := d.profile[in.Profile]
			for j := range d.slice {
				if in.Mask()>>j&1 == 1 {
					start = max(start, d.slice[j])
				}
			}
			d.ready[in] = operate(schedule.Create, in, start, in.Profile.Create)
		}
		if rapid.IntRange(0, 4).Draw(t, "empty") == 0 {
			continue
		}
		takes := mig.Seconds(rapid.IntRange(500, 5000).Draw(t, "milliseconds")) / 1000
		tk := task.New(fmt.Sprintf("task %d", i), map[mig.Slices]mig.Seconds{in.Size(): takes})
		p.Tasks = append(p.Tasks, tk)
		start := d.ready[in] + gap.Draw(t, "idle")
		d.ready[in] = start + takes
		s.Placements = append(s.Placements, schedule.Placement{
			Task: len(p.Tasks) - 1, Instance: in, Start: start, End: start + takes,
		})
	}
	s.Placements = rapid.Permutation(s.Placements).Draw(t, "placements")
	s.Operations = rapid.Permutation(s.Operations).Draw(t, "operations")
	return p, s
}
