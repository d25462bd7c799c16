package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/cuda"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/profiling/nvml"
	"miglab/profiling/session"
)

// profileFlags are what the experiments have in common.
type profileFlags struct {
	device       deviceFlags
	kernels      kernelFlags
	out          string
	repetitions  int
	milliseconds int
	warmUp       int
	small        bool
	check        bool
}

// newProfile returns the command that measures kernels on every size, with a command for each other experiment.
func newProfile() *cobra.Command {
	all := experiments()
	c := newExperiment(all[0])
	for _, x := range all[1:] {
		c.AddCommand(newExperiment(x))
	}
	return c
}

// newExperiment returns the command of an experiment.
func newExperiment(x experiment) *cobra.Command {
	var f profileFlags
	c := &cobra.Command{
		Use: cmp.Or(x.Name, "profile"), Short: x.Short, Example: x.Example, Args: cli.Arguments(0, 0, ""),
	}
	flags := c.Flags()
	f.device.register(c, x.Modes...)
	cli.AddFolder(c, &f.out, "out", filepath.Join("results", "profile"), "folder for what is measured")
	cli.AddFlag(c, &f.repetitions, "repetitions", "0", cli.AtLeast(0),
		"how often everything is measured; 0 means what the manifest says, or 10 (in common windows: once)")
	if x.Kernels {
		f.kernels.register(c)
	}
	if slices.Contains(x.Modes, mig.SourcePartition) {
		cli.AddFlag(c, &f.milliseconds, "milliseconds", "200", cli.AtLeast(1),
			"how long rates are measured")
		cli.AddFlag(c, &f.warmUp, "warm-up", "100", cli.AtLeast(0),
			"milliseconds that each kernel runs before")
		flags.BoolVar(&f.small, "small", false, "inputs as small as those of kernel --verify, for tests")
	}
	if x.Name == "" {
		flags.BoolVar(&f.check, "check", false, "say what is missing, and run nothing")
	}
	run := x.Run
	if x.flags != nil {
		run = x.flags(flags)
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c, x, run) }
	return c
}

// run runs an experiment, or checks what it needs.
func (f *profileFlags) run(c *cobra.Command, x experiment, run measure.Runner) error {
	b := &measure.Bench{
		Dir: f.out, Repetitions: f.repetitions, Window: time.Duration(f.milliseconds) * time.Millisecond,
		Warn: func(what string) { fmt.Fprintln(c.ErrOrStderr(), "miglab:", what) },
	}
	if f.device.mode == mig.SourcePartition {
		return f.onPartitions(c, x, b, run)
	}
	var err error
	if x.Kernels {
		if b.Kernels, err = f.kernels.read(); err != nil {
			return err
		}
	}
	if f.check {
		return checkAll(c, &f.device, b.Kernels)
	}
	return f.device.inSession(c, func(profiling.Identity) error {
		return cmp.Or(allReady(b.Kernels), writable(f.out))
	}, func(s *session.Session) error {
		b.Session = s
		if err := saveModel(f.out, b.Session.Identity().Model); err != nil {
			return err
		}
		return runExperiment(c, x, b, run)
	})
}

// onPartitions runs an experiment on parts of the multiprocessors, in this process.
func (f *profileFlags) onPartitions(c *cobra.Command, x experiment, b *measure.Bench,
	run measure.Runner,
) (err error) {
	if b.Kernels, err = f.kernels.own(); err != nil {
		return err
	}
	if f.device.device != "" {
		// A number is the driver's, as in the other modes.
		err := errors.Join(os.Setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
			os.Setenv("CUDA_VISIBLE_DEVICES", f.device.device))
		if err != nil {
			return err
		}
	}
	device, err := cuda.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	b.Partitions = &measure.Partitions{
		Device: device, WarmUp: time.Duration(f.warmUp) * time.Millisecond, Small: f.small,
	}
	if err := f.watch(c, b.Partitions, device.Facts); err != nil {
		return err
	}
	return runExperiment(c, x, b, run)
}

// watch finds out who else uses a GPU, and samples it. Without NVML it cannot; then the rows say that their conditions
// are unknown.
func (f *profileFlags) watch(c *cobra.Command, p *measure.Partitions, facts cuda.Facts) error {
	watch, driver, others, err := nvml.WatchGPU(facts.UUID)
	if err != nil {
		fmt.Fprintf(c.ErrOrStderr(), "miglab: the conditions of the GPU are unknown: %v\n", err)
		watch = &profiling.Watch{}
	}
	if others < 0 {
		fmt.Fprintln(c.ErrOrStderr(), "miglab: whether others use the GPU is unknown")
	}
	// This process may be among those that the driver counts.
	if others > 1 && !f.device.beside {
		watch.Close()
		return &profiling.DeviceError{
			Op: "measure on " + facts.UUID, Err: fmt.Errorf("%w: %d processes use the GPU", profiling.ErrBusy, others),
			Remedy: "wait for them, or give --with-others",
		}
	}
	p.UUID, p.Watch = facts.UUID, watch
	p.From = measure.Provenance(profiling.Identity{
		Name: facts.Name, Driver: cmp.Or(driver, facts.Driver), Source: mig.SourcePartition,
		Model: &mig.GPU{Name: profiling.Board(facts.Name, facts.MemoryMiB, facts.SMs)}, // MIG's profiles are not needed
	})
	return nil
}

// runExperiment makes the runs of an experiment, and words how they ended.
func runExperiment(c *cobra.Command, x experiment, b *measure.Bench, run measure.Runner) error {
	return cli.RunUnits(c, x.Noun, func(p *cli.Progress) error {
		b.Progress = p.Set
		rows, err := run(c.Context(), b, c.OutOrStdout())
		kept := "nothing was measured"
		if rows > 0 {
			kept = fmt.Sprintf("%s has %d rows of what was measured", b.Dir, rows)
		}
		var failures *measure.FailedError
		switch {
		case c.Context().Err() != nil:
			return cli.InterruptedError{Kept: kept + "; the same command goes on"}
		case errors.As(err, &failures):
			return cli.FailedError{Err: err}
		case err != nil && rows > 0:
			return fmt.Errorf("%w; %s", err, kept)
		}
		return err
	})
}

// saveModel writes a model that the program's table lacks into a folder of measurements. Other commands take the file
// as --gpu.
func saveModel(dir string, g *mig.GPU) error {
	if g.Origin == "" {
		return nil
	}
	return atomicfile.Write(filepath.Join(dir, "gpu.json"), g.JSON())
}

// checkAll lists everything that a run would miss, the GPU included.
func checkAll(c *cobra.Command, df *deviceFlags, kernels []launch.Kernel) error {
	errs := missingParts(kernels)
	device, err := df.open()
	if err == nil {
		err = device.Close()
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return cli.FailedError{Err: err}
	}
	fmt.Fprintf(c.OutOrStdout(), "%d kernels are there, and so is the GPU\n", len(kernels))
	return nil
}
