package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/profiling"
	"miglab/profiling/cuda"
	"miglab/profiling/kernel"
	"miglab/profiling/kernels"
	"miglab/profiling/measure"
	"miglab/profiling/mps"
	"miglab/profiling/nvml"
	"miglab/profiling/session"
)

// overlapFlags are those of measurements in windows in which several kernels run.
type overlapFlags struct {
	milliseconds, warmUp int
	small                bool
	sms                  []int
	against              string
	intensities          []int
	sample               int
	size                 int
}

// The flags that only --mode sm-partition has, and those that only kernels have which can
// measure their rate in a common window.
var (
	partitionOnly = []string{"warm-up", "small", "sms"}
	windowOnly    = []string{"milliseconds", "against", "intensities", "sample"}
)

func (o *overlapFlags) register(c *cobra.Command) {
	addFlag(c, &o.milliseconds, "milliseconds", "200", atLeast(1), "how long rates are measured (sm-partition)")
	addFlag(c, &o.warmUp, "warm-up", "100", atLeast(0), "milliseconds that each kernel runs before (sm-partition)")
	c.Flags().BoolVar(&o.small, "small", false, "inputs as small as those of kernel --verify, for tests (sm-partition)")
}

func (o *overlapFlags) registerScaling(c *cobra.Command) {
	c.Flags().IntSliceVar(&o.sms, "sms", nil, "numbers of multiprocessors (sm-partition; default: every eighth and all)")
}

func (o *overlapFlags) registerCorun(c *cobra.Command) {
	c.Flags().StringVar(&o.against, "against", "", "run each kernel beside this one at each intensity (sm-partition)")
	c.Flags().IntSliceVar(&o.intensities, "intensities", []int{25, 50, 75, 100}, "shares of the time in percent in which the other kernel runs (sm-partition)")
	addFlag(c, &o.size, "size", "0", atLeast(0), "slices of the MIG instance that the kernels share (mig)")
	addFlag(c, &o.sample, "sample", "0", atLeast(0), "draw so many of the groups; 0 means all (sm-partition)")
}

// unused refuses flags that have no meaning, and says what has them.
func unused(c *cobra.Command, names []string, who string) error {
	for _, name := range names {
		if flag := c.Flags().Lookup(name); flag != nil && flag.Changed {
			return fmt.Errorf("--%s: only %s", name, who)
		}
	}
	return nil
}

// partitionOnlyHint and windowOnlyHint end the errors of [unused].
const (
	partitionOnlyHint = "--mode " + string(profiling.SMPartition) + " has it"
	windowOnlyHint    = "--mode " + string(profiling.SMPartition) + " has it, and co-runs of kernels with window: true in their manifest"
)

// programs returns the names of the kernels that --only names, or of all.
func programs(f *kernelFlags) ([]string, error) {
	if f.manifest != "miglab" {
		return nil, fmt.Errorf("--kernels %s: --mode %s runs the program's own kernels only; leave it out", f.manifest, profiling.SMPartition)
	}
	if f.wall || len(f.set) > 0 {
		return nil, fmt.Errorf("--wall and --set have no meaning with --mode %s", profiling.SMPartition)
	}
	all := kernelNames()
	for _, name := range f.only {
		if !slices.Contains(all, name) {
			return nil, nearest.Unknown("kernel", name, all)
		}
	}
	if len(f.only) > 0 {
		return f.only, nil
	}
	return all, nil
}

// scaling measures each kernel alone on several numbers of multiprocessors.
func (o *overlapFlags) scaling(c *cobra.Command, f *profileFlags, check bool) error {
	names, err := programs(&f.kernels)
	if err != nil {
		return err
	}
	if check {
		if err := cuda.Installed(); err != nil {
			return failedError{err}
		}
		fmt.Fprintf(c.OutOrStdout(), "%d kernels are there, and so is the driver's library\n", len(names))
		return nil
	}
	return o.measure(c, f, func(all int) ([]measure.Group, error) {
		counts := o.sms
		for n := 8; len(o.sms) == 0 && n < all; n += 8 {
			counts = append(counts, n)
		}
		if len(o.sms) == 0 {
			counts = append(counts, all)
		}
		for _, n := range counts {
			if n < 1 || n > all {
				return nil, fmt.Errorf("--sms %d: the GPU has %d multiprocessors", n, all)
			}
		}
		return measure.Scaling(names, counts), nil
	})
}

// corun measures kernels that run at the same time on partitions, or without any limit.
func (o *overlapFlags) corun(c *cobra.Command, f *profileFlags, splits []string) error {
	names, err := programs(&f.kernels)
	if err != nil {
		return err
	}
	if o.against != "" {
		if _, err := kernels.Lookup(o.against); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
	}
	return o.measure(c, f, func(all int) ([]measure.Group, error) {
		return o.groups(names, splits, all, f.seed, func(split string) ([]int, error) { return parseSplit(split, all) })
	})
}

// groups combines kernels by splits into numbers of multiprocessors.
func (o *overlapFlags) groups(names, splits []string, all int, seed uint64, parse func(string) ([]int, error)) ([]measure.Group, error) {
	var parsed [][]int
	for _, split := range splits {
		p, err := parse(split)
		if err != nil {
			return nil, err
		}
		if len(p) > len(names) && o.against == "" {
			return nil, fmt.Errorf("--splits %s: there are %d kernels", split, len(names))
		}
		if o.against != "" && len(p) != 2 {
			return nil, fmt.Errorf("--splits %s: two numbers go with --against", split)
		}
		parsed = append(parsed, p)
	}
	if o.against == "" {
		return measure.AloneToo(measure.Combine(names, parsed, o.sample, seed), all), nil
	}
	for _, i := range o.intensities {
		if i < 1 || i > 100 {
			return nil, fmt.Errorf("--intensities %d: a share of the time is from 1 to 100 percent", i)
		}
	}
	return measure.AloneToo(measure.Against(names, o.against, o.intensities, parsed), all), nil
}

// known refuses an --against that is not one of the kernels.
func (o *overlapFlags) known(all []kernel.Kernel) error {
	names := kernelsNames(all)
	if o.against != "" && !slices.Contains(names, o.against) {
		return fmt.Errorf("--against: %w", nearest.Unknown("kernel", o.against, names))
	}
	return nil
}

// windowed reports whether all kernels can measure their rate in a common window.
func windowed(all []kernel.Kernel) bool {
	return !slices.ContainsFunc(all, func(k kernel.Kernel) bool { return !k.Window })
}

// processes measures kernels that share a GPU under MPS, each in a process. Splits are in
// percent of the multiprocessors.
func (o *overlapFlags) processes(c *cobra.Command, f *profileFlags, all []kernel.Kernel, splits []string) error {
	return f.on(c, all, func(s *session.Session) error {
		d, ok := s.Device().(*mps.Device)
		if !ok {
			return fmt.Errorf("the device of mode %s has no shares", f.device.mode)
		}
		watch, err := d.Watch()
		if err != nil {
			return err
		}
		defer watch.Close()
		about := measure.About{Provenance: measure.Provenance(s.Identity()), SMs: d.SMs(), Watch: watch}
		return o.shares(c, f, all, splits, about, d.Share)
	})
}

// shares measures kernels at the same time, each with a share of the multiprocessors.
func (o *overlapFlags) shares(c *cobra.Command, f *profileFlags, all []kernel.Kernel, splits []string, about measure.About, share func(float64) profiling.Instance) error {
	groups, err := o.groups(kernelsNames(all), splits, about.SMs, f.seed, func(split string) ([]int, error) { return parsePercents(split, about.SMs) })
	if err != nil {
		return err
	}
	return o.overlap(c, f, &measure.Processes{Where: about, Kernels: all, Share: share}, groups)
}

func kernelsNames(all []kernel.Kernel) (names []string) {
	for _, k := range all {
		names = append(names, k.Name)
	}
	return names
}

// onInstance measures kernels that share a MIG instance under an MPS daemon of its own.
func (o *overlapFlags) onInstance(c *cobra.Command, f *profileFlags, all []kernel.Kernel, splits []string) error {
	return f.on(c, all, func(s *session.Session) (err error) {
		g := s.Identity().Model
		p := g.Profile(mig.Slices(o.size))
		if p == nil {
			return fmt.Errorf("--size %d: %s has instances of the sizes %v", o.size, g, g.Sizes())
		}
		if p.SMs == 0 {
			return fmt.Errorf("--size %d: nothing is published about the multiprocessors of %s on %s", o.size, p, g)
		}
		on, _, err := s.Create(c.Context(), mig.Instance{Profile: p, Start: p.Starts[0]})
		if err != nil {
			return err
		}
		if err := s.Serving(on, true); err != nil {
			return err
		}
		server, err := mps.Serve(c.Context(), f.device.state, on)
		if err != nil {
			return err
		}
		defer func() {
			left := server.Close()
			if left == nil {
				left = s.Serving(on, false)
			}
			err = errors.Join(err, left)
		}()
		var watch *profiling.Watch
		if w, ok := s.Device().(profiling.Watcher); ok {
			if watch, err = w.Watch(); err != nil {
				return err
			}
		}
		defer watch.Close()
		about := measure.About{Provenance: measure.Provenance(s.Identity()), SMs: on.Profile.SMs, Watch: watch}
		return o.shares(c, f, all, splits, about, server.Share)
	})
}

// parsePercents reads shares in percent as numbers of multiprocessors, or all for each job.
func parsePercents(split string, all int) ([]int, error) {
	return parseShares(split, all, func(field string) (int, error) {
		x, err := parsePercent(split, field)
		return max(1, int(x*float64(all)/100)), err
	})
}

// parsePercent reads a share of a split, in percent.
func parsePercent(split, field string) (float64, error) {
	x, err := strconv.ParseFloat(field, 64)
	if err != nil || !(x > 0 && x <= 100) {
		return 0, fmt.Errorf("--splits %s: %q is not a percentage; write a number above 0 and at most 100", split, field)
	}
	return x, nil
}

// parseSplit reads numbers of multiprocessors, or all for each job.
func parseSplit(split string, all int) ([]int, error) {
	return parseShares(split, all, func(field string) (int, error) {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("--splits %s: %q is not a number of multiprocessors, nor %s", split, field, datasets.All)
		}
		return n, nil
	})
}

// parseShares returns the multiprocessors of each job of a split, of which number reads one; 0 for
// each if the split says all.
func parseShares(split string, all int, number func(field string) (int, error)) ([]int, error) {
	var out []int
	sum, limited := 0, 0
	fields := strings.Split(split, ":")
	for _, field := range fields {
		if field == datasets.All {
			out = append(out, 0)
			continue
		}
		n, err := number(field)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
		sum += n
		limited++
	}
	switch {
	case len(fields) < 2:
		return nil, fmt.Errorf("--splits %s: at least two numbers, joined by colons", split)
	case limited > 0 && limited < len(fields):
		return nil, fmt.Errorf("--splits %s: give %s for each job or for none", split, datasets.All)
	case sum > all:
		return nil, fmt.Errorf("--splits %s: together %d multiprocessors, and the GPU has %d", split, sum, all)
	}
	return out, nil
}

// measure opens the GPU and measures groups, of which it tells the GPU's number of
// multiprocessors.
func (o *overlapFlags) measure(c *cobra.Command, f *profileFlags, groups func(all int) ([]measure.Group, error)) (err error) {
	if f.device.device != "" {
		if err := os.Setenv("CUDA_VISIBLE_DEVICES", f.device.device); err != nil {
			return err
		}
	}
	if err := writable(f.out); err != nil {
		return err
	}
	device, err := cuda.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	facts := device.Facts()
	about, err := o.about(c, f, facts)
	if err != nil {
		return err
	}
	defer about.Watch.Close()
	all, err := groups(facts.SMs)
	if err != nil {
		return err
	}
	on := &measure.Partitions{
		Device: device, Where: about, WarmUp: time.Duration(o.warmUp) * time.Millisecond, Small: o.small, Seed: f.seed,
	}
	return o.overlap(c, f, on, all)
}

// overlap measures groups.
func (o *overlapFlags) overlap(c *cobra.Command, f *profileFlags, on measure.Ground, groups []measure.Group) error {
	progress := newProgress(c.ErrOrStderr(), "groups")
	rows, err := measure.Overlap(c.Context(), on, groups, filepath.Join(f.out, "overlap.csv"), measure.OverlapOptions{
		Repetitions: cmp.Or(f.repetitions, 1), Window: time.Duration(o.milliseconds) * time.Millisecond, Progress: progress.set,
	})
	progress.done()
	warn(c, measure.Gaps(on.About().Watch))
	return o.keep(c, f, rows, err)
}

// keep writes the table of what was measured, however that ended. The error is that end, or that
// the table cannot be written.
func (o *overlapFlags) keep(c *cobra.Command, f *profileFlags, rows []datasets.OverlapRate, err error) error {
	path := filepath.Join(f.out, "overlap.csv")
	var failures *measure.FailedError
	if len(rows) > 0 {
		switch unsaved := f.saveTable("overlap-table", measure.OverlapTable(rows)); {
		case unsaved != nil && (err == nil || errors.As(err, &failures)):
			return fmt.Errorf("the table beside %s cannot be written: %w; solve this, and %s", path, unsaved, goesOn)
		case unsaved == nil:
			fmt.Fprintf(c.OutOrStdout(), "%d rows in %s, a table beside it\n", len(rows), path)
		}
	}
	switch {
	case c.Context().Err() != nil:
		return interruptedError{path + " has what was measured; the same command goes on"}
	case errors.As(err, &failures):
		return failedError{err}
	}
	return err
}

// about says what is known of the GPU. Without NVML nothing can sample it; then the rows say
// that their conditions are unknown.
func (o *overlapFlags) about(c *cobra.Command, f *profileFlags, facts cuda.Facts) (measure.About, error) {
	id := profiling.Identity{Name: facts.Name, MemoryMiB: facts.MemoryMiB, Source: profiling.SMPartition}
	id.Model = &mig.GPU{Name: profiling.Board(facts.Name, facts.MemoryMiB, facts.SMs)} // MIG's profiles are not needed
	watch, driver, others, err := nvml.WatchGPU(facts.UUID)
	if err != nil {
		fmt.Fprintf(c.ErrOrStderr(), "miglab: the conditions of the GPU are unknown: %v\n", err)
	}
	// This process may be among those that the driver counts.
	if others > 1 && !f.device.beside {
		watch.Close()
		return measure.About{}, &profiling.DeviceError{
			Op: "measure on " + facts.UUID, Err: fmt.Errorf("%w: %d processes use the GPU", profiling.ErrBusy, others),
			Remedy: "wait for them, or give --with-others",
		}
	}
	id.Driver = cmp.Or(driver, facts.Driver)
	return measure.About{Provenance: measure.Provenance(id), SMs: facts.SMs, Watch: watch}, nil
}
