package measure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/wholefile"
	"miglab/profiling/launch"
	"miglab/profiling/session"
)

// A Run is one measured run of a kernel: a row of runs.csv.
type Run struct {
	// GPU is the model's name. Name and UUID are the GPU's name and number according to the driver.
	// Driver is the driver's version.
	GPU    string `csv:"gpu"`
	Name   string `csv:"gpu_name"`
	UUID   string `csv:"gpu_uuid"`
	Driver string `csv:"driver"`
	// Source names the mechanism that confined the kernel to a part of the GPU.
	Source string `csv:"source"`
	// Mode says whether the program created the instance or it was existing.
	// Instance is its UUID; empty if the kernel was not tried.
	Mode      string `csv:"mode"`
	Instance  string `csv:"instance"`
	Suite     string `csv:"suite"`
	Kernel    string `csv:"kernel"`
	SizeClass string `csv:"size_class"`
	// Time says what the time is of; it is empty in runs of older versions.
	Time launch.TimeKind `csv:"time_source"`
	// Size is the instance's size, SMs its number of multiprocessors; 0 if not published.
	Size mig.Slices `csv:"size"`
	SMs  int        `csv:"sms"`
	// Repetition counts the runs of the kernel on instances of the size, from 1.
	Repetition int           `csv:"repetition"`
	Status     launch.Status `csv:"status"`
	// Seconds is the time from the kernel's time source; 0 unless Status is OK. In runs.csv it is inf if the run ran
	// out of memory, and otherwise empty.
	Seconds mig.Seconds `csv:"seconds,omitempty"`
	// Started is when the process was started, to the second and as RFC 3339 has it; empty if the kernel was not tried
	// because it needs more memory than the instance has.
	Started string `csv:"started"`
	// Load has the clocks, power and temperature of the GPU while the process ran.
	datasets.Load
	// OtherProcesses is the number of processes on the GPU after the run.
	OtherProcesses int `csv:"other_processes"`
	// Result is a hash of the run's result, if the kernel shows it.
	Result string `csv:"result"`
	// Detail says in one line what went wrong.
	Detail string `csv:"detail"`
}

// A place is a kernel on an instance size.
type place struct {
	kernel string
	size   mig.Slices
}

func (r *Run) place() place { return place{r.Kernel, r.Size} }

// Sweep plans to measure kernels on every instance size of a GPU (FAR 2.4).
//
// It runs in rounds. A round takes every size once, in random order, and runs every kernel once on one instance of
// the size. So a GPU that becomes slower or faster with time does so for all sizes. Every second round repeats the
// one before it backwards, which cancels a steady drift within the pair. The instance begins at the profile's first
// start; if only instances that exist are used, it is the first of its profile, and sizes without one are left out.
// A kernel is warmed up before its first run on a size and when it is the first on a new instance. A warm-up that
// fails is a failed run.
//
// A kernel that runs out of memory on a size does not run there again, nor does one that crashes, hangs or gives a
// wrong result until the next call. A kernel that needs more memory than the instance has is not tried. The rows of
// runs.csv are ordered by kernel, size and repetition.
func Sweep(_ context.Context, b *Bench) (*Plan[Run], error) {
	if len(b.Kernels) == 0 {
		return nil, errors.New("there are no kernels to measure")
	}
	p := &Plan[Run]{name: "profile", file: "runs.csv", bench: b, failed: map[string]bool{}}
	known, err := finished[Run](b, p.name)
	if err != nil {
		return nil, err
	}
	w := &sweep{Bench: b, over: map[place]bool{}, warm: map[place]bool{}, on: b.stage()}
	for i := range known {
		w.adopt(&known[i].Record)
	}
	instances, err := instancesBySize(b.Session)
	if err != nil {
		return nil, err
	}
	for round := 1; round <= b.rounds(); round++ {
		shuffled, kernels := roundOrder(round, instances, b.kernels())
		for _, at := range shuffled {
			for _, k := range kernels {
				if round > b.repetitions(k) {
					continue
				}
				p.add(fmt.Sprintf("%s size %d", k.Name, at.Size()), round, []string{k.Name},
					func(ctx context.Context) (*finishedRun[any], error) { return w.run(ctx, at, k, round) })
			}
		}
	}
	p.rows = w.rows
	return p, nil
}

// Existing is the mode of a row under MIG whose instance the program did not make.
const Existing = "existing"

// instancesBySize returns one instance of each size, ascending: at the first start of its profile or, if only instances
// that exist are used, the first that exists. Then it leaves out the sizes that do not.
func instancesBySize(s *session.Session) (all []mig.Instance, _ error) {
	id, exist := s.Identity(), s.Device().Existing()
	for _, size := range id.Model.Sizes() {
		at := firstInstance(id.Model, size)
		if len(exist) > 0 {
			i := slices.IndexFunc(exist, func(in mig.Instance) bool { return in.Profile == at.Profile })
			if i < 0 {
				continue
			}
			at = exist[i]
		}
		all = append(all, at)
	}
	if len(all) == 0 {
		return nil,
			fmt.Errorf("none of the instances that exist on %s has a profile that is measured; those are of %v "+
				"slices", id.UUID, id.Model.Sizes())
	}
	return all, nil
}

type sweep struct {
	*Bench
	// over holds the places that need no more runs, warm those where the kernel is warm.
	over, warm map[place]bool
	// on is the instance on which kernels run one after the other.
	on *stage
	// failed has the runs of this call that failed.
	failed []Run
}

// adopt notes the result of a run that is done or, if the run was no success, that its place needs no more runs.
func (w *sweep) adopt(r *Run) {
	if r.Status == launch.OK {
		w.judge.adopt(r.Kernel, r.Result)
	} else {
		w.over[r.place()] = true
	}
}

// describe returns a hash of what a run of a kernel does and how it is judged: the program's content, its arguments and
// data, its warm-up, its own folder, the least memory, and what is expected and timed. The workdir, the timeout and the
// repetitions are left out: they change no run that is kept. A program that cannot be read cannot run either.
func describe(k *launch.Kernel) string {
	t := k.Time
	program, _ := wholefile.SHA256(k.Executable())
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %v %d %t %v %t %q %v %q %v %q %v",
		program, k.Suite, k.SizeClass, k.Argv, k.Data, k.Warmup, k.MinMemoryMB, k.OwnFolder, k.Expect, k.PrintsDevice,
		t.Kind, t.Pattern, t.Row, t.Unit, k.Result.File, k.Result.Pattern))
	return fmt.Sprintf("%x", h[:6])
}

// roundOrder returns the order of instances and kernels in a round. Rounds count from 1.
func roundOrder(round int, instances []mig.Instance, kernels []*launch.Kernel,
) ([]mig.Instance, []*launch.Kernel) {
	instances, kernels = slices.Clone(instances), slices.Clone(kernels)
	cellStream(fmt.Sprintf("rounds %d", (round+1)/2)).Shuffle(len(instances),
		func(i, j int) { instances[i], instances[j] = instances[j], instances[i] })
	if round%2 == 0 {
		slices.Reverse(instances)
		slices.Reverse(kernels)
	}
	return instances, kernels
}

// run runs a kernel once on the round's instance of a size; nil if it failed or need not run.
func (w *sweep) run(ctx context.Context, at mig.Instance, k *launch.Kernel, repetition int) (*finishedRun[any], error) {
	p := at.Profile
	if w.over[place{k.Name, p.Size}] {
		return nil, nil
	}
	r := &Run{
		GPU: w.from.GPU, Name: w.from.Name, UUID: w.uuid, Driver: w.from.Driver, Source: w.from.Source,
		Suite: k.Suite, Kernel: k.Name, SizeClass: k.SizeClass, Time: k.Time.Kind,
		Size: p.Size, SMs: p.SMs, Repetition: repetition,
	}
	r.Mode = "created"
	if len(w.Session.Device().Existing()) > 0 {
		r.Mode = Existing
	}
	if has := 1000 * p.MemoryGB; k.MinMemoryMB > has {
		detail := fmt.Sprintf("not tried: it needs %d MB, and %s has %d MB", k.MinMemoryMB, p, has)
		return w.record(r, k, launch.Outcome{Status: launch.OutOfMemory, Detail: detail})
	}
	name := fmt.Sprintf("size %d in round %d", p.Size, repetition)
	here := place{k.Name, p.Size}
	due := k.Warmup > 0 && (w.on.name != name || !w.warm[here])
	if err := w.on.set(ctx, name, at); err != nil {
		return nil, err
	}
	on := w.on.made[0]
	r.Instance = oneLine(on.UUID)
	var out launch.Outcome
	var err error
	if due {
		out, err = warmUp(ctx, w.Launcher, k, on)
		w.warm[here] = err == nil && out.Status == launch.OK
	}
	if !due || w.warm[here] {
		out, err = w.Launcher.Launch(ctx, k, on)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", k.Name, OnSlices(p.Size), err)
	}
	return w.record(r, k, out)
}

// record completes a run that has just ended; nil if it failed. If the GPU was lost, it does not list its processes
// either; then the outcome is not the kernel's fault and is not recorded.
func (w *sweep) record(r *Run, k *launch.Kernel, out launch.Outcome) (*finishedRun[any], error) {
	others, err := w.Session.Device().Processes()
	if err != nil {
		return nil, err
	}
	r.Status, r.Result, r.Detail = out.Status, out.Result, oneLine(out.Detail)
	r.Load = w.watch.Between(out.Start, out.End)
	r.OtherProcesses = len(others)
	if !out.Start.IsZero() {
		r.Started = out.Start.UTC().Format(time.RFC3339)
	}
	if out.Status == launch.OK {
		r.Seconds = out.Seconds
	}
	w.adopt(r)
	if out.Status != launch.OK && out.Status != launch.OutOfMemory {
		w.failed = append(w.failed, *r)
		w.fail(k.Name, OnSlices(r.Size), out)
		return nil, nil
	}
	return w.finish(r, out.Start, out.End), nil
}

// rows returns the rows of runs.csv: the finished runs of all calls and those that failed in this one.
func (w *sweep) rows() ([]Run, error) {
	known, err := finished[Run](w.Bench, "profile")
	if err != nil {
		return nil, err
	}
	runs := w.failed
	for _, r := range known {
		runs = append(runs, r.Record)
	}
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Size, b.Size),
			cmp.Compare(a.Repetition, b.Repetition))
	})
	for i := range runs {
		if runs[i].Status == launch.OutOfMemory {
			runs[i].Seconds = mig.Seconds(math.Inf(1))
		}
	}
	return runs, nil
}
