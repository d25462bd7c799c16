package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/reports"
)

// A Part is a job of a group: a kernel with a part of the GPU.
type Part struct {
	Kernel string
	// Intensity is the share of the time in which it runs, in percent.
	Intensity int
	// SMs is how many multiprocessors it may use; 0 means that nothing limits it.
	SMs int
}

// String returns the job as datasets write it, for example stream@50:64.
func (p Part) String() string { return datasets.OverlapJob(p.Kernel, p.Intensity, p.SMs) }

// A Group is jobs that are measured at the same time.
type Group []Part

// String lists the jobs, separated by spaces.
func (g Group) String() string {
	jobs := make([]string, len(g))
	for i, p := range g {
		jobs[i] = p.String()
	}
	return strings.Join(jobs, " ")
}

// A Rate is how fast a job iterated in its window.
type Rate struct {
	// Status is OK, or says what went wrong; the rest only counts if it is OK.
	Status kernel.Status
	Detail string
	// UUID is where it ran, without a prefix, and SMs how many multiprocessors it had.
	UUID       string
	SMs        int
	Iterations uint64
	Window     time.Duration
	// Overlap is the share of the window in which all other jobs ran too.
	Overlap float64
	// From and To are when the window began and ended.
	From, To time.Time
}

// A Ground runs the jobs of a group at the same time.
type Ground interface {
	// About says what the ground is.
	About() About
	// Together runs a group, and returns a rate for each job, in windows of about this length
	// in which all jobs run. An error means that no more groups can run.
	Together(ctx context.Context, g Group, window time.Duration) ([]Rate, error)
}

// About says on which GPU groups run.
type About struct {
	datasets.Provenance
	// SMs is the GPU's number of multiprocessors.
	SMs int
	// Watch samples the GPU; nil if nothing can.
	Watch *profiling.Watch
}

// OverlapOptions say how groups are measured.
type OverlapOptions struct {
	// Repetitions is how often each group runs.
	Repetitions int
	// Window is how long the rates are measured.
	Window time.Duration
	// Progress is told how many runs are done; it may be nil.
	Progress func(done, all int)
}

// Overlap measures how fast kernels iterate while all kernels of their group do. It adds each
// run of a group to a file, overlap.csv, as soon as it is measured, and does not repeat runs
// that the file has. Every second round of all groups goes backwards, against drift. A group
// is left out after a failure of one of its jobs; a [*FailedError] lists these. The rows are
// all of the file.
func Overlap(ctx context.Context, on Ground, groups []Group, file string, o OverlapOptions) (_ []datasets.OverlapRate, err error) {
	x := &overlaps{Ground: on, OverlapOptions: o, about: on.About(), file: file, done: map[string]int{}, bad: map[string]bool{}}
	if err := x.open(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.log.close()) }()
	turn := distinct(groups)
	x.all = len(turn) * o.Repetitions
	for round := 1; round <= o.Repetitions; round++ {
		for _, g := range turn {
			if err := x.run(ctx, g, round); err != nil {
				return x.rows, fmt.Errorf("%s: %w", g, err)
			}
			x.step()
		}
		slices.Reverse(turn)
	}
	return x.rows, failed(x.failures, "see to them and measure again, or leave these groups out")
}

func distinct(groups []Group) []Group {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(groups), func(g Group) bool {
		name := g.String()
		again := seen[name]
		seen[name] = true
		return again
	})
}

type overlaps struct {
	Ground
	OverlapOptions
	about    About
	file     string
	log      *runLog
	rows     []datasets.OverlapRate
	failures []Failure
	// done is the number of each group's runs that the file has, bad the groups that failed.
	done       map[string]int
	bad        map[string]bool
	steps, all int
}

func (x *overlaps) step() {
	x.steps++
	if x.Progress != nil {
		x.Progress(x.steps, x.all)
	}
}

// open reads the rows of earlier calls, and opens the file for more.
func (x *overlaps) open() (err error) {
	header := strings.Join(strictcsv.Columns[datasets.OverlapRate](), ",") + "\n"
	x.log, err = openLog(x.file, []byte(header), func(text []byte) error {
		if text = wholeLines(text); len(text) == 0 || string(text) == header {
			return nil
		}
		return x.adopt(text)
	})
	return err
}

// adopt takes over the rows of the file, which must be of this GPU. A run of a group is
// written at once, so that no group is there in part.
func (x *overlaps) adopt(text []byte) error {
	rows, err := datasets.ReadOverlap(bytes.NewReader(text), x.file)
	if err != nil {
		return err
	}
	was, is := rows[0].Provenance, x.about.Provenance
	if was.Date = is.Date; was != is {
		return fmt.Errorf("%s has rows of %s; this is %s: measure into another folder", x.file, rows[0].Provenance, x.about.Provenance)
	}
	if of := rows[0].Of; of != x.about.SMs {
		return fmt.Errorf("%s has rows of %d multiprocessors; there are %d here: measure into another folder", x.file, of, x.about.SMs)
	}
	x.rows = rows
	for _, r := range rows {
		if r.Job == 1 {
			x.done[r.Group] = max(x.done[r.Group], r.Run)
		}
	}
	return nil
}

// run measures a group once, unless that is done or the group is bad.
func (x *overlaps) run(ctx context.Context, g Group, round int) error {
	name := g.String()
	if x.done[name] >= round || x.bad[name] {
		return nil
	}
	rates, err := x.Together(ctx, g, x.Window)
	if err != nil {
		return err
	}
	var rows []datasets.OverlapRate
	for i, r := range rates {
		if r.Status == kernel.OK && r.Overlap < datasets.MinOverlap {
			r.Status = kernel.Wrong
			r.Detail = fmt.Sprintf("the others ran in only %.0f %% of its window; give a longer window", 100*r.Overlap)
		}
		// An instance that was created again may have another UUID; a GPU has always the same.
		if r.Status == kernel.OK && len(x.rows) > 0 && r.UUID != x.rows[0].UUID && x.about.Source != datasets.SourceMIG {
			return fmt.Errorf("%s has rows of the GPU %s; this is %s: measure into another folder", x.file, x.rows[0].UUID, r.UUID)
		}
		if r.Status != kernel.OK {
			x.bad[name] = true
			x.failures = append(x.failures, Failure{g[i].Kernel, "in the group " + name, r.Status, oneLine(r.Detail)})
			continue
		}
		window := mig.Seconds(r.Window.Seconds())
		rows = append(rows, datasets.OverlapRate{
			Provenance: x.about.Provenance, UUID: r.UUID, Group: name, Job: i + 1, Kernel: g[i].Kernel, Intensity: g[i].Intensity,
			SMs: r.SMs, Of: x.about.SMs, Run: round, Iterations: int(r.Iterations), Window: window, Iteration: window / mig.Seconds(r.Iterations),
			Overlap: r.Overlap, Load: datasets.Load(x.about.Watch.Between(r.From, r.To)),
		})
	}
	if x.bad[name] {
		return nil
	}
	var text bytes.Buffer
	if err := datasets.WriteHardware(&text, rows); err != nil {
		return err
	}
	_, lines, _ := bytes.Cut(text.Bytes(), []byte("\n")) // without the header
	if err := x.log.write(lines); err != nil {
		return err
	}
	x.rows = append(x.rows, rows...)
	x.done[name] = round
	return nil
}

// OverlapTable shows for each group how fast its jobs iterated: the median over the runs, and
// how much longer an iteration took than alone on as many multiprocessors, and than alone on
// the whole GPU. The rests of a job that runs only a part of the time are no slowdown.
func OverlapTable(rows []datasets.OverlapRate) reports.Table {
	t := reports.Table{
		Title:   "Kernels at the same time",
		Columns: reports.Left("group", "kernel").Right("SMs", "runs", "iteration [ms]", "over alone on as many", "over alone on all", "SM clock [MHz]", "power [W]").Left("throttled"),
		Notes:   []string{"bandwidth, L2 and memory capacity are not partitioned; only the multiprocessors are"},
	}
	if len(rows) == 0 {
		return t
	}
	t.Title = Titled(t.Title, rows[0].Provenance)
	if rows[0].Stub() {
		t.Notes = append(t.Notes, "made on a stub, not on a GPU: these are not measurements")
	}
	medians := datasets.Overlaps(rows)
	alone := func(p Part) mig.Seconds {
		for _, m := range medians {
			if m.Group == p.String() {
				return m.Iteration
			}
		}
		return 0
	}
	over := func(a, b mig.Seconds) string {
		if b == 0 {
			return reports.Missing
		}
		return reports.Fixed(float64(a/b), 2)
	}
	for _, m := range medians {
		asked := m.SMs
		if strings.HasSuffix(strings.Fields(m.Group)[m.Job-1], ":"+datasets.All) {
			asked = 0
		}
		busy := m.Iteration * mig.Seconds(m.Intensity) / 100 // without the rests of one that does not run all the time
		t.Rows = append(t.Rows, []string{
			m.Group, strings.Split(strings.Fields(m.Group)[m.Job-1], ":")[0], fmt.Sprint(m.SMs), fmt.Sprint(m.Run), reports.Fixed(1000*float64(m.Iteration), 4),
			over(busy, alone(Part{m.Kernel, 100, asked})), over(busy, alone(Part{m.Kernel, 100, m.Of})),
			reports.Fixed(m.ClockMean, 0), reports.Fixed(m.PowerMean, 0), m.Throttle,
		})
	}
	return t
}
