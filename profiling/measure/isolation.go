package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/profiling"
	"miglab/profiling/launch"
	"miglab/reports"
)

var _ = Register(Experiment{
	Name: "isolation", Noun: "runs", Kernels: true, Modes: []string{mig.SourceMIG, ModeExisting},
	Short:   "Measure kernels alone and beside one or two others on the same GPU",
	Example: "  sudo miglab profile isolation --kernels rodinia --set rodinia=/opt/rodinia",
	Run:     Tabled(Isolation, "isolation", IsolationTable),
})

// Isolation plans to measure how much kernels disturb each other on instances of one GPU (FAR 2.5, Table 2). The
// GPU must have no instances. In mode mig-existing, the instances that exist give the sizes and the neighbours.
//
// Every kernel runs on an instance of every size except the whole GPU: at the profile's first start, or on one of those
// that exist. It runs alone;
// with one other kernel, on the largest instance that fits in the rest of the GPU; and with two others, on every
// pair of sizes that fits there, as far left as possible. For a kernel on 4@0 of an A100 the others run on 3@4,
// then on 2@4 and 1@6, then on 1@4 and 1@5, as in the paper's example. The other kernels are drawn at random, start
// first, and restart until the measured run has ended.
//
// First each kernel warms up on every size, in each call. A kernel that fails or does not fit on a size is not
// drawn for it and has no rows there. If a kernel fails later, that case of the measured kernel is left out. Each
// repetition runs all cases of a size, every second time backwards, so that a drift of the GPU does not look like a
// disturbance. Rows are ordered by kernel, size and case.
func Isolation(ctx context.Context, b *Bench) (*Plan[datasets.IsolationTime], error) {
	instances, err := instancesBySize(b.Session)
	if err != nil {
		return nil, err
	}
	g := b.Session.Identity().Model
	partitions := g.Partitions()
	if exist := b.Session.Device().Existing(); len(exist) > 0 {
		partitions = []mig.Partition{exist}
	}
	isWhole := func(in mig.Instance) bool { return in.Size() == g.ComputeSlices }
	x := &isolation{
		Bench: b, measured: slices.DeleteFunc(instances, isWhole), on: b.stage(), rest: b.stage(),
		bad: map[place]bool{}, alone: map[place]mig.Seconds{},
	}
	if err := x.warmUp(ctx); err != nil {
		return nil, err
	}
	p := newPlan(b, "isolation", x.rows)
	for _, at := range x.measured {
		size := at.Size()
		all, kernels := cases(partitions, at), b.kernels()
		for repetition := 1; repetition <= b.rounds(); repetition++ {
			for _, rest := range all {
				for _, k := range kernels {
					others := x.draw(k, at, rest)
					if repetition <= b.repetitions(k) && !x.bad[place{k.Name, size}] && len(others) == len(rest) {
						group := fmt.Sprintf("%s size %d beside %q", k.Name, size, joinTexts(others))
						names := append(nearest.Names(others, func(j job) string { return j.Name }), k.Name)
						p.add(group, repetition, names, func(ctx context.Context) (*finishedRun[any], error) {
							return x.run(ctx, k, at, others, repetition)
						})
					}
				}
			}
			slices.Reverse(all)
			slices.Reverse(kernels)
		}
	}
	return p, nil
}

// firstInstance returns the instance of a size at its profile's first start.
func firstInstance(g *mig.GPU, size mig.Slices) mig.Instance {
	p := g.Profile(size)
	return mig.Instance{Profile: p, Start: p.Starts[0]}
}

// cases returns the sets of instances of some partitions on which other kernels run at the same time: the empty set,
// the largest instance, and every pair of sizes, larger pairs first.
func cases(partitions []mig.Partition, at mig.Instance) []mig.Partition {
	var ones, pairs []mig.Partition
	for _, p := range partitions {
		if !slices.Contains(p, at) {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(p), func(in mig.Instance) bool { return in == at })
		for i, a := range rest {
			ones = append(ones, mig.Partition{a})
			for _, b := range rest[i+1:] {
				pairs = append(pairs, mig.Partition{a, b})
			}
		}
	}
	sizes := func(p mig.Partition) []mig.Slices { // larger first
		a, b := p[0].Size(), p[len(p)-1].Size()
		return []mig.Slices{max(a, b), min(a, b)}
	}
	// Larger ones come first, then those further left; of two such pairs, the one with the larger instance on the left.
	order := func(a, b mig.Partition) int {
		return cmp.Or(slices.Compare(sizes(b), sizes(a)), cmp.Compare(a[0].Start, b[0].Start),
			cmp.Compare(a[len(a)-1].Start, b[len(b)-1].Start), cmp.Compare(b[0].Size(), a[0].Size()))
	}
	slices.SortFunc(ones, order)
	slices.SortFunc(pairs, order)
	pairs = slices.CompactFunc(pairs, func(a, b mig.Partition) bool { return slices.Equal(sizes(a), sizes(b)) })
	return slices.Concat([]mig.Partition{nil}, ones[:min(1, len(ones))], pairs)
}

// A job is a kernel on an instance.
type job struct {
	*launch.Kernel
	on profiling.Instance
}

// String returns name:size@start.
func (j job) String() string { return fmt.Sprintf("%s:%s", j.Name, j.on.Instance) }

// An isolated is the record of a run.
type isolated struct {
	Kernel  string
	Size    mig.Slices
	Beside  string
	Seconds float64
}

type isolation struct {
	*Bench
	// measured has the instance of the measured kernel for each size.
	measured []mig.Instance
	// bad holds the places where kernels do not run.
	bad map[place]bool
	// on has the instance of the measured kernel, rest the instances of the others.
	on, rest *stage
	// alone has the median of each kernel alone. rows fills it: the group without neighbours comes first.
	alone map[place]mig.Seconds
}

// warmUp runs every kernel on every size and finds out where they do not run.
func (x *isolation) warmUp(ctx context.Context) error {
	for _, at := range x.measured {
		size := at.Size()
		if err := x.on.set(ctx, fmt.Sprint("warming up on ", size), at); err != nil {
			return err
		}
		for _, k := range x.kernels() {
			if k.MinMemoryMB > 1000*at.Profile.MemoryGB { // an instance has somewhat less than 1024 MB for each GB
				x.bad[place{k.Name, size}] = true
				continue
			}
			out, err := warmUp(ctx, x.Launcher, k, x.on.made[0])
			if err != nil {
				return fmt.Errorf("%s %s: %w", k.Name, OnSlices(size), err)
			}
			x.bad[place{k.Name, size}] = out.Status != launch.OK
			if out.Status != launch.OK && out.Status != launch.OutOfMemory {
				x.fail(k.Name, OnSlices(size), out)
			}
		}
	}
	return nil
}

// draw returns random neighbours of a kernel, one for each instance of rest; the list is empty if no kernel can run on
// one of the instances.
func (x *isolation) draw(k *launch.Kernel, at mig.Instance, rest mig.Partition) (out []job) {
	rng := cellStream(fmt.Sprintf("%q %s beside %v", k.Name, at, []mig.Instance(rest)))
	for _, in := range rest {
		candidates := slices.DeleteFunc(slices.Clone(x.kernels()), func(c *launch.Kernel) bool {
			return c == k && len(x.Kernels) > 1 || x.bad[place{c.Name, in.Size()}]
		})
		if len(candidates) == 0 {
			return nil
		}
		neighbour := candidates[rng.IntN(len(candidates))]
		out = append(out, job{neighbour, profiling.Instance{Instance: in}})
	}
	return out
}

// headStart is how long the neighbours run before the measured kernel starts, so that their processes reach the GPU
// first.
const headStart = 500 * time.Millisecond

// run measures a kernel once while its neighbours run.
func (x *isolation) run(ctx context.Context, k *launch.Kernel, at mig.Instance, others []job,
	repetition int,
) (*finishedRun[any], error) {
	if err := x.enter(ctx, at, others, repetition); err != nil {
		return nil, err
	}
	jobs := append([]job{{k, x.on.made[0]}}, others...)
	outs, err := x.launchAll(ctx, jobs)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", k.Name, OnSlices(at.Size()), err)
	}
	failed, neighbours := false, joinTexts(others)
	for i, out := range outs {
		if out.Status == launch.OK || out.Status == "" {
			continue
		}
		failed = true
		where := OnSlices(jobs[i].on.Size())
		if i > 0 {
			where += " beside " + jobs[0].String()
		} else if neighbours != "" {
			where += " beside " + neighbours
		}
		x.fail(jobs[i].Name, where, out)
	}
	if failed {
		return nil, nil
	}
	r := isolated{k.Name, at.Size(), neighbours, float64(outs[0].Seconds)}
	return x.finish(r, outs[0].Start, outs[0].End), nil
}

// enter makes the instances of a run, unless they are there, and enters them in others.
func (x *isolation) enter(ctx context.Context, at mig.Instance, others []job, repetition int) error {
	var rest []mig.Instance
	for _, o := range others {
		rest = append(rest, o.on.Instance)
	}
	size := fmt.Sprint("size ", at.Size())
	if x.on.name != size { // The neighbours may occupy the slices of the next size.
		if err := x.rest.clear(ctx); err != nil {
			return err
		}
	}
	err := x.on.set(ctx, size, at)
	if err == nil {
		err = x.rest.set(ctx, fmt.Sprint(size, rest, repetition), rest...)
	}
	for i := 0; err == nil && i < len(others); i++ {
		others[i].on = x.rest.made[i]
	}
	return err
}

// launchAll runs the first job once, while the others restart whenever they end. It returns the outcome of the first,
// and the outcomes of those others that failed.
func (x *isolation) launchAll(ctx context.Context, jobs []job) ([]launch.Outcome, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	outs, errs := make([]launch.Outcome, len(jobs)), make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, o := range jobs[1:] {
		wg.Go(func() {
			for {
				out, err := x.Launcher.Launch(running, o.Kernel, o.on)
				if running.Err() != nil {
					return
				}
				if err != nil || out.Status != launch.OK {
					outs[i+1], errs[i+1] = out, err
					return
				}
			}
		})
	}
	if len(jobs) > 1 {
		select {
		case <-ctx.Done():
		case <-time.After(headStart):
		}
	}
	outs[0], errs[0] = x.Launcher.Launch(ctx, jobs[0].Kernel, jobs[0].on)
	stop()
	wg.Wait()
	return outs, errors.Join(errs...)
}

// rows returns the row of a case, with its difference from the kernel alone; none if the kernel has failed alone.
func (x *isolation) rows(from datasets.Provenance, load datasets.Load, runs []isolated) []datasets.IsolationTime {
	row := datasets.IsolationTime{
		Provenance: from, Kernel: runs[0].Kernel, Size: runs[0].Size, Runs: len(runs),
		Median: medianOf(runs, func(r *isolated) float64 { return r.Seconds }),
		Beside: runs[0].Beside, Timed: datasets.TimedProcess, Load: load,
	}
	at := place{row.Kernel, row.Size}
	switch {
	case row.Beside == "":
		x.alone[at] = row.Median
	case x.alone[at] == 0:
		return nil
	default:
		row.Difference = 100 * (float64(row.Median/x.alone[at]) - 1)
	}
	return []datasets.IsolationTime{row}
}

// IsolationTable shows, by instance size, the largest absolute difference between a kernel's times alone and beside
// others (FAR Table 2), or [reports.Missing].
func IsolationTable(_ *Bench, rows []datasets.IsolationTime) reports.Table {
	const title = "Largest difference in percent between kernels alone and beside others"
	t := reports.Table{
		Title:   TitleWithSource(title, rows[0].Provenance),
		Columns: reports.Left("kernel"),
		Notes:   []string{"instances share PCIe and the power limit, which MIG does not partition"},
	}
	sizes := Sizes(rows, func(r datasets.IsolationTime) mig.Slices { return r.Size })
	for _, size := range sizes {
		t.Columns = t.Columns.Right(fmt.Sprint(size))
	}
	for same := range reports.Grouped(rows, func(r *datasets.IsolationTime) string { return r.Kernel }) {
		t.Row(same[0].Kernel, nearest.Names(sizes, func(size mig.Slices) string {
			largest := math.NaN() // No comparison with NaN is true.
			for _, r := range same {
				if by := math.Abs(r.Difference); r.Size == size && r.Beside != "" && !(largest >= by) {
					largest = by
				}
			}
			return reports.Fixed(largest, 2)
		}))
	}
	return t
}
