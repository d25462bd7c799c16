package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/profiling/launch"
	"miglab/reports"
)

// MaxSpread is the largest spread, in percent, of steady times.
const MaxSpread = 2.0

// A Profile summarises the runs of a sweep.
type Profile struct {
	// GPU is the model.
	GPU *mig.GPU
	// Runs are the rows that it summarises.
	Runs []Run
	// Results are by kernel, then by ascending size. A size without runs has no result.
	Results []Result
}

// A Result summarises the runs of a kernel on one instance size.
type Result struct {
	Suite, Kernel string
	Time          launch.TimeKind
	Size          mig.Slices
	// Status is OK if all runs are OK, otherwise the status of the first run that is not.
	Status launch.Status
	// Runs is the number of runs, whatever their status.
	Runs int
	// Times summarises the runs, in seconds; zero unless Status is OK.
	Times stats.Summary
}

// Seconds is the time for datasets: the median, or +Inf if the kernel ran out of memory. It is NaN if a run failed.
func (r *Result) Seconds() mig.Seconds {
	switch r.Status {
	case launch.OK:
		return mig.Seconds(r.Times.Median)
	case launch.OutOfMemory:
		return mig.Seconds(math.Inf(1))
	}
	return mig.Seconds(math.NaN())
}

// Spread is the standard deviation in percent of the mean.
func (r *Result) Spread() float64 { return 100 * r.Times.StdDev / r.Times.Mean }

// Summarize summarises at least one run on one GPU, ordered by kernel and size.
func Summarize(g *mig.GPU, runs []Run) *Profile {
	p := &Profile{GPU: g, Runs: runs}
	for same := range reports.Grouped(runs, (*Run).place) {
		p.Results = append(p.Results, result(same))
	}
	return p
}

func result(runs []Run) Result {
	first := &runs[0]
	out := Result{
		Suite: first.Suite, Kernel: first.Kernel, Time: first.Time, Size: first.Size, Status: launch.OK,
		Runs: len(runs),
	}
	var seconds []float64
	for _, r := range runs {
		seconds = append(seconds, float64(r.Seconds))
		if out.Status == launch.OK {
			out.Status = r.Status
		}
	}
	if out.Status == launch.OK {
		out.Times = summarize(seconds)
	}
	return out
}

// eachWhole calls use with the results of each kernel that has a usable result for every size and fits at least one of
// them. It returns a sentence about each other kernel.
func (p *Profile) eachWhole(use func([]Result)) (left []string) {
	for rs := range reports.Grouped(p.Results, func(r *Result) string { return r.Kernel }) {
		var lacks []string
		fits := false
		for _, size := range p.GPU.Sizes() {
			i := slices.IndexFunc(rs, func(r Result) bool { return r.Size == size })
			switch {
			case i < 0:
				lacks = append(lacks, fmt.Sprintf("has no runs %s", OnSlices(size)))
			case rs[i].Status == launch.OK:
				fits = true
			case rs[i].Status != launch.OutOfMemory:
				lacks = append(lacks, fmt.Sprintf("ended in %s %s", rs[i].Status, OnSlices(size)))
			}
		}
		if len(lacks) == 0 && !fits {
			lacks = append(lacks, "fits no instance")
		}
		if len(lacks) > 0 {
			left = append(left,
				fmt.Sprintf("%s is left out of the dataset: it %s", rs[0].Kernel, strings.Join(lacks, ", ")))
			continue
		}
		use(rs)
	}
	return left
}

// Tasks returns the kernels as a batch, with the times of [Result.Seconds]. It leaves out kernels that lack a size,
// failed on one or fit no size; left has a sentence about each.
func (p *Profile) Tasks() (b task.Batch, left []string) {
	left = p.eachWhole(func(rs []Result) {
		t := task.Task{Name: rs[0].Kernel}
		for i := range rs {
			t.Set(rs[i].Size, rs[i].Seconds())
		}
		b = append(b, t)
	})
	return b, left
}

// Kernels returns the kernels of [Profile.Tasks] as rows for [datasets.ReadHardware], with mean and standard deviation,
// and the day of the last run.
func (p *Profile) Kernels() []datasets.KernelTime {
	var out []datasets.KernelTime
	p.eachWhole(func(rs []Result) {
		from := p.Provenance()
		for i := range rs {
			r := &rs[i]
			row := datasets.KernelTime{
				Provenance: from, Suite: r.Suite, Kernel: r.Kernel, Size: r.Size, Mean: r.Seconds(),
				Runs: r.Runs,
			}
			if r.Status == launch.OK {
				row.Mean, row.StdDev = mig.Seconds(r.Times.Mean), mig.Seconds(r.Times.StdDev)
			}
			out = append(out, row)
		}
	})
	return out
}

// Provenance is the provenance of the runs, with the day of the last one.
func (p *Profile) Provenance() datasets.Provenance {
	run, started := p.Runs[0], ""
	for i := range p.Runs {
		started = max(started, p.Runs[i].Started)
	}
	date, _, _ := strings.Cut(started, "T")
	return datasets.Provenance{GPU: run.GPU, Name: run.Name, Driver: run.Driver, Source: run.Source, Date: date}
}

// incomparable is the warning about times from several sources.
const incomparable = "times from different sources are not comparable: wall is the whole process, with its start, " +
	"files and copies; regexp is what the program prints (miglab's kernels: their iterations); altis_csv is the " +
	"kernels alone"

// Warnings returns a sentence about each kernel that is left out of datasets, each time that spreads more than
// [MaxSpread], times from several sources, instances and processes of others, lowered clocks, and runs without
// samples of the clocks.
func (p *Profile) Warnings() []string {
	_, out := p.Tasks()
	for i := range p.Results {
		r := &p.Results[i]
		if r.Status == launch.OK && r.Spread() > MaxSpread {
			out = append(out, fmt.Sprintf("%s %s is unsteady: its times spread %s %%, more than %v %%",
				r.Kernel, OnSlices(r.Size), reports.Fixed(r.Spread(), 1), MaxSpread))
		}
	}
	if slices.ContainsFunc(p.Results, func(r Result) bool { return r.Time != p.Results[0].Time }) {
		out = append(out, incomparable)
	}
	existed, beside, lowered := 0, 0, map[string]int{}
	for i := range p.Runs {
		r := &p.Runs[i]
		if r.Mode == Existing {
			existed++
		}
		if r.OtherProcesses > 0 {
			beside++
		}
		reasons := "unknown"
		if r.Samples > 0 {
			reasons = r.Throttle
		}
		for reason := range strings.SplitSeq(reasons, "+") {
			lowered[reason]++
		}
	}
	note := func(count int, format string) {
		if count > 0 {
			out = append(out, fmt.Sprintf(format, fmt.Sprintf("%d of %d runs", count, len(p.Runs))))
		}
	}
	note(existed, "%s were on MIG instances that existed (mode mig-existing); others may have used the rest of the GPU")
	note(beside, "other processes used the GPU beside %s")
	for _, reason := range slices.Sorted(maps.Keys(lowered)) {
		switch reason {
		case "none", "":
		case "unknown":
			note(lowered[reason], "nothing was sampled during %s")
		default:
			note(lowered[reason], "clocks were lowered ("+reason+") during %s")
		}
	}
	return out
}

// Table shows the results, with the warnings below.
func (p *Profile) Table() reports.Table {
	t := reports.Table{
		Title: TitleWithSource("Times of kernels by instance size", p.Provenance()),
		Columns: reports.Left("kernel", "time").Right("size").Left("status").
			Right("runs", "median [s]", "mean [s]", "std [s]", "95 % interval [s]", "spread [%]"),
		Notes: p.Warnings(),
	}
	for i := range p.Results {
		r := &p.Results[i]
		times := slices.Repeat([]string{reports.Missing}, 4)
		if r.Status == launch.OK {
			times = []string{
				reports.Fixed(r.Times.Mean, 4), reports.Fixed(r.Times.StdDev, 4),
				"[" + strings.Join(reports.Cells(4, r.Times.Low, r.Times.High), ", ") + "]", reports.Fixed(r.Spread(), 2),
			}
		}
		t.Row(r.Kernel, cmp.Or(string(r.Time), reports.Missing), r.Size, r.Status, r.Runs,
			reports.Fixed(float64(r.Seconds()), 4), times)
	}
	return t
}
