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

// A trial is one execution on fake GPUs.
type trial struct {
	problem schedule.Problem
	planned schedule.Schedule
	// model is that of the GPUs; nil means that of the problem.
	model *mig.GPU
	gpu   []devicetest.Option
	// arrange changes what the execution begins with; it may be nil.
	arrange func(*stage)
}

// A stage is what an execution begins with.
type stage struct {
	ctx      context.Context
	cancel   context.CancelFunc
	gpus     []*devicetest.GPU
	launcher *devicetest.Launcher
	options  execute.Options
}

// A result is what came of it.
type result struct {
	real schedule.Schedule
	err  error
	// left are the instances that existed when Run returned.
	left []profiling.Instance
	// closing is the error of closing the sessions.
	closing error
}

// execute runs a trial in a bubble with a clock of its own.
func (tr trial) execute(t *testing.T) (out result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		model, dir := cmp.Or(tr.model, tr.problem.GPU), t.TempDir()
		st := &stage{ctx: t.Context(), cancel: func() {}, launcher: &devicetest.Launcher{Times: map[string]map[mig.Slices]mig.Seconds{}}}
		for i := range tr.problem.GPUs() {
			g := devicetest.New(model, append([]devicetest.Option{devicetest.Number(i)}, tr.gpu...)...)
			s, err := session.Open(st.ctx, g, session.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					out.closing = err
				}
			}()
			st.gpus = append(st.gpus, g)
			st.options.GPUs = append(st.options.GPUs, s)
		}
		st.launcher.GPUs = st.gpus
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
		for _, g := range st.gpus {
			left, err := g.Instances()
			if err != nil {
				g.Reset() // lost
				continue
			}
			out.left = append(out.left, left...)
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

// A device is one GPU while a plan is drawn: ready says from when an instance that exists can be used, the others
// from when something new can be created.
type device struct {
	ready      map[mig.Instance]mig.Seconds
	slice      [8]mig.Seconds
	profile    map[*mig.Profile]mig.Seconds
	operations mig.Seconds
}

// drawPlan draws a problem and a valid schedule for it, with gaps, instances without tasks, and all kinds of
// profiles: each task goes on a random instance, for which what is in its way is destroyed.
func drawPlan(t *rapid.T, model mig.Reconfiguration) (schedule.Problem, schedule.Schedule) {
	p := schedule.Problem{
		GPU:   mig.MustLookup(rapid.SampledFrom([]string{"A30", "A100", "H100"}).Draw(t, "gpu")),
		Count: rapid.IntRange(1, 2).Draw(t, "count"),
		Model: model,
	}
	s := schedule.Schedule{GPU: p.GPU, Algorithm: "drawn", Model: p.Model}
	gap := rapid.SampledFrom([]mig.Seconds{0, 0, 0, 0.25, 1})
	devices := make([]device, p.GPUs())
	for i := range devices {
		devices[i].ready, devices[i].profile = map[mig.Instance]mig.Seconds{}, map[*mig.Profile]mig.Seconds{}
	}
	var all []mig.Instance
	for _, pr := range p.GPU.Profiles {
		for _, start := range pr.Starts {
			all = append(all, mig.Instance{Profile: pr, Start: start})
		}
	}
	operate := func(gpu int, op schedule.Op, in mig.Instance, start, cost mig.Seconds) mig.Seconds {
		d := &devices[gpu]
		switch p.Model {
		case mig.Sequential:
			start = max(start, d.operations)
		case mig.Free:
			cost = 0
		}
		start += gap.Draw(t, "gap")
		d.operations = start + cost
		s.Operations = append(s.Operations, schedule.Operation{Op: op, GPU: gpu, Instance: in, Start: start, End: start + cost})
		return start + cost
	}
	for i := range rapid.IntRange(1, 10).Draw(t, "steps") {
		in := rapid.SampledFrom(all).Draw(t, "instance")
		gpu := rapid.IntRange(0, len(devices)-1).Draw(t, "device")
		d := &devices[gpu]
		if _, ok := d.ready[in]; !ok {
			var conflicts []mig.Instance
			for o := range d.ready {
				if o.Overlaps(in) || o.Profile == in.Profile && in.Profile.MediaExtensions {
					conflicts = append(conflicts, o)
				}
			}
			slices.SortFunc(conflicts, func(a, b mig.Instance) int { return int(a.Start - b.Start) })
			for _, o := range conflicts {
				end := operate(gpu, schedule.Destroy, o, d.ready[o], o.Profile.Destroy)
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
			d.ready[in] = operate(gpu, schedule.Create, in, start, in.Profile.Create)
		}
		if rapid.IntRange(0, 4).Draw(t, "empty") == 0 {
			continue
		}
		takes := mig.Seconds(rapid.IntRange(500, 5000).Draw(t, "milliseconds")) / 1000
		tk := task.New(fmt.Sprintf("task %d", i), map[mig.Slices]mig.Seconds{in.Size(): takes})
		release := gap.Draw(t, "release")
		p.Tasks = append(p.Tasks, tk)
		p.Release = append(p.Release, release)
		start := max(d.ready[in], release) + gap.Draw(t, "idle")
		d.ready[in] = start + takes
		s.Placements = append(s.Placements, schedule.Placement{
			Task: len(p.Tasks) - 1, GPU: gpu, Instance: in, Start: start, End: start + takes,
		})
	}
	s.Placements = rapid.Permutation(s.Placements).Draw(t, "placements")
	s.Operations = rapid.Permutation(s.Operations).Draw(t, "operations")
	return p, s
}
