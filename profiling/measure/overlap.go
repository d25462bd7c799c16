package measure

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/profiling"
	"miglab/profiling/launch"
	"miglab/reports"
)

// A Part is a job of a group: a kernel with a part of the GPU.
type Part struct {
	Kernel string
	SMs    int // how many multiprocessors it may use; 0 means that it has no limit
}

// String returns the job as datasets write it, for example stream:64.
func (p Part) String() string { return datasets.OverlapJob(p.Kernel, p.SMs) }

// A Group is jobs that are measured at the same time.
type Group []Part

// String lists the jobs, separated by spaces.
func (g Group) String() string { return joinTexts(g) }

// A Ground runs the jobs of a group at the same time.
type Ground interface {
	// Multiprocessors is how many there are for all jobs together.
	Multiprocessors() int
	// Together runs a group, and measures the rate of each job in a window of about this length. An error means that no
	// more groups can run.
	Together(ctx context.Context, g Group, window time.Duration) ([]Window, error)
}

// A Window is what a job did while its rate was measured.
type Window struct {
	// Status and Detail say how the job ended, as in a [launch.Outcome]. The other fields count only if it is OK.
	Status launch.Status
	Detail string
	SMs    int // how many multiprocessors it had
	// Iterations were made from Begin to Finish.
	Iterations    uint64
	Begin, Finish time.Time
	// Started and Stopped limit the time in which the job surely ran.
	Started, Stopped time.Time
	Overlap          float64 // the share of the window in which all jobs of the group ran
}

// setOverlaps sets the overlap of the windows of a group.
func setOverlaps(group []Window) {
	started := slices.MaxFunc(group, func(a, b Window) int { return a.Started.Compare(b.Started) }).Started
	stopped := slices.MinFunc(group, func(a, b Window) int { return a.Stopped.Compare(b.Stopped) }).Stopped
	for i := range group {
		w := &group[i]
		lost := max(0, started.Sub(w.Begin)) + max(0, w.Finish.Sub(stopped))
		if took := w.Finish.Sub(w.Begin); took > 0 {
			w.Overlap = max(0, 1-lost.Seconds()/took.Seconds())
		}
	}
}

// Overlap plans to measure how fast kernels iterate while all kernels of their group do. Every second round of all
// groups goes backwards, against drift. A group is not run again after a failure of one of its jobs. Rows are ordered
// by group, run and job.
func Overlap(b *Bench, on Ground, groups []Group) (*Plan[datasets.OverlapRate], error) {
	if err := b.setFact("overlap's multiprocessors",
		fmt.Sprintf("%d multiprocessors", on.Multiprocessors())); err != nil {
		return nil, err
	}
	rows := func(_ datasets.Provenance, _ datasets.Load, runs [][]datasets.OverlapRate) []datasets.OverlapRate {
		return slices.Concat(runs...)
	}
	p := newPlan(b, "overlap", rows)
	p.keepsOthers = true // each run has rows of its own
	turn := distinct(groups)
	for run := 1; run <= max(b.Repetitions, 1); run++ {
		for _, g := range turn {
			names := nearest.Names(g, func(p Part) string { return p.Kernel })
			p.add(fmt.Sprintf("%d %s", len(g), g), run, names, func(ctx context.Context) (*finishedRun[any], error) {
				begin := time.Now()
				windows, err := on.Together(ctx, g, b.Window)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", g, err)
				}
				if rows := b.overlapRows(on, g, run, windows); rows != nil {
					return b.finish(rows, begin, time.Now()), nil
				}
				return nil, nil
			})
		}
		slices.Reverse(turn)
	}
	return p, nil
}

// overlapRows returns the rows of a run of a group; nil if one of its jobs has failed.
func (b *Bench) overlapRows(on Ground, g Group, run int, windows []Window) (rows []datasets.OverlapRate) {
	// After a failure the other jobs end at once, and their windows say nothing.
	failed := slices.ContainsFunc(windows, func(w Window) bool { return w.Status != launch.OK })
	for i, w := range windows {
		if w.Status == launch.OK && !failed && w.Overlap < datasets.MinOverlap {
			w.Status = launch.Wrong
			w.Detail = fmt.Sprintf("the others ran in only %.0f %% of its window; give a longer window", 100*w.Overlap)
		}
		if w.Status != launch.OK {
			b.fail(g[i].Kernel, "in the group "+g.String(), launch.Outcome{Status: w.Status, Detail: w.Detail})
			continue
		}
		took := profiling.Seconds(w.Finish.Sub(w.Begin))
		rows = append(rows, datasets.OverlapRate{
			Provenance: b.from, UUID: b.uuid, Group: g.String(), Job: i + 1, Kernel: g[i].Kernel,
			SMs: w.SMs, Of: on.Multiprocessors(), Run: run,
			Iterations: int(w.Iterations), Window: took, Iteration: took / mig.Seconds(w.Iterations),
			Overlap: w.Overlap, Load: b.watch.Between(w.Begin, w.Finish),
		})
	}
	if len(rows) < len(g) {
		return nil
	}
	return rows
}

// OverlapTable shows for each group how fast its jobs iterated: the median over the runs, and how much longer an
// iteration took than alone on as many multiprocessors, and than alone on the whole GPU.
func OverlapTable(_ *Bench, rows []datasets.OverlapRate) reports.Table {
	t := reports.Table{
		Title: TitleWithSource("Kernels at the same time", rows[0].Provenance),
		Columns: reports.Left("group", "kernel").Right("SMs", "runs", "iteration [ms]", "over alone on as many",
			"over alone on all", "SM clock [MHz]", "power [W]").Left("throttled"),
		Notes: []string{"bandwidth, L2 and memory capacity are not partitioned; only the multiprocessors are"},
	}
	if rows[0].Stub() {
		t.Notes = append(t.Notes, "made on a stub, not on a GPU: these are not measurements")
	}
	medians := datasets.Overlaps(rows)
	alone := func(kernel string, sms int) mig.Seconds {
		for _, m := range medians {
			if m.Group == datasets.OverlapJob(kernel, sms) {
				return m.Iteration
			}
		}
		return mig.Seconds(math.NaN())
	}
	over := func(a, b mig.Seconds) string { return reports.Fixed(float64(a/b), 2) }
	for _, m := range medians {
		asked := m.SMs
		if strings.HasSuffix(strings.Fields(m.Group)[m.Job-1], ":"+datasets.All) {
			asked = 0
		}
		t.Row(m.Group, strings.Split(strings.Fields(m.Group)[m.Job-1], ":")[0], m.SMs, m.Run,
			reports.Fixed(1000*float64(m.Iteration), 4), over(m.Iteration, alone(m.Kernel, asked)),
			over(m.Iteration, alone(m.Kernel, m.Of)), reports.Fixed(m.ClockMean, 0), reports.Fixed(m.PowerMean, 0),
			m.Throttle)
	}
	return t
}
