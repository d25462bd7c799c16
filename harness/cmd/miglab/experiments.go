package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
	"miglab/profiling/mps"
	"miglab/profiling/session"
	"miglab/reports"
)

// measured has the rows of an experiment, which are complete unless there is an error.
type measured struct {
	file  string
	rows  int
	write func(io.Writer) error
	// table is written beside the file, under the file's name and -table.
	table reports.Table
}

// goesOn says what the same command does after an interruption.
const goesOn = "the same command goes on"

// options are those of an experiment that keeps its finished runs beside its rows.
func (f *profileFlags) options(c *cobra.Command, file string, progress *progress) measure.Options {
	return measure.Options{
		Repetitions: f.repetitions, Seed: f.seed, Progress: progress.set, File: filepath.Join(f.out, strings.TrimSuffix(file, ".csv")+"-runs.jsonl"),
		Warn: func(what string) { warn(c, what) },
	}
}

// warn prints a line that is no error; nothing if it is empty.
func warn(c *cobra.Command, what string) {
	if what != "" {
		fmt.Fprintln(c.ErrOrStderr(), "miglab:", what)
	}
}

// keep writes what was measured however the experiment ended, and words the end. If a file cannot
// be written, the error is that one, or the one that ended the experiment.
func (f *profileFlags) keep(c *cobra.Command, m measured, err error) error {
	var failures *measure.FailedError
	path := filepath.Join(f.out, m.file)
	interrupted := interruptedError{"nothing was measured in this call; " + goesOn}
	if m.rows > 0 {
		unsaved := f.save(m.file, m.write)
		if unsaved == nil {
			unsaved = f.saveTable(strings.TrimSuffix(m.file, ".csv")+"-table", m.table)
		}
		switch {
		case unsaved != nil && (err == nil || errors.As(err, &failures)):
			return fmt.Errorf("%s cannot be written: %w; solve this, and %s", path, unsaved, goesOn)
		case unsaved != nil:
			return err
		}
		if unprinted := m.table.Text(c.OutOrStdout()); unprinted != nil {
			return errors.Join(unprinted, err)
		}
		interrupted.kept = path + " has what was measured until then; " + goesOn
	}
	switch {
	case c.Context().Err() != nil:
		return interrupted
	case errors.As(err, &failures):
		return failedError{err}
	case err != nil && m.rows > 0:
		return fmt.Errorf("%w; %s has what was measured until then", err, path)
	}
	return err
}

func newReconfiguration() *cobra.Command {
	var f profileFlags
	c := &cobra.Command{
		Use:   "reconfiguration",
		Short: "Measure what creating and destroying instances costs, one by one and at once",
		Example: "  sudo miglab profile reconfiguration --out results/profile/a100\n" +
			"  sudo miglab profile reconfiguration --repetitions 100",
		RunE: func(c *cobra.Command, _ []string) error {
			if f.device.mode != string(profiling.MIG) {
				return fmt.Errorf("--mode %s has nothing to reconfigure", f.device.mode)
			}
			return f.on(c, nil, func(s *session.Session) error {
				progress := newProgress(c.ErrOrStderr(), "rounds")
				rows, err := measure.Reconfiguration(c.Context(), s, f.options(c, "reconfiguration.csv", progress))
				progress.done()
				return f.keep(c, measured{
					"reconfiguration.csv", len(rows), func(w io.Writer) error { return datasets.WriteHardware(w, rows) },
					measure.ReconfigurationTable(rows, s.Identity().Model),
				}, err)
			})
		},
	}
	f.registerTimed(c)
	return c
}

func newIsolation() *cobra.Command {
	var f profileFlags
	c := &cobra.Command{
		Use:     "isolation",
		Short:   "Measure kernels alone and beside one or two others on the same GPU",
		Example: "  sudo miglab profile isolation --kernels rodinia --set rodinia=/opt/rodinia",
		RunE: func(c *cobra.Command, _ []string) error {
			kernels, err := f.kernels.read()
			if err != nil {
				return err
			}
			return f.on(c, kernels, func(s *session.Session) error {
				progress := newProgress(c.ErrOrStderr(), "runs")
				rows, err := measure.Isolation(c.Context(), s, kernels, f.options(c, "isolation.csv", progress))
				progress.done()
				return f.keep(c, measured{
					"isolation.csv", len(rows), func(w io.Writer) error { return datasets.WriteHardware(w, rows) }, measure.IsolationTable(rows),
				}, err)
			})
		},
	}
	f.kernels.register(c)
	f.kernels.registerWall(c)
	f.registerDrawn(c)
	return c
}

func newCorun() *cobra.Command {
	var f profileFlags
	var o overlapFlags
	var splits []string
	c := &cobra.Command{
		Use:     "corun",
		Short:   "Measure kernels that share a GPU under MPS, for the co-run model",
		Long:    helpText("profile-corun.txt"),
		Example: helpText("profile-corun-examples.txt"),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.device.mode == string(profiling.SMPartition) {
				if !c.Flags().Changed("splits") {
					splits = []string{"64:64"}
				}
				return o.corun(c, &f, splits)
			}
			return f.corunOfProcesses(c, &o, splits)
		},
	}
	f.kernels.register(c)
	f.kernels.registerWall(c)
	f.registerDrawn(c)
	o.register(c)
	o.registerCorun(c)
	c.Flags().StringSliceVar(&splits, "splits", []string{"25:75", "50:50", "75:25"}, "percentages of the jobs, joined by colons; numbers of multiprocessors with --mode sm-partition (64:64)")
	return c
}

// corunOfProcesses measures kernels that run as processes: under MPS on the whole GPU or in an instance.
func (f *profileFlags) corunOfProcesses(c *cobra.Command, o *overlapFlags, splits []string) error {
	if err := unused(c, partitionOnly, partitionOnlyHint); err != nil {
		return err
	}
	if f.device.mode != string(profiling.MPSSMLimit) && o.size == 0 {
		return fmt.Errorf("--mode %s: co-runs are measured under MPS or on partitions; give --mode %s or %s, or the --size of the instance that the kernels share", f.device.mode, profiling.MPSSMLimit, profiling.SMPartition)
	}
	kernels, err := f.kernels.read()
	if err != nil {
		return err
	}
	if err := o.known(kernels); err != nil {
		return err
	}
	switch common := windowed(kernels) && !f.kernels.wall; {
	case f.device.mode == string(profiling.MIG) && !common:
		return errors.New("--size: only kernels with window: true in their manifest run in an instance together")
	case f.device.mode == string(profiling.MIG):
		return o.onInstance(c, f, kernels, splits)
	case o.size != 0:
		return fmt.Errorf("--size: only --mode %s has it", profiling.MIG)
	case common:
		return o.processes(c, f, kernels, splits)
	}
	if err := unused(c, windowOnly, windowOnlyHint); err != nil {
		return err
	}
	mixes, err := mixesOf(kernels, splits)
	if err != nil {
		return err
	}
	return f.on(c, kernels, func(s *session.Session) error {
		d, ok := s.Device().(*mps.Device)
		if !ok {
			return fmt.Errorf("the device of mode %s has no shares", f.device.mode)
		}
		progress := newProgress(c.ErrOrStderr(), "mixes")
		rows, err := measure.Corun(c.Context(), measure.Shared{GPU: s.Identity(), Share: d.Share, Device: d}, mixes, f.options(c, "corun.csv", progress))
		progress.done()
		return f.keep(c, measured{
			"corun.csv", len(rows), func(w io.Writer) error { return datasets.WriteHardware(w, rows) }, measure.CorunTable(rows),
		}, err)
	})
}

// mixesOf combines kernels: each set of as many as a split has percentages.
func mixesOf(kernels []kernel.Kernel, splits []string) ([]measure.Mix, error) {
	var mixes []measure.Mix
	for _, split := range splits {
		var percents []float64
		sum := 0.0
		for field := range strings.SplitSeq(split, ":") {
			x, err := parsePercent(split, field)
			if err != nil {
				return nil, err
			}
			percents = append(percents, x)
			sum += x
		}
		switch {
		case len(percents) < 2 || sum > 100:
			return nil, fmt.Errorf("--splits %s: at least two percentages of at most 100 together", split)
		case len(percents) > len(kernels):
			return nil, fmt.Errorf("--splits %s: there are %d kernels", split, len(kernels))
		}
		var choose func(from int, mix measure.Mix)
		choose = func(from int, mix measure.Mix) {
			if len(mix) == len(percents) {
				mixes = append(mixes, slices.Clone(mix))
				return
			}
			for i := from; i < len(kernels); i++ {
				choose(i+1, append(mix, measure.Job{Kernel: &kernels[i], Percent: percents[len(mix)]}))
			}
		}
		choose(0, nil)
	}
	return mixes, nil
}
