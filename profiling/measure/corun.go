package measure

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/reports"
)

// A Job is a kernel with a share of the multiprocessors.
type Job struct {
	Kernel *kernel.Kernel
	// Percent is its limit of active threads under MPS, above 0 and up to 100.
	Percent float64
}

// String returns name:percent, for example lud:50.
func (j Job) String() string {
	return datasets.CorunJob(j.Kernel.Name, j.Percent)
}

// A Mix is jobs that start together.
type Mix []Job

// String lists the jobs, separated by spaces.
func (m Mix) String() string {
	jobs := make([]string, len(m))
	for i, j := range m {
		jobs[i] = j.String()
	}
	return strings.Join(jobs, " ")
}

// A Shared is a GPU that processes share under MPS.
type Shared struct {
	GPU profiling.Identity
	// Share returns the environment of a process that may use a percentage of the
	// multiprocessors.
	Share func(percent float64) profiling.Instance
	// Device is the GPU, whose clocks are sampled while jobs run; it may be nil.
	Device profiling.Device
}

// Corun measures how jobs that share a GPU under MPS change each other's times. Every
// kernel also runs alone at 100 percent, which relative throughput needs. A round runs each
// mix once, and every second round goes backwards, against drift. Without
// Options.Repetitions a mix runs as often as its kernel that asks for most runs. A kernel
// is warmed up before the first run of a mix that has it. Runs that Options.File has are not
// repeated; failed ones are not kept. The jobs of a mix start at the same time and run
// once each.
//
// Rows are ordered by mix, first the kernels alone, then the mixes in the given order
// without duplicates; within a mix by job. A mix has no rows and is not run again if one
// of its jobs fails or runs out of memory. A mix that needs more memory than the GPU has is
// not tried. If a kernel fails alone or while it warms up, its mixes have no rows either. A
// [*FailedError] lists the failures. With an error, the rows cover the repetitions that
// were done before it.
func Corun(ctx context.Context, on Shared, mixes []Mix, o Options) (_ []datasets.CorunTime, err error) {
	x := &coruns{experiment: newExperiment(o), Shared: on, from: Provenance(on.GPU), solo: map[string]*corun{}, warm: map[string]bool{}}
	if err := x.add(mixes); err != nil {
		return nil, err
	}
	if err := x.resume(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.ledger.close()) }()
	stop, err := x.observe(on.Device)
	if err != nil {
		return nil, err
	}
	defer stop()
	rounds := 0
	for _, c := range x.mixes {
		rounds = max(rounds, c.repetitions)
		x.all += c.repetitions
	}
	turn := slices.Clone(x.mixes)
	for round := range rounds {
		for _, c := range turn {
			if round >= c.repetitions {
				continue
			}
			if err := x.run(ctx, c, round); err != nil {
				return x.rows(), fmt.Errorf("%s: %w", c.mix, err)
			}
			x.step()
		}
		slices.Reverse(turn)
	}
	return x.rows(), failed(x.failures, "see to them and measure again, or leave these mixes out")
}

type coruns struct {
	experiment
	Shared
	from datasets.Provenance
	// mixes has the kernels alone first, solo those by name.
	mixes []*corun
	solo  map[string]*corun
	// warm has the kernels that have warmed up.
	warm   map[string]bool
	ledger *ledger[corunRun]
}

// A corun is a mix with its finished runs, by round from 0.
type corun struct {
	mix         Mix
	repetitions int
	done        map[int]corunRun
	failed      bool
}

// A corunRun is a finished run of a mix. Times are in seconds.
type corunRun struct {
	Mix string
	Run int
	// Seconds and Wall are by job.
	Seconds, Wall []float64
	Total         float64
	Load          datasets.Load
}

// resume takes over the runs of earlier calls that this one would make.
func (x *coruns) resume() (err error) {
	var kernels []*kernel.Kernel
	for _, c := range x.solo {
		kernels = append(kernels, c.mix[0].Kernel)
	}
	if x.ledger, err = openLedger[corunRun](x.File, "co-runs", x.GPU, kernels); err != nil {
		return err
	}
	for _, r := range x.ledger.finished() {
		i := slices.IndexFunc(x.mixes, func(c *corun) bool { return c.mix.String() == r.Mix })
		if i >= 0 && r.Run <= x.mixes[i].repetitions && len(r.Seconds) == len(x.mixes[i].mix) && len(r.Wall) == len(r.Seconds) {
			x.mixes[i].done[r.Run-1] = r
		}
	}
	return nil
}

// add checks the mixes, drops duplicates and puts every kernel alone first.
func (x *coruns) add(mixes []Mix) error {
	var solos []Mix
	for _, m := range mixes {
		if len(m) == 0 {
			return errors.New("there is a mix without jobs")
		}
		for _, j := range m {
			if !(j.Percent > 0 && j.Percent <= 100) {
				return fmt.Errorf("mix %q: the share %v percent must be above 0 and at most 100", m, j.Percent)
			}
			solos = append(solos, Mix{{j.Kernel, 100}})
		}
	}
	seen := map[string]bool{}
	for i, m := range append(solos, mixes...) {
		if seen[m.String()] {
			continue
		}
		seen[m.String()] = true
		c := &corun{mix: m, done: map[int]corunRun{}}
		for _, j := range m {
			c.repetitions = max(c.repetitions, x.repetitions(j.Kernel))
		}
		if i < len(solos) {
			x.solo[m[0].Kernel.Name] = c
		}
		x.mixes = append(x.mixes, c)
	}
	return nil
}

// lost reports whether a mix or one of its kernels alone has failed.
func (x *coruns) lost(c *corun) bool {
	return c.failed || slices.ContainsFunc(c.mix, func(j Job) bool { return x.solo[j.Kernel.Name].failed })
}

// lose records a job that did not end well, and with it its mix.
func (x *coruns) lose(c *corun, j Job, out kernel.Outcome) {
	c.failed = true
	x.fail(j.Kernel, fmt.Sprintf("at %v %% in the mix %s", j.Percent, c.mix), out)
}

// run runs a mix once, unless that is done or the mix is lost.
func (x *coruns) run(ctx context.Context, c *corun, round int) error {
	if _, done := c.done[round]; done || x.lost(c) {
		return nil
	}
	if err := x.prepare(ctx, c); err != nil {
		return err
	}
	if x.lost(c) {
		return nil
	}
	outs := make([]kernel.Outcome, len(c.mix))
	errs := make([]error, len(c.mix))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, j := range c.mix {
		on := x.Share(j.Percent)
		wg.Go(func() {
			<-start
			outs[i], errs[i] = x.Launcher.Launch(ctx, j.Kernel, on)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i, j := range c.mix {
		if outs[i].Status != kernel.OK {
			x.lose(c, j, outs[i])
		}
	}
	if c.failed {
		return nil
	}
	begin := slices.MinFunc(outs, func(a, b kernel.Outcome) int { return a.Start.Compare(b.Start) }).Start
	end := slices.MaxFunc(outs, func(a, b kernel.Outcome) int { return a.End.Compare(b.End) }).End
	r := corunRun{Mix: c.mix.String(), Run: round + 1, Total: end.Sub(begin).Seconds(), Load: x.load(begin, end)}
	var kernels []*kernel.Kernel
	for i, out := range outs {
		r.Seconds = append(r.Seconds, float64(out.Seconds))
		r.Wall = append(r.Wall, out.End.Sub(out.Start).Seconds())
		kernels = append(kernels, c.mix[i].Kernel)
	}
	c.done[round] = r
	return x.ledger.add(r, kernels...)
}

// prepare checks that the kernels of a mix together fit into the memory, and warms up those that
// have not run yet.
func (x *coruns) prepare(ctx context.Context, c *corun) error {
	need, has := 0, wholeMB(x.GPU)
	for _, j := range c.mix {
		need += j.Kernel.MinMemoryMB
	}
	if need > has {
		most := slices.MaxFunc(c.mix, func(a, b Job) int { return a.Kernel.MinMemoryMB - b.Kernel.MinMemoryMB })
		detail := fmt.Sprintf("not tried: the mix needs %d MB, and the GPU has %d MB", need, has)
		x.lose(c, most, kernel.Outcome{Status: kernel.OutOfMemory, Detail: detail})
		return nil
	}
	for _, j := range c.mix {
		if x.warm[j.Kernel.Name] || j.Kernel.Warmup == 0 {
			continue
		}
		x.warm[j.Kernel.Name] = true
		out, err := warmUp(ctx, x.Launcher, j.Kernel, x.Share(100))
		if err != nil {
			return err
		}
		if out.Status != kernel.OK {
			alone := x.solo[j.Kernel.Name]
			x.lose(alone, alone.mix[0], out)
		}
	}
	return nil
}

func (x *coruns) rows() []datasets.CorunTime {
	var out []datasets.CorunTime
	for _, c := range x.mixes {
		if x.lost(c) || len(c.done) == 0 {
			continue
		}
		runs := slices.Sorted(maps.Keys(c.done))
		var loads []datasets.Load
		for _, run := range runs {
			loads = append(loads, c.done[run].Load)
		}
		over := func(of func(corunRun) float64) mig.Seconds {
			var all []float64
			for _, run := range runs {
				all = append(all, of(c.done[run]))
			}
			return mig.Seconds(summarize(all).Median)
		}
		for i, j := range c.mix {
			out = append(out, datasets.CorunTime{
				Provenance: x.from, Mix: c.mix.String(), Job: i + 1, Kernel: j.Kernel.Name, Percent: j.Percent, Runs: len(runs),
				Seconds: over(func(r corunRun) float64 { return r.Seconds[i] }), Wall: over(func(r corunRun) float64 { return r.Wall[i] }),
				Total: over(func(r corunRun) float64 { return r.Total }), Load: joined(loads),
			})
		}
	}
	return out
}

// CorunTable shows for each mix of several jobs how long it took; how long its jobs take
// one after the other, each with the whole GPU; the relative throughput, which is the
// second over the first (hierarchical paper III-B); and how much longer each job took
// than alone. The rows must include every kernel alone, as those of [Corun] do.
func CorunTable(rows []datasets.CorunTime) reports.Table {
	t := reports.Table{
		Title:   "Mixes under MPS against their jobs one by one",
		Columns: reports.Left("mix").Right("total [s]", "one by one [s]", "relative throughput", "slowdown of each job"),
		Notes:   []string{undivided + ": the jobs of a mix share them"},
	}
	if len(rows) > 0 {
		t.Title = Titled(t.Title, rows[0].Provenance)
	}
	alone := map[string]datasets.CorunTime{}
	for _, r := range rows {
		if r.Mix == datasets.CorunJob(r.Kernel, 100) {
			alone[r.Kernel] = r
		}
	}
	for jobs := range grouped(rows, func(r *datasets.CorunTime) string { return r.Mix }) {
		if len(jobs) == 1 {
			continue
		}
		var oneByOne mig.Seconds
		var slowdowns []string
		for _, j := range jobs {
			oneByOne += alone[j.Kernel].Total
			slowdowns = append(slowdowns, reports.Fixed(float64(j.Seconds/alone[j.Kernel].Seconds), 2))
		}
		total := jobs[0].Total
		t.Rows = append(t.Rows, []string{
			jobs[0].Mix, reports.Fixed(float64(total), 3), reports.Fixed(float64(oneByOne), 3),
			reports.Fixed(float64(oneByOne/total), 2), strings.Join(slowdowns, " "),
		})
	}
	return t
}
