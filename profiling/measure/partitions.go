package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"miglab/datasets"
	"miglab/profiling"
	"miglab/profiling/cuda"
	"miglab/profiling/kernels"
	"miglab/profiling/launch"
)

// Partitions runs groups in this process. Each job has multiprocessors of its own (a green context), or shares all
// with the others if it has no limit. All jobs run before the first window begins and until the last one ends.
// The device times the windows.
type Partitions struct {
	Device *cuda.Device
	// From and UUID say which GPU it is.
	From datasets.Provenance
	UUID string
	// Watch samples the GPU; it is empty if nothing can sample it.
	Watch *profiling.Watch
	// WarmUp is how long each job runs at least before the windows, so that the GPU raises its clocks.
	WarmUp time.Duration
	// Small runs the sizes of verifications, for tests.
	Small bool
}

// Multiprocessors returns the number of the GPU's multiprocessors.
func (p *Partitions) Multiprocessors() int { return p.Device.Facts.SMs }

// options describes what decides a rate beside its group. The length of the windows does not.
func (p *Partitions) options() string {
	return fmt.Sprintf("kernels %s after a warm-up of %v (small inputs: %t)", kernels.Fingerprint(), p.WarmUp, p.Small)
}

// Together runs a group and returns the window of each job. The error is about a device that cannot go on; other
// failures are in the windows.
func (p *Partitions) Together(ctx context.Context, g Group, window time.Duration) (_ []Window, err error) {
	parts, err := p.split(g)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, part := range parts {
			err = errors.Join(err, part.Close())
		}
	}()
	t := &together{
		Partitions: p, ctx: ctx, window: window, jobs: make([]Window, len(g)), errs: make([]error, len(g)),
	}
	var wg sync.WaitGroup
	for i := range g {
		wg.Go(func() { t.run(i, g[i], parts[i]) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	setOverlaps(t.jobs)
	for i, failure := range t.errs {
		if broken, ok := errors.AsType[*cuda.Error](failure); ok && !broken.OutOfMemory() {
			err = errors.Join(err, fmt.Errorf("%s: %w", g[i], failure)) // the context cannot be used any more
		}
	}
	return t.jobs, err
}

// split makes the partitions of a group. All of its jobs have a limit, or all share the GPU.
func (p *Partitions) split(g Group) ([]*cuda.Partition, error) {
	var counts []int
	for _, part := range g {
		if part.SMs > 0 {
			counts = append(counts, part.SMs)
		}
	}
	if len(counts) == 0 {
		return p.Device.Share(len(g))
	}
	return p.Device.Split(counts)
}

// together is a run of a group.
type together struct {
	*Partitions
	ctx    context.Context
	window time.Duration
	jobs   []Window
	errs   []error
	// warm and measured count the jobs that are past the warm-up, and past their window.
	warm, measured atomic.Int32
	failed         atomic.Bool
}

func (t *together) run(i int, p Part, on *cuda.Partition) {
	j := &t.jobs[i]
	err := on.Do(func() error { return t.measure(j, p, on) })
	if err == nil {
		return
	}
	t.errs[i] = err
	t.failed.Store(true)
	j.Status, j.Detail = launch.Crash, err.Error()
	if refusal, ok := errors.AsType[*cuda.Error](err); ok && refusal.OutOfMemory() {
		j.Status = launch.OutOfMemory
	}
}

// measure runs a job: it warms up, has its window, and goes on until all jobs have had theirs. Once another job fails,
// the job stops, but its status is OK.
func (t *together) measure(j *Window, p Part, on *cuda.Partition) (err error) {
	program, err := kernels.Lookup(p.Kernel)
	if err != nil {
		return err
	}
	size := cmp.Or(program.WindowSize, program.Size)
	if t.Small {
		size = program.VerifySize
	}
	launched, err := program.Start(on, size, seed)
	if err != nil {
		return err
	}
	// until iterates at least once, and until enough reports true. It sets err, and does nothing after an error.
	until := func(enough func() bool) (done uint64) {
		if err == nil {
			done, err = launched.Until(func() bool {
				return enough() || t.failed.Load() || t.ctx.Err() != nil
			})
		}
		return done
	}
	j.Started = time.Now()
	until(kernels.For(t.WarmUp))
	t.warm.Add(1)
	until(func() bool { return int(t.warm.Load()) == len(t.jobs) })
	j.Begin = time.Now()
	took, err := on.Timed(func() error {
		j.Iterations = until(kernels.For(t.window))
		return err
	})
	if err != nil {
		return err
	}
	j.Finish = j.Begin.Add(took)
	t.measured.Add(1)
	until(func() bool { return int(t.measured.Load()) == len(t.jobs) })
	j.Stopped = time.Now()
	j.Status, j.SMs = launch.OK, on.SMs
	return err
}
