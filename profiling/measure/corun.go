package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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

// CorunOptions say how co-runs are measured.
type CorunOptions struct {
	// GPU is the one that the shares are of.
	GPU profiling.Identity
	// Share returns what a process runs on that has a share of the multiprocessors, in
	// percent.
	Share func(percent float64) profiling.Instance
	// Repetitions is how often every mix is run; 0 means [Repetitions].
	Repetitions int
	// Launcher starts kernels; nil means [Real].
	Launcher Launcher
	// Progress hears how many mixes are done or fall away; may be nil.
	Progress func(done, all int)
}

// Corun measures what jobs that share a GPU under MPS do to each other's times. The
// mixes run in turn, so many times over, each second time backwards against drift; so
// does every kernel alone at 100 percent, which relative throughput needs. The jobs
// of a mix start at once, and each runs once.
//
// Rows are by mix, first the kernels alone, then in the order given, without
// doubles; within a mix by job. A mix of which a job fails or runs out of memory
// has none and is not run again; such jobs are listed in a [*FailedError]. Where the
// experiment cannot go on, rows are those of the repetitions so far, beside the error.
func Corun(ctx context.Context, mixes []Mix, o CorunOptions) ([]datasets.CorunTime, error) {
	all, err := withSolos(mixes)
	if err != nil {
		return nil, err
	}
	from := provenance(o.GPU)
	launch := judged(o.Launcher)
	repetitions := cmp.Or(o.Repetitions, Repetitions)
	var failures []Failure
	rows := func() []datasets.CorunTime {
		var out []datasets.CorunTime
		for _, c := range all {
			out = append(out, c.rows(from)...)
		}
		return out
	}
	for i := range repetitions * len(all) {
		c := all[i%len(all)]
		if i/len(all)%2 == 1 {
			c = all[len(all)-1-i%len(all)]
		}
		if !c.failed {
			bad, err := c.run(ctx, launch, o.Share)
			if err != nil {
				return rows(), fmt.Errorf("%s: %w", c.mix, err)
			}
			failures = append(failures, bad...)
		}
		if o.Progress != nil {
			o.Progress(i+1, repetitions*len(all))
		}
	}
	return rows(), failed(failures, "see to them and measure again, or leave these mixes out")
}

// A corun is a mix with the times of its runs in seconds.
type corun struct {
	mix Mix
	// seconds and wall are by job, total by run.
	seconds, wall [][]float64
	total         []float64
	failed        bool
}

// withSolos checks the mixes, drops doubles and puts every kernel alone first.
func withSolos(mixes []Mix) ([]*corun, error) {
	var solos, rest []Mix
	for _, m := range mixes {
		if len(m) == 0 {
			return nil, errors.New("a mix has no jobs")
		}
		for _, j := range m {
			if !(j.Percent > 0 && j.Percent <= 100) {
				return nil, fmt.Errorf("mix %q: %v percent is no share; it must be above 0 and at most 100", m, j.Percent)
			}
			solos = append(solos, Mix{{j.Kernel, 100}})
		}
		rest = append(rest, m)
	}
	var out []*corun
	seen := map[string]bool{}
	for _, m := range append(solos, rest...) {
		if !seen[m.String()] {
			seen[m.String()] = true
			out = append(out, &corun{mix: m, seconds: make([][]float64, len(m)), wall: make([][]float64, len(m))})
		}
	}
	return out, nil
}

// run runs the mix once and returns the jobs that failed.
func (c *corun) run(ctx context.Context, l Launcher, share func(float64) profiling.Instance) ([]Failure, error) {
	outs := make([]kernel.Outcome, len(c.mix))
	errs := make([]error, len(c.mix))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, j := range c.mix {
		on := share(j.Percent)
		wg.Go(func() {
			<-start
			outs[i], errs[i] = l.Launch(ctx, j.Kernel, on)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var bad []Failure
	for i, j := range c.mix {
		if outs[i].Status != kernel.OK {
			where := fmt.Sprintf("at %v %% in the mix %s", j.Percent, c.mix)
			bad = append(bad, Failure{j.Kernel.Name, where, outs[i].Status, oneLine(outs[i].Detail)})
		}
	}
	if len(bad) > 0 {
		c.failed = true
		return bad, nil
	}
	begin := slices.MinFunc(outs, func(a, b kernel.Outcome) int { return a.Start.Compare(b.Start) }).Start
	end := slices.MaxFunc(outs, func(a, b kernel.Outcome) int { return a.End.Compare(b.End) }).End
	c.total = append(c.total, end.Sub(begin).Seconds())
	for i, out := range outs {
		c.seconds[i] = append(c.seconds[i], float64(out.Seconds))
		c.wall[i] = append(c.wall[i], out.End.Sub(out.Start).Seconds())
	}
	return nil, nil
}

// rows summarises the runs.
func (c *corun) rows(from datasets.Provenance) []datasets.CorunTime {
	if c.failed || len(c.total) == 0 {
		return nil
	}
	var out []datasets.CorunTime
	for i, j := range c.mix {
		out = append(out, datasets.CorunTime{
			Provenance: from, Mix: c.mix.String(), Job: i + 1, Kernel: j.Kernel.Name, Percent: j.Percent, Runs: len(c.total),
			Seconds: median(c.seconds[i]), Wall: median(c.wall[i]), Total: median(c.total),
		})
	}
	return out
}

func median(seconds []float64) mig.Seconds { return mig.Seconds(summarize(seconds).Median) }

// CorunTable shows for each mix of several jobs how long it took, how long its jobs
// take one after the other with the whole GPU each, and the relative throughput, the
// second over the first (hierarchical paper III-B); and how much longer each job took
// than alone with the whole GPU.
func CorunTable(rows []datasets.CorunTime) reports.Table {
	t := reports.Table{
		Title: "Mixes under MPS against their jobs one by one",
		Columns: []reports.Column{
			{Name: "mix"},
			{Name: "total [s]", Right: true},
			{Name: "one by one [s]", Right: true},
			{Name: "relative throughput", Right: true},
			{Name: "slowdown of each job", Right: true},
		},
		Notes: []string{"MPS divides the multiprocessors alone: the jobs of a mix share bandwidth, L2 and memory"},
	}
	alone := map[string]*datasets.CorunTime{}
	for i := range rows {
		if r := &rows[i]; r.Mix == (Job{&kernel.Kernel{Name: r.Kernel}, 100}).String() {
			alone[r.Kernel] = r
		}
	}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Mix == rows[0].Mix {
			n++
		}
		jobs := rows[:n]
		rows = rows[n:]
		if n == 1 {
			continue
		}
		// A kernel whose solo runs failed has no row; the sums are then NaN, which shows as missing.
		var oneByOne mig.Seconds
		var slowdowns []string
		for _, j := range jobs {
			solo := datasets.CorunTime{Seconds: mig.Seconds(math.NaN()), Total: mig.Seconds(math.NaN())}
			if a, ok := alone[j.Kernel]; ok {
				solo = *a
			}
			oneByOne += solo.Total
			slowdowns = append(slowdowns, reports.Fixed(float64(j.Seconds/solo.Seconds), 2))
		}
		total := jobs[0].Total
		t.Rows = append(t.Rows, []string{
			jobs[0].Mix, reports.Fixed(float64(total), 3), reports.Fixed(float64(oneByOne), 3),
			reports.Fixed(float64(oneByOne/total), 2), strings.Join(slowdowns, " "),
		})
	}
	return t
}
