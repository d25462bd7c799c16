package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gocarina/gocsv"

	"miglab/datasets"
	"miglab/harness/atomicfile"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/store"
	"miglab/harness/strictjson"
	"miglab/harness/work"
	"miglab/profiling"
	"miglab/profiling/launch"
	"miglab/profiling/session"
	"miglab/reports"
)

// Repetitions is how often runs are repeated, as in the papers, if neither the bench nor the kernel give another
// number.
const Repetitions = 10

// A Bench is a GPU on which experiments run, and the folder that remembers their runs.
type Bench struct {
	// Dir is the folder. It has the finished runs in results.db, and the files that are made of them.
	Dir string
	// Session is the GPU; nil if Partitions is not.
	Session *session.Session
	// Partitions runs kernels of this program on parts of the multiprocessors.
	Partitions *Partitions
	// Kernels are what is measured. Of kernels of Partitions they have only the names.
	Kernels []launch.Kernel
	// Repetitions is how often everything is measured, in place of each kernel's own number; 0 means that number, and
	// [Repetitions] for a kernel without one.
	Repetitions int
	// Window is how long the rates of kernels at the same time are measured; 0 means a second.
	Window time.Duration
	// Launcher starts kernels; nil means [Real].
	Launcher Launcher
	// Warn is told in one line what a reader of the rows should know; it may be nil.
	Warn func(string)
	// Progress is told how many runs are done or no longer needed; it may be nil.
	Progress func(done, all int)

	log *work.Log
	// from and uuid say which GPU it is.
	from  datasets.Provenance
	uuid  string
	judge *judge
	// watch samples the GPU while kernels run, if anything can.
	watch    *profiling.Watch
	failures []Failure
	// facts decide the runs of this bench, by name. folderFacts has those of the folder's runs. They must be the same.
	facts, folderFacts map[string]string
	// stages are the plan's.
	stages []*stage
}

// A Plan is an experiment on a bench: its runs, in the order in which they are made one after the other, and the rows
// that its finished runs become.
type Plan[Row any] struct {
	// name is the first word of the runs' keys. file is the name of the file of the rows.
	name, file string
	bench      *Bench
	units      []work.Unit
	// rows returns the rows of the runs that the folder has.
	rows func() ([]Row, error)
	// failed has the groups of which a run failed. They have no rows, unless keepsOthers is set: then their other runs
	// do.
	failed      map[string]bool
	keepsOthers bool
}

// A Planner checks what an experiment needs and plans it.
type Planner[Row any] func(ctx context.Context, b *Bench) (*Plan[Row], error)

// A finishedRun is what the folder keeps of a run.
type finishedRun[R any] struct {
	// Group is the same in all runs that become rows together.
	Group string
	Date  string
	// Facts are what decided the run, by name.
	Facts map[string]string
	// Load has the clocks, power and temperature of the GPU during the run.
	Load   datasets.Load
	Record R
}

// newPlan returns an experiment without runs. Its rows begin with a [datasets.Provenance]. rows makes rows of the
// records of a group of runs, all of type R, and of their load; it may leave them out. The groups come in the order of
// their keys as text, so that rows may use what an earlier group gave it.
func newPlan[R any, Row datasets.HardwareRow](b *Bench, name string,
	rows func(from datasets.Provenance, load datasets.Load, records []R) []Row,
) *Plan[Row] {
	p := &Plan[Row]{name: name, file: name + ".csv", bench: b, failed: map[string]bool{}}
	p.rows = func() (all []Row, _ error) {
		runs, err := finished[R](b, name)
		if err != nil {
			return nil, err
		}
		from := b.from
		from.Date = ""
		for i := range runs {
			from.Date = max(from.Date, runs[i].Date)
		}
		for same := range reports.Grouped(runs, func(r *finishedRun[R]) string { return r.Group }) {
			if p.failed[same[0].Group] && !p.keepsOthers {
				continue
			}
			var loads []datasets.Load
			var records []R
			for _, r := range same {
				loads, records = append(loads, r.Load), append(records, r.Record)
			}
			all = append(all, rows(from, profiling.Join(loads...), records)...)
		}
		return all, nil
	}
	return p
}

// add appends the run of a number of a group. The kernels of these names must not change between calls. do makes the
// run and returns it from [Bench.finish], or nil if the run failed or is not needed: only the next call then tries the
// group again.
func (p *Plan[Row]) add(group string, number int, kernels []string,
	do func(context.Context) (*finishedRun[any], error),
) {
	p.units = append(p.units, work.Unit{
		Key: fmt.Sprintf("%s%s %s run %03d", measured, p.name, group, number),
		Do: func(ctx context.Context) (any, error) {
			if p.failed[group] {
				return nil, nil
			}
			r, err := do(ctx)
			if r == nil || err != nil {
				p.failed[group] = err == nil
				return nil, err
			}
			r.Group = group
			for fact, is := range p.bench.facts {
				if name, ofKernel := strings.CutPrefix(fact, kernelFact); !ofKernel || slices.Contains(kernels, name) {
					r.Facts[fact] = is
				}
			}
			return r, nil
		},
	})
}

// finish returns a run that took place from one instant to another. The record has exported fields alone and no
// infinite number.
func (b *Bench) finish(record any, from, to time.Time) *finishedRun[any] {
	load := b.watch.Between(from, to)
	return &finishedRun[any]{Date: b.from.Date, Facts: map[string]string{}, Load: load, Record: record}
}

// measured begins the keys of runs: the folder's database may have other work.
const measured = "measured "

// finished returns the runs of an experiment that the folder has, by key; of all if the name is empty.
func finished[R any](b *Bench, name string) (runs []finishedRun[R], err error) {
	prefix := measured
	if name != "" {
		prefix += name + " "
	}
	all, err := b.log.All(prefix)
	for _, raw := range all {
		var r finishedRun[R]
		if err := strictjson.Line(raw, &r); err != nil {
			return runs, fmt.Errorf("%s: a run whose key begins with %q: %w", filepath.Join(b.Dir, "results.db"),
				prefix, err)
		}
		runs = append(runs, r)
	}
	return runs, err
}

// Measure makes the runs of an experiment that the folder of b does not have. Each is on disk before the next
// one begins, so that the same call goes on after an interruption or a kill. Then, however the runs ended,
// it writes the file of all rows that the folder has, calls show with them, and returns their number. show is told
// whether the experiment is whole; it may be nil. After an error, instances are left to the session, which destroys
// them when it is closed.
//
// A folder has the runs of one card, driver and source, and of kernels that do not change; anything else is an error
// that says what to do. Runs that failed are a [*FailedError]; they are not kept. When ctx ends or the GPU is lost,
// Measure stops at once.
func Measure[Row any](ctx context.Context, b *Bench, plan Planner[Row],
	show func(rows []Row, whole bool) error,
) (rows int, err error) {
	if err := errors.Join(os.MkdirAll(b.Dir, 0o777), atomicfile.Sweep(b.Dir)); err != nil {
		return 0, err
	}
	db, err := store.Open(b.Dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	b.log = work.NewLog(db, "")
	defer b.endWatch()
	if err := b.begin(); err != nil {
		return 0, err
	}
	p, err := plan(ctx, b)
	if err != nil {
		return 0, err
	}
	failure := b.run(ctx, p.units)
	var failed, incomplete *FailedError
	whole := failure == nil || errors.As(failure, &failed)
	all, unsaved := p.rows()
	if unsaved == nil && len(all) > 0 {
		unsaved = atomicfile.WriteFile(filepath.Join(b.Dir, p.file), func(w io.Writer) error {
			return gocsv.Marshal(all, w)
		})
		if show != nil {
			unsaved = errors.Join(unsaved, show(all, whole))
		}
	}
	switch {
	case unsaved == nil || !whole: // what ended the runs comes first
		return len(all), failure
	case errors.As(unsaved, &incomplete):
		return len(all), errors.Join(failure, unsaved)
	}
	return len(all),
		fmt.Errorf("the files of what was measured cannot be written: %w; solve this, and the same command goes on",
			unsaved)
}

// run makes the runs of a plan and destroys their instances.
func (b *Bench) run(ctx context.Context, units []work.Unit) error {
	runner := work.Runner{Log: b.log, Workers: 1, Progress: b.Progress}
	_, err := runner.Run(ctx, units)
	for _, s := range b.stages {
		if err == nil {
			err = s.clear(ctx)
		}
	}
	if err == nil && len(b.failures) > 0 {
		err = &FailedError{b.failures, "see to them and measure again: the same command runs them again"}
	}
	return err
}

// begin identifies the GPU, compares the bench with the folder's runs, and begins to sample the GPU.
func (b *Bench) begin() (err error) {
	if b.Launcher == nil {
		b.Launcher = Real{}
	}
	b.Window = cmp.Or(b.Window, time.Second)
	b.judge = &judge{Launcher: b.Launcher, idle: map[string]string{}, first: map[string]string{}}
	b.Launcher = b.judge
	if b.Partitions != nil {
		b.from, b.uuid, b.watch = b.Partitions.From, b.Partitions.UUID, b.Partitions.Watch
	} else {
		id := b.Session.Identity()
		b.from, b.uuid = Provenance(id), oneLine(id.UUID)
		if b.watch, err = b.Session.Device().Watch(); err != nil {
			return err
		}
	}
	b.facts, b.folderFacts = map[string]string{}, map[string]string{}
	runs, err := finished[any](b, "")
	if err != nil {
		return err
	}
	for _, r := range runs {
		maps.Copy(b.folderFacts, r.Facts)
	}
	card := fmt.Sprintf("%s (%s, driver %s, source %s)", b.uuid, b.from.Name, b.from.Driver, b.from.Source)
	if err := b.setFact("card", card); err != nil {
		return err
	}
	if b.Partitions != nil {
		if err := b.setFact("options", b.Partitions.options()); err != nil {
			return err
		}
	}
	return b.checkKernels()
}

// endWatch ends the sampling, and warns of samples that are missing.
func (b *Bench) endWatch() {
	if b.watch == nil {
		return
	}
	b.watch.Close()
	if n := b.watch.Failures(); n > 0 && b.Warn != nil {
		b.Warn(fmt.Sprintf("%d samples of the GPU's clocks, power and temperature could not be taken; the "+
			"conditions of these rows are incomplete", n))
	}
}

// checkKernels refuses kernels that rows and datasets could not tell apart, and those that have changed.
func (b *Bench) checkKernels() error {
	seen := map[string]bool{}
	for i := range b.Kernels {
		k := &b.Kernels[i]
		for _, s := range []string{k.Suite, k.SizeClass} {
			if oneLine(s) != s {
				return fmt.Errorf("%s:%d: kernel %q: %q has line breaks or superfluous spaces", k.File,
					k.Line, k.Name, s)
			}
		}
		if seen[k.Name] {
			return fmt.Errorf("%s:%d: kernel %q is described twice; names must differ", k.File, k.Line, k.Name)
		}
		seen[k.Name] = true
		if b.Partitions != nil {
			continue // a kernel of this program
		}
		if err := b.setFact(kernelFact+k.Name, describe(k)); err != nil {
			return fmt.Errorf("kernel %s (%s:%d) has changed since it ran (program, suite, arguments, "+
				"data, warm-up, memory or what is expected): %w", k.Name, k.File, k.Line, err)
		}
	}
	return nil
}

// kernelFact begins the name of the fact that describes a kernel. All runs of a bench share the other facts.
const kernelFact = "kernel "

// setFact sets a fact about this bench, and refuses a folder that has runs with another one.
func (b *Bench) setFact(fact, is string) error {
	b.facts[fact] = is
	if was, ok := b.folderFacts[fact]; ok && was != is {
		return fmt.Errorf("%s has runs of %s; this is %s: measure into another folder (--out)",
			filepath.Join(b.Dir, "results.db"), was, is)
	}
	return nil
}

// repetitions returns how often a kernel is measured.
func (b *Bench) repetitions(k *launch.Kernel) int {
	return cmp.Or(b.Repetitions, k.Repetitions, Repetitions)
}

// rounds returns the largest number of repetitions.
func (b *Bench) rounds() (most int) {
	for i := range b.Kernels {
		most = max(most, b.repetitions(&b.Kernels[i]))
	}
	return most
}

func (b *Bench) kernels() []*launch.Kernel {
	all := make([]*launch.Kernel, len(b.Kernels))
	for i := range all {
		all[i] = &b.Kernels[i]
	}
	return all
}

// A stage is the instances on which the next runs are made.
type stage struct {
	*session.Session
	// name says which instances exist; empty before the first set.
	name string
	made []profiling.Instance
}

// stage returns a stage without instances.
func (b *Bench) stage() *stage {
	s := &stage{Session: b.Session}
	b.stages = append(b.stages, s)
	return s
}

// set makes instances in the place of those that exist, unless they have the name already.
func (s *stage) set(ctx context.Context, name string, at ...mig.Instance) error {
	if s.name == name {
		return nil
	}
	if err := s.clear(ctx); err != nil {
		return err
	}
	for _, in := range at {
		on, _, err := s.Create(ctx, in)
		if err != nil {
			return err
		}
		s.made = append(s.made, on)
	}
	s.name = name
	return nil
}

// clear destroys the instances. After an error, made has those that are left, which the session destroys at its end.
func (s *stage) clear(ctx context.Context) error {
	s.name = ""
	for ; len(s.made) > 0; s.made = s.made[1:] {
		if _, err := s.Destroy(ctx, s.made[0]); err != nil {
			return err
		}
	}
	return nil
}

// fail remembers a run that failed.
func (b *Bench) fail(kernel, where string, out launch.Outcome) {
	b.failures = append(b.failures, Failure{kernel, where, out.Status, oneLine(out.Detail)})
}

// A Failure is a run that crashed, hung or gave a wrong result.
type Failure struct {
	Kernel string
	// Where says where it ran, for example "on 2 slices" or "at 50 %".
	Where  string
	Status launch.Status
	// Detail says in one line what went wrong.
	Detail string
}

func (f Failure) String() string {
	s := fmt.Sprintf("%s %s: %s", f.Kernel, f.Where, f.Status)
	if f.Detail != "" {
		s += " (" + f.Detail + ")"
	}
	return s
}

// A FailedError lists the runs that failed in an experiment that otherwise completed. An empty list means that no
// kernel has a usable result.
type FailedError struct {
	Failures []Failure
	// Remedy tells the user how to go on.
	Remedy string
}

func (e *FailedError) Error() string {
	if len(e.Failures) == 0 {
		return e.Remedy
	}
	list := strings.Join(nearest.Names(e.Failures, Failure.String), "; ")
	return fmt.Sprintf("these runs failed and are left out: %s; %s", list, e.Remedy)
}
