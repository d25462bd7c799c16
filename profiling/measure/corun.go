package measure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

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
func (m Mix) String() string { return joinTexts(m) }

// Corun plans to measure how jobs that share a GPU under MPS change each other's times. share returns the
// environment of a process that may use a percentage of the multiprocessors. Every kernel also runs alone at 100
// percent, which relative throughput needs. A round runs each mix once, and every second round goes backwards,
// against drift. Without Bench.Repetitions a mix runs as often as its kernel that asks for most runs. A kernel is
// warmed up before the first run of a mix that has it. The jobs of a mix start at the same time and run once each.
//
// Rows are ordered by mix and job. A mix has no rows and is not run again if one of its jobs fails or runs out of
// memory. A mix that needs more memory than the GPU has is not tried. If a kernel fails alone or while it warms up,
// its mixes have no rows either.
func Corun(b *Bench, share func(percent float64) profiling.Instance, mixes []Mix) *Plan {
	x := &coruns{Bench: b, share: share, failed: map[string]bool{}, warm: map[string]bool{}}
	var all []Mix
	for _, j := range slices.Concat(mixes...) {
		all = append(all, Mix{{j.Kernel, 100}})
	}
	all = distinct(append(all, mixes...))
	p := newPlan(b, "corun", x.rows, CorunTable)
	for round := 1; round <= b.rounds(); round++ {
		for _, m := range all {
			most := 0
			var names []string
			for _, j := range m {
				most = max(most, b.repetitions(j.Kernel))
				names = append(names, j.Kernel.Name)
			}
			if round <= most {
				p.add(fmt.Sprintf("%d %s", len(m), m), round, names,
					func(ctx context.Context) (*ran[any], error) { return x.run(ctx, m, names) })
			}
		}
		slices.Reverse(all)
	}
	return p
}

type coruns struct {
	*Bench
	share func(percent float64) profiling.Instance
	// failed has the kernels that have failed alone, and warm those that have warmed up.
	failed, warm map[string]bool
}

// A corun is the record of a run of a mix. Times are in seconds.
type corun struct {
	Mix string
	// Kernels, Percent, Seconds and Wall are by job.
	Kernels                []string
	Percent, Seconds, Wall []float64
	Total                  float64
}

// lost reports whether a kernel has failed alone.
func (x *coruns) lost(kernels []string) bool {
	return slices.ContainsFunc(kernels, func(name string) bool { return x.failed[name] })
}

// lose records a job that did not end well.
func (x *coruns) lose(m Mix, j Job, out kernel.Outcome) {
	if len(m) == 1 && j.Percent == 100 {
		x.failed[j.Kernel.Name] = true
	}
	x.fail(j.Kernel.Name, fmt.Sprintf("at %v %% in the mix %s", j.Percent, m), out)
}

// run runs a mix once.
func (x *coruns) run(ctx context.Context, m Mix, names []string) (*ran[any], error) {
	if x.lost(names) {
		return nil, nil
	}
	fits, err := x.prepare(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m, err)
	}
	if !fits || x.lost(names) {
		return nil, nil
	}
	outs := make([]kernel.Outcome, len(m))
	start := make(chan struct{})
	var all errgroup.Group
	for i, j := range m {
		on := x.share(j.Percent)
		all.Go(func() (err error) {
			<-start
			outs[i], err = x.Launcher.Launch(ctx, j.Kernel, on)
			return err
		})
	}
	close(start)
	if err := all.Wait(); err != nil {
		return nil, fmt.Errorf("%s: %w", m, err)
	}
	failed := false
	for i, j := range m {
		if outs[i].Status != kernel.OK {
			failed = true
			x.lose(m, j, outs[i])
		}
	}
	if failed {
		return nil, nil
	}
	begin := slices.MinFunc(outs, func(a, b kernel.Outcome) int { return a.Start.Compare(b.Start) }).Start
	end := slices.MaxFunc(outs, func(a, b kernel.Outcome) int { return a.End.Compare(b.End) }).End
	r := corun{Mix: m.String(), Kernels: names, Total: end.Sub(begin).Seconds()}
	for i, out := range outs {
		r.Percent = append(r.Percent, m[i].Percent)
		r.Seconds, r.Wall = append(r.Seconds, float64(out.Seconds)), append(r.Wall, out.End.Sub(out.Start).Seconds())
	}
	return x.ran(r, begin, end), nil
}

// prepare warms up the kernels of a mix that have not run yet. It reports whether all fit into the memory together.
func (x *coruns) prepare(ctx context.Context, m Mix) (fits bool, _ error) {
	need, has := 0, wholeMB(x.Session.Identity())
	for _, j := range m {
		need += j.Kernel.MinMemoryMB
	}
	if need > has {
		most := slices.MaxFunc(m, func(a, b Job) int { return a.Kernel.MinMemoryMB - b.Kernel.MinMemoryMB })
		detail := fmt.Sprintf("not tried: the mix needs %d MB, and the GPU has %d MB", need, has)
		x.lose(m, most, kernel.Outcome{Status: kernel.OutOfMemory, Detail: detail})
		return false, nil
	}
	for _, j := range m {
		if x.warm[j.Kernel.Name] || j.Kernel.Warmup == 0 {
			continue
		}
		x.warm[j.Kernel.Name] = true
		out, err := warmUp(ctx, x.Launcher, j.Kernel, x.share(100))
		if err != nil {
			return false, err
		}
		if alone := (Job{j.Kernel, 100}); out.Status != kernel.OK {
			x.lose(Mix{alone}, alone, out)
		}
	}
	return true, nil
}

func (x *coruns) rows(from datasets.Provenance, load datasets.Load, runs []corun) (out []datasets.CorunTime) {
	if x.lost(runs[0].Kernels) {
		return nil
	}
	for i, name := range runs[0].Kernels {
		out = append(out, datasets.CorunTime{
			Provenance: from, Mix: runs[0].Mix, Job: i + 1, Kernel: name, Percent: runs[0].Percent[i], Runs: len(runs),
			Seconds: medianOf(runs, func(r *corun) float64 { return r.Seconds[i] }),
			Wall:    medianOf(runs, func(r *corun) float64 { return r.Wall[i] }),
			Total:   medianOf(runs, func(r *corun) float64 { return r.Total }), Load: load,
		})
	}
	return out
}

// CorunTable shows for each mix of several jobs how long it took; how long its jobs take one after the other, each
// with the whole GPU; the relative throughput, which is the second over the first (hierarchical paper III-B); and
// how much longer each job took than alone. The rows must include every kernel alone, as those of [Corun] do.
func CorunTable(rows []datasets.CorunTime) reports.Table {
	t := reports.Table{
		Title: Titled("Mixes under MPS against their jobs one by one", rows[0].Provenance),
		Columns: reports.Left("mix").Right("total [s]", "one by one [s]", "relative throughput",
			"slowdown of each job"),
		Notes: []string{undivided + ": the jobs of a mix share them"},
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
