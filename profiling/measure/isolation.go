package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/profiling/session"
	"miglab/reports"
)

// Isolation measures how much kernels disturb each other on instances of one GPU (FAR
// 2.5, Table 2). The GPU must have no instances.
//
// Every kernel runs on an instance of every size except the whole GPU, at the profile's
// first start. It runs alone; with one other kernel, on the largest instance that fits in
// the rest of the GPU; and with two others, on every pair of sizes that fits there, as far
// left as possible. For a kernel on 4@0 of an A100 the others run on 3@4, then on 2@4 and
// 1@6, then on 1@4 and 1@5, as in the paper's example. The other kernels are drawn at
// random, start first, and restart until the measured run has ended.
//
// If all kernels can measure their rate in a common window (see [kernel.Together]), the times
// are those of an iteration, in windows in which all kernels run; otherwise they are those of
// whole runs, of which the others may miss the beginning. The rows say which.
//
// First each kernel warms up on every size. A kernel that fails or does not fit on a size
// is not drawn for it and has no rows there. If a kernel fails later, that case of the
// measured kernel is left out. A [*FailedError] lists the failures. Each repetition runs
// all cases of a size, every second time backwards, so that a drift of the GPU does not
// look like a disturbance.
//
// Runs that Options.File has are not repeated, but every kernel warms up again, and failed runs
// are not kept. Rows are ordered by kernel, size and case. With an error, the rows cover the
// repetitions that were done before it.
func Isolation(ctx context.Context, s *session.Session, kernels []kernel.Kernel, o Options) (_ []datasets.IsolationTime, err error) {
	all, err := checked(kernels)
	if err != nil {
		return nil, err
	}
	x := &isolation{
		windows: !slices.ContainsFunc(all, func(k *kernel.Kernel) bool { return !k.Window }), experiment: newExperiment(o), kernels: all, session: s, from: Provenance(s.Identity()), gpu: s.Identity().Model,
		bad: map[place]bool{}, done: map[trial]map[int]measured{}, spoilt: map[trial]bool{},
	}
	if x.ledger, err = openLedger[isolationRun](o.File, "isolation", s.Identity(), all); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.ledger.close()) }()
	stop, err := x.observe(s.Device())
	if err != nil {
		return nil, err
	}
	defer stop()
	each := 0 // runs in each case, of all kernels
	for _, k := range all {
		x.rounds = max(x.rounds, x.repetitions(k))
		each += x.repetitions(k)
	}
	for _, size := range x.gpu.Sizes() {
		if size < x.gpu.ComputeSlices {
			x.sizes = append(x.sizes, size)
		}
	}
	for _, size := range x.sizes {
		x.all += each * len(cases(x.gpu, first(x.gpu, size)))
	}
	if err := x.warmUp(ctx); err != nil {
		return nil, err
	}
	x.adopt()
	for _, size := range x.sizes {
		if err := x.measure(ctx, size); err != nil {
			return x.rows(), err
		}
	}
	return x.rows(), failed(x.failures, "see to them and measure again, or leave these kernels out")
}

// first returns the instance of a size at its profile's first start.
func first(g *mig.GPU, size mig.Slices) mig.Instance {
	p := g.Profile(size)
	return mig.Instance{Profile: p, Start: p.Starts[0]}
}

// cases returns the instances on which other kernels run at the same time: none, the
// largest one, and every pair of sizes, larger pairs first.
func cases(g *mig.GPU, at mig.Instance) []mig.Partition {
	var one mig.Partition
	var pairs []mig.Partition
	for _, p := range g.Partitions() {
		if !slices.Contains(p, at) {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(p), func(in mig.Instance) bool { return in == at })
		for i, a := range rest {
			if len(one) == 0 || bySize(a, one[0]) < 0 {
				one = mig.Partition{a}
			}
			for _, b := range rest[i+1:] {
				pairs = append(pairs, mig.Partition{a, b})
			}
		}
	}
	// Of the pairs with the same two sizes keep the one furthest left; of two such pairs,
	// the one with the larger instance on the left.
	slices.SortFunc(pairs, func(a, b mig.Partition) int {
		return cmp.Or(compareSizes(a, b), cmp.Compare(a[0].Start, b[0].Start), cmp.Compare(a[1].Start, b[1].Start), cmp.Compare(b[0].Size(), a[0].Size()))
	})
	pairs = slices.CompactFunc(pairs, func(a, b mig.Partition) bool { return compareSizes(a, b) == 0 })
	out := []mig.Partition{nil}
	if one != nil {
		out = append(out, one)
	}
	return append(out, pairs...)
}

// bySize orders instances by size, larger ones first, then from left to right.
func bySize(a, b mig.Instance) int {
	return cmp.Or(cmp.Compare(b.Size(), a.Size()), cmp.Compare(a.Start, b.Start))
}

// compareSizes puts the pair with the larger instances first. The order within a pair
// does not matter.
func compareSizes(a, b mig.Partition) int {
	return cmp.Or(cmp.Compare(max(b[0].Size(), b[1].Size()), max(a[0].Size(), a[1].Size())),
		cmp.Compare(min(b[0].Size(), b[1].Size()), min(a[0].Size(), a[1].Size())))
}

// A trial is a kernel on a size in one of the cases of that size.
type trial struct {
	place
	number int
}

// A measured is a finished run.
type measured struct {
	Seconds float64
	Load    datasets.Load
}

// An isolationRun is a finished run as it is kept.
type isolationRun struct {
	Kernel     string
	Size       mig.Slices
	Beside     string
	Timed      string
	Repetition int
	Measured   measured
}

type isolation struct {
	experiment
	// windows says that all kernels can measure their rate in a common window.
	windows bool
	session *session.Session
	from    datasets.Provenance
	gpu     *mig.GPU
	kernels []*kernel.Kernel
	sizes   []mig.Slices
	// bad holds the places where kernels do not run.
	bad    map[place]bool
	spoilt map[trial]bool
	// done has the finished runs of each trial, by repetition.
	done   map[trial]map[int]measured
	ledger *ledger[isolationRun]
	// rounds is the largest number of repetitions.
	rounds int
}

// warmUp runs every kernel on every size and finds out where they do not run.
func (x *isolation) warmUp(ctx context.Context) error {
	for _, size := range x.sizes {
		on, _, err := x.session.Create(ctx, first(x.gpu, size))
		if err != nil {
			return err
		}
		for _, k := range x.kernels {
			if k.MinMemoryMB > memoryMB(x.session.Identity(), x.gpu.Profile(size)) {
				x.bad[place{k.Name, size}] = true
				continue
			}
			out, err := warmUp(ctx, x.Launcher, k, on)
			if err != nil {
				return fmt.Errorf("%s %s: %w", k.Name, onSlices(size), err)
			}
			if out.Status != kernel.OK {
				x.bad[place{k.Name, size}] = true
			}
			if out.Status != kernel.OK && out.Status != kernel.OutOfMemory {
				x.fail(k, onSlices(size), out)
			}
		}
		if _, err := x.session.Destroy(ctx, on); err != nil {
			return err
		}
	}
	return nil
}

// measure runs all repetitions on instances of a size.
func (x *isolation) measure(ctx context.Context, size mig.Slices) error {
	at := first(x.gpu, size)
	on, _, err := x.session.Create(ctx, at)
	if err != nil {
		return err
	}
	all, kernels := cases(x.gpu, at), slices.Clone(x.kernels)
	for repetition := range x.rounds {
		due := slices.DeleteFunc(slices.Clone(kernels), func(k *kernel.Kernel) bool { return repetition >= x.repetitions(k) })
		for i := range all {
			if repetition%2 == 1 {
				i = len(all) - 1 - i
			}
			if err := x.beside(ctx, on, trials{i, repetition, all[i]}, due); err != nil {
				return err
			}
		}
		slices.Reverse(kernels)
	}
	_, err = x.session.Destroy(ctx, on)
	return err
}

// timed says what the times are of.
func (x *isolation) timed() string {
	if x.windows && x.together != nil {
		return datasets.TimedWindow
	}
	return datasets.TimedProcess
}

// adopt takes over the runs of earlier calls that this one would make.
func (x *isolation) adopt() {
	kept := map[isolationRun]measured{}
	for _, r := range x.ledger.finished() {
		m := r.Measured
		r.Measured = measured{}
		kept[r] = m
	}
	for _, k := range x.kernels {
		for _, size := range x.sizes {
			at := first(x.gpu, size)
			for number, rest := range cases(x.gpu, at) {
				others := x.drawn(k, at, rest)
				if len(others) < len(rest) {
					continue // it has no runs, and must not take over those of the kernel alone
				}
				beside := join(others)
				for repetition := range x.repetitions(k) {
					if m, ok := kept[isolationRun{k.Name, size, beside, x.timed(), repetition + 1, measured{}}]; ok {
						x.set(trial{place{k.Name, size}, number}, repetition, m)
					}
				}
			}
		}
	}
}

func (x *isolation) set(t trial, repetition int, m measured) {
	if x.done[t] == nil {
		x.done[t] = map[int]measured{}
	}
	x.done[t][repetition] = m
}

// trials are a case of all kernels on a size, in one of the repetitions, which count from 0.
type trials struct {
	number, repetition int
	rest               mig.Partition
}

// beside measures every kernel once on an instance while other kernels run on other instances.
func (x *isolation) beside(ctx context.Context, on profiling.Instance, c trials, kernels []*kernel.Kernel) error {
	due := slices.DeleteFunc(slices.Clone(kernels), func(k *kernel.Kernel) bool {
		t := trial{place{k.Name, on.Size()}, c.number}
		_, done := x.done[t][c.repetition]
		return done || x.bad[t.place] || x.spoilt[t] || len(x.drawn(k, on.Instance, c.rest)) < len(c.rest)
	})
	for range len(kernels) - len(due) {
		x.step()
	}
	if len(due) == 0 {
		return nil
	}
	made := make([]profiling.Instance, len(c.rest))
	for i, at := range c.rest {
		var err error
		if made[i], _, err = x.session.Create(ctx, at); err != nil {
			return err
		}
	}
	for _, k := range due {
		others := x.drawn(k, on.Instance, c.rest)
		for i := range others {
			others[i].on = made[i]
		}
		if err := x.run(ctx, trial{place{k.Name, on.Size()}, c.number}, c.repetition, k, on, others); err != nil {
			return fmt.Errorf("%s %s: %w", k.Name, onSlices(on.Size()), err)
		}
		x.step()
	}
	for _, i := range made {
		if _, err := x.session.Destroy(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// A neighbour is a kernel that runs at the same time as the measured one.
type neighbour struct {
	*kernel.Kernel
	on profiling.Instance
}

func (n neighbour) String() string { return fmt.Sprintf("%s:%s", n.Name, n.on.Instance) }

// drawn returns the neighbours of a kernel, one for each instance of rest; none if no
// kernel can run on one of the instances.
func (x *isolation) drawn(k *kernel.Kernel, at mig.Instance, rest mig.Partition) []neighbour {
	rng := stream(x.Seed, fmt.Sprintf("%q %s beside %v", k.Name, at, []mig.Instance(rest)))
	var out []neighbour
	for _, in := range rest {
		var candidates []*kernel.Kernel
		for _, c := range x.kernels {
			if (c != k || len(x.kernels) == 1) && !x.bad[place{c.Name, in.Size()}] {
				candidates = append(candidates, c)
			}
		}
		if len(candidates) == 0 {
			return nil
		}
		out = append(out, neighbour{candidates[rng.IntN(len(candidates))], profiling.Instance{Instance: in}})
	}
	return out
}

// headStart is how long the neighbours run before the measured kernel starts, so that
// their processes reach the GPU first.
const headStart = 500 * time.Millisecond

// run measures a kernel once while its neighbours run, and keeps the run if all ended well.
func (x *isolation) run(ctx context.Context, t trial, repetition int, k *kernel.Kernel, on profiling.Instance, others []neighbour) error {
	once := x.process
	if x.timed() == datasets.TimedWindow {
		once = x.window
	}
	m, err := once(ctx, t, k, on, others)
	if err != nil || x.spoilt[t] {
		return err
	}
	x.set(t, repetition, m)
	r := isolationRun{k.Name, t.size, join(others), x.timed(), repetition + 1, m}
	part := []*kernel.Kernel{k}
	for _, o := range others {
		part = append(part, o.Kernel)
	}
	return x.ledger.add(r, part...)
}

// process measures a whole run of a kernel while its neighbours restart.
func (x *isolation) process(ctx context.Context, t trial, k *kernel.Kernel, on profiling.Instance, others []neighbour) (measured, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	bad := make([]kernel.Outcome, len(others)) // the outcomes of neighbours that failed
	errs := make([]error, len(others))
	var wg sync.WaitGroup
	for i, o := range others {
		wg.Go(func() {
			for {
				out, err := x.Launcher.Launch(running, o.Kernel, o.on)
				if running.Err() != nil {
					return
				}
				if err != nil || out.Status != kernel.OK {
					bad[i], errs[i] = out, err
					return
				}
			}
		})
	}
	if len(others) > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(headStart):
		}
	}
	out, err := x.Launcher.Launch(ctx, k, on)
	stop()
	wg.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		return measured{}, err
	}
	if out.Status != kernel.OK {
		x.spoilt[t] = true
		where := onSlices(on.Size())
		if len(others) > 0 {
			where += " beside " + join(others)
		}
		x.fail(k, where, out)
	}
	for i, o := range others {
		if bad[i].Status != "" {
			x.spoilt[t] = true
			x.fail(o.Kernel, fmt.Sprintf("%s beside %s", onSlices(o.on.Size()), neighbour{k, on}), bad[i])
		}
	}
	return measured{float64(out.Seconds), x.load(out.Start, out.End)}, nil
}

// window measures a kernel once in a window in which its neighbours run too.
func (x *isolation) window(ctx context.Context, t trial, k *kernel.Kernel, on profiling.Instance, others []neighbour) (measured, error) {
	jobs := []Placed{{Kernel: k, On: on}}
	for _, o := range others {
		jobs = append(jobs, Placed{Kernel: o.Kernel, On: o.on})
	}
	windows, err := x.together.Together(ctx, jobs, x.Window)
	if err != nil {
		return measured{}, err
	}
	for i, w := range windows {
		if w.Status == kernel.OK {
			continue
		}
		x.spoilt[t] = true
		where := onSlices(jobs[i].On.Size())
		switch {
		case i > 0:
			where += fmt.Sprintf(" beside %s", neighbour{k, on})
		case len(others) > 0:
			where += " beside " + join(others)
		}
		x.fail(jobs[i].Kernel, where, w.Outcome)
	}
	w := windows[0]
	return measured{float64(w.Seconds), x.load(w.From, w.To)}, nil
}

func join(ns []neighbour) string {
	out := make([]string, len(ns))
	for i, n := range ns {
		out[i] = n.String()
	}
	return strings.Join(out, " ")
}

func (x *isolation) rows() []datasets.IsolationTime {
	var out []datasets.IsolationTime
	for _, k := range x.kernels {
		for _, size := range x.sizes {
			at := first(x.gpu, size)
			var alone mig.Seconds
			for i, rest := range cases(x.gpu, at) {
				t := trial{place{k.Name, size}, i}
				if x.spoilt[t] || len(x.done[t]) == 0 || i > 0 && alone == 0 {
					continue
				}
				var seconds []float64
				var loads []datasets.Load
				for _, repetition := range slices.Sorted(maps.Keys(x.done[t])) {
					m := x.done[t][repetition]
					seconds, loads = append(seconds, m.Seconds), append(loads, m.Load)
				}
				s := summarize(seconds)
				r := datasets.IsolationTime{
					Provenance: x.from, Kernel: k.Name, Size: size, Runs: s.N, Median: mig.Seconds(s.Median),
					Beside: join(x.drawn(k, at, rest)), Timed: x.timed(), Load: joined(loads),
				}
				if i == 0 {
					alone = r.Median
				} else {
					r.Difference = 100 * (float64(r.Median/alone) - 1)
				}
				out = append(out, r)
			}
		}
	}
	return out
}

// IsolationTable shows, by instance size, the largest absolute difference between a
// kernel's times alone and beside others (FAR Table 2), or [reports.Missing].
func IsolationTable(rows []datasets.IsolationTime) reports.Table {
	t := reports.Table{
		Title:   "Largest difference in percent between kernels alone and beside others",
		Columns: reports.Left("kernel"),
	}
	var sizes []mig.Slices
	var kernels []string
	largest := map[place]float64{}
	for _, r := range rows {
		if !slices.Contains(sizes, r.Size) {
			sizes = append(sizes, r.Size)
		}
		if !slices.Contains(kernels, r.Kernel) {
			kernels = append(kernels, r.Kernel)
		}
		if r.Beside != "" {
			at := place{r.Kernel, r.Size}
			largest[at] = max(largest[at], math.Abs(r.Difference))
		}
	}
	slices.Sort(sizes)
	for _, size := range sizes {
		t.Columns = t.Columns.Right(fmt.Sprint(size))
	}
	for _, k := range kernels {
		row := []string{k}
		for _, size := range sizes {
			cell := reports.Missing
			if d, ok := largest[place{k, size}]; ok {
				cell = reports.Fixed(d, 2)
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	if len(rows) == 0 {
		return t
	}
	t.Title = Titled(t.Title, rows[0].Provenance)
	if rows[0].Source == datasets.SourceMPS {
		t.Notes = []string{undivided + ", nor are PCIe and the power limit; the differences say nothing about MIG instances"}
	} else {
		t.Notes = []string{"instances share PCIe and the power limit, which MIG does not partition"}
	}
	return t
}
