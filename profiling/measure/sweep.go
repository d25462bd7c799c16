package measure

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"miglab/harness/filehash"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/profiling/session"
)

// Sweep measures kernels on every instance size of a GPU and records every run in a
// file, runs.csv. If the file exists, the sweep continues where it stopped.
//
// It runs in rounds. A round takes every size once, in random order, and runs every kernel
// once on one instance of the size. So a GPU that becomes slower or faster with time does
// so for all sizes. Every second round repeats the one before it backwards, which cancels a
// steady drift within the pair. The instance begins at the profile's first start; if only
// instances that exist are used, it is the first of its profile, and sizes without one are left
// out. A kernel
// is warmed up before its first run on a size and when it is the first on a new instance. A
// warm-up is not recorded unless it fails; then its outcome is the run's outcome.
//
// A kernel that runs out of memory on a size has the time +Inf there. A kernel that needs
// more memory than the instance has is not tried and has the same time. Neither runs on
// the size again, nor does a kernel that crashes, hangs or gives a wrong result. The
// [*FailedError] at the end lists the latter. Runs in the file are not repeated, even if
// they failed.
//
// The file must be from the same GPU (by UUID), driver and source, and the kernels must be
// described as before; otherwise the error says what to do. It is an [*OtherCardError] for another
// card of the same model. When ctx ends or the GPU is
// lost, the sweep stops at once. The profile holds all runs of the file, even with an
// error. It is nil if the file cannot be used.
func Sweep(ctx context.Context, s *session.Session, kernels []kernel.Kernel, file string, o Options) (_ *Profile, err error) {
	all, err := checked(kernels)
	if err != nil {
		return nil, err
	}
	log, runs, err := openRuns(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	w := &sweep{
		experiment: newExperiment(o), kernels: all, file: file, session: s, id: s.Identity(), log: log, runs: runs,
		described: map[*kernel.Kernel]string{}, ran: map[cell]bool{}, over: map[place]bool{}, warm: map[place]bool{},
	}
	for _, k := range all {
		w.described[k] = describe(k)
	}
	if err := w.resume(); err != nil {
		return nil, err
	}
	stop, err := w.observe(s.Device())
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := w.rounds(ctx); err != nil {
		return Summarize(w.runs), err
	}
	p := Summarize(w.runs)
	mine := slices.DeleteFunc(p.failures(), func(f Failure) bool {
		return !slices.ContainsFunc(kernels, func(k kernel.Kernel) bool { return k.Name == f.Kernel })
	})
	return p, failed(mine, "to run it again, delete its lines from "+file)
}

type sweep struct {
	experiment
	file    string
	session *session.Session
	id      profiling.Identity
	kernels []*kernel.Kernel
	// described holds the kernels' descriptions.
	described map[*kernel.Kernel]string
	log       *runLog
	runs      []Run
	// ran holds the runs that are done.
	ran map[cell]bool
	// over holds the places that need no more runs, warm those where the kernel is warm.
	over, warm map[place]bool
	// instances are where the sizes are measured.
	instances map[mig.Slices]mig.Instance
	// on is the UUID of the instance that exists now.
	on string
}

func (w *sweep) resume() error {
	if len(w.runs) > 0 {
		now := w.row(&kernel.Kernel{}, &mig.Profile{}, 0)
		column, err := now.agrees(&w.runs[0])
		if column == "gpu_uuid" {
			return &OtherCardError{w.file, now.UUID, w.runs[0].UUID}
		}
		if err != nil {
			return fmt.Errorf("%s:2: %s: %w; record the runs of this GPU in another folder", w.file, column, err)
		}
	}
	for i := range w.runs {
		r := &w.runs[i]
		for _, k := range w.kernels {
			if k.Name == r.Kernel && w.described[k] != r.Description {
				return fmt.Errorf("%s:%d: kernel %s (%s:%d) has changed since it ran (program, suite, arguments, environment, data or what is expected); record its runs in another folder, or delete the kernel's lines",
					w.file, i+2, k.Name, k.File, k.Line)
			}
		}
		w.adopt(r)
	}
	return nil
}

// An OtherCardError says that a file has the runs of another card of the same model.
type OtherCardError struct {
	File string
	// Is is the UUID of this card, Was that of the file.
	Is, Was string
}

func (e *OtherCardError) Error() string {
	return fmt.Sprintf("%s:2: gpu_uuid: it is %q and was %q; record the runs of this GPU in another folder", e.File, e.Is, e.Was)
}

// adopt records that a run is done.
func (w *sweep) adopt(r *Run) {
	w.ran[r.cell()] = true
	if r.Status == kernel.OK {
		w.results.adopt(r.Kernel, r.Result)
	} else {
		w.over[r.place()] = true
	}
}

// describe returns a hash of everything that decides what a run of a kernel does and how
// it is judged, except the folder and the timeout. The program's content is a part of it. A
// program that cannot be read cannot run either.
func describe(k *kernel.Kernel) string {
	t := k.Time
	program, _ := filehash.SHA256(k.Executable())
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %d %v %v %v %q %v %q %v %q %v %v",
		program, k.Suite, k.SizeClass, k.Argv, k.Env, k.Data, k.Exit, k.Expect, k.PrintsDevice, k.OutOfMemory, t.Kind, t.Pattern, t.Row, t.Unit, k.Result.File, k.Result.Pattern, k.Pinned))
	return fmt.Sprintf("%x", h[:6])
}

func (w *sweep) rounds(ctx context.Context) error {
	all, err := instancesOf(w.session)
	if err != nil {
		return err
	}
	var sizes []mig.Slices
	w.instances = map[mig.Slices]mig.Instance{}
	for _, in := range all {
		sizes = append(sizes, in.Size())
		w.instances[in.Size()] = in
	}
	w.report()
	last := 0
	for _, k := range w.kernels {
		last = max(last, w.repetitions(k))
	}
	for round := 1; round <= last; round++ {
		shuffled, kernels := order(w.Seed, round, sizes, w.kernels)
		for _, size := range shuffled {
			if err := w.turn(ctx, round, size, kernels); err != nil {
				return err
			}
		}
	}
	return nil
}

// order returns the order of sizes and kernels in a round. Rounds count from 1.
func order(seed uint64, round int, sizes []mig.Slices, kernels []*kernel.Kernel) ([]mig.Slices, []*kernel.Kernel) {
	sizes, kernels = slices.Clone(sizes), slices.Clone(kernels)
	pair := (round + 1) / 2
	stream(seed, fmt.Sprintf("rounds %d", pair)).Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	if round%2 == 0 {
		slices.Reverse(sizes)
		slices.Reverse(kernels)
	}
	return sizes, kernels
}

// turn runs the kernels that still need runs on an instance of a size.
func (w *sweep) turn(ctx context.Context, round int, size mig.Slices, kernels []*kernel.Kernel) error {
	p := w.id.Model.Profile(size)
	var on *profiling.Instance // made for the first kernel that runs
	for _, k := range kernels {
		at := place{k.Name, size}
		if round > w.repetitions(k) || w.over[at] || w.ran[cell{at, round}] {
			continue
		}
		if has := memoryMB(w.id, p); k.MinMemoryMB > has {
			detail := fmt.Sprintf("not tried: it needs %d MB, and %s has %d MB", k.MinMemoryMB, p, has)
			if err := w.record(k, p, round, kernel.Outcome{Status: kernel.OutOfMemory, Detail: detail}); err != nil {
				return err
			}
			continue
		}
		fresh := on == nil
		if fresh {
			made, _, err := w.session.Create(ctx, w.instances[size])
			if err != nil {
				return err
			}
			on, w.on = &made, made.UUID
		}
		out, err := w.run(ctx, k, *on, fresh)
		if err != nil {
			return fmt.Errorf("%s %s: %w", k.Name, onSlices(size), err)
		}
		if err := w.record(k, p, round, out); err != nil {
			return err
		}
	}
	if on == nil {
		return nil
	}
	w.on = ""
	_, err := w.session.Destroy(ctx, *on)
	return err
}

// run measures a kernel once, after a warm-up if that is due.
func (w *sweep) run(ctx context.Context, k *kernel.Kernel, on profiling.Instance, fresh bool) (kernel.Outcome, error) {
	at := place{k.Name, on.Size()}
	if k.Warmup > 0 && (fresh || !w.warm[at]) {
		out, err := warmUp(ctx, w.Launcher, k, on)
		if err != nil || out.Status != kernel.OK {
			return out, err
		}
		w.warm[at] = true
	}
	return w.Launcher.Launch(ctx, k, on)
}

// row returns a row without the outcome of a run.
func (w *sweep) row(k *kernel.Kernel, p *mig.Profile, repetition int) Run {
	return Run{
		GPU: w.id.Model.Name, Name: oneLine(w.id.Name), UUID: oneLine(w.id.UUID), Driver: oneLine(w.id.Driver), Source: w.id.Source,
		Suite: k.Suite, Kernel: k.Name, SizeClass: k.SizeClass, Description: w.described[k],
		Size: p.Size, SMs: p.SMs, Mode: modeOf(w.id), Instance: oneLine(w.on), Repetition: repetition,
	}
}

// record records a run that has just ended. If the GPU was lost, its clocks cannot be
// read either; then the outcome is not the kernel's fault and is not recorded.
func (w *sweep) record(k *kernel.Kernel, p *mig.Profile, repetition int, out kernel.Outcome) error {
	c, err := w.session.Device().Conditions()
	if err != nil {
		return err
	}
	others, err := w.session.Device().Processes()
	if err != nil {
		return err
	}
	r := w.row(k, p, repetition)
	r.Status, r.Result, r.Detail = out.Status, out.Result, oneLine(out.Detail)
	r.Load = w.load(out.Start, out.End)
	r.MemoryClock, r.PowerLimit = c.MemoryClock, c.PowerLimit
	r.OtherProcesses = len(others)
	if !out.Start.IsZero() {
		r.Started = out.Start.UTC().Truncate(time.Second)
	}
	switch out.Status {
	case kernel.OK:
		r.Seconds = out.Seconds
	case kernel.OutOfMemory:
		r.Seconds = mig.Seconds(math.Inf(1))
	}
	if err := w.log.append(&r); err != nil {
		return err
	}
	w.runs = append(w.runs, r)
	w.adopt(&r)
	w.report()
	return nil
}

// report reports how many runs are done or no longer needed.
func (w *sweep) report() {
	if w.Progress == nil {
		return
	}
	done, all := 0, 0
	for _, k := range w.kernels {
		for size := range w.instances {
			at := place{k.Name, size}
			for i := range w.repetitions(k) {
				all++
				if w.over[at] || w.ran[cell{at, i + 1}] {
					done++
				}
			}
		}
	}
	w.Progress(done, all)
}
