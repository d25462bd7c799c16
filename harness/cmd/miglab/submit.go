package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/nearest"
	"miglab/harness/sweep"
	"miglab/harness/sweep/slurm"
	figures "miglab/paper-figures"
)

type submitFlags struct {
	missing, sweep, partition, time string
	extra                           []string
	tasks, arrayLimit               int
	dryRun                          bool
}

func newSubmit() *cobra.Command {
	c := &cobra.Command{
		Use:   "submit slurm [flags] -- run|reproduce|train ...",
		Short: "Spread a command over a cluster with Slurm",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && newSpreadable(args[0]) == nil {
				return nearest.Unknown("engine", args[0], []string{"slurm"})
			}
			return errors.New("submit needs an engine, as in miglab submit slurm -- run --algorithms far " +
				"--datasets WIDETIMES")
		},
	}
	c.Flags().SetInterspersed(false) // what follows the command's name is the command's
	c.AddCommand(newSubmitSlurm())
	return c
}

func newSubmitSlurm() *cobra.Command {
	var f submitFlags
	c := &cobra.Command{
		Use:   "slurm [flags] -- run|reproduce|train ...",
		Short: "Submit tasks to Slurm",
		Args:  cobra.ArbitraryArgs,
		RunE:  f.run,
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&f.missing, "missing", "", "folder of a sweep: submit its tasks that miss results")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be submitted, and write nothing")
	cli.AddFlag(c, &f.arrayLimit, "array-limit", "0", cli.AtLeast(0),
		"tasks at a time; 0 means as many as there is room for")
	cli.AddFlag(c, &f.tasks, "tasks", "16", cli.AtLeast(1), "tasks to cut the command into, at most")
	c.Flags().StringVar(&f.sweep, "sweep", "",
		"folder for the sweep (default: sweeps/NAME in the command's folder for results)")
	c.Flags().StringVar(&f.partition, "partition", "", "partition")
	c.Flags().StringVar(&f.time, "time", "", "time limit of a task, as sbatch takes it")
	c.Flags().StringArrayVar(&f.extra, "extra", nil, "more for sbatch, separated by spaces")
	return c
}

func (f *submitFlags) run(c *cobra.Command, args []string) error {
	s, fresh, err := f.open(c, args)
	if err != nil {
		return err
	}
	if strings.Contains(s.dir, `\`) {
		return fmt.Errorf("%s: Slurm cannot write logs below a folder with a backslash in its name; choose another "+
			"with --sweep", s.dir)
	}
	out, err := f.submission(s)
	if err != nil {
		return err
	}
	status, err := sweep.ReadStatus(s.dir, s.plan, s.job)
	if err != nil {
		return err
	}
	tasks := status.Unfinished
	if !fresh && len(tasks) > 0 {
		queue, err := slurm.Queue(c.Context(), out.Name)
		if err != nil {
			return err
		}
		queued := slices.Collect(maps.Keys(queue))
		tasks = slices.DeleteFunc(slices.Clone(tasks), func(task int) bool { return slices.Contains(queued, task) })
	}
	send := []string{out.ScriptPath(), "submit", slurm.Ranges(tasks)}
	jobs := ""
	if len(tasks) > 0 && !f.dryRun {
		if err := s.prepare(out, fresh); err != nil {
			return err
		}
		if jobs, err = slurm.Run(c.Context(), "/bin/sh", send...); err != nil {
			if fresh {
				s.discard(out)
			}
			return err
		}
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "sweep    %s\nwork     %s in %s, %d of which are submitted\n", s.dir,
		cli.Count(s.plan.Count, s.unitName()), cli.Count(s.plan.Tasks, "tasks"), len(tasks))
	switch {
	case status.Unfinished == nil:
		fmt.Fprintf(w, "nothing is missing; merge with: miglab merge %s\n", slurm.Word(s.dir))
	case len(tasks) == 0:
		fmt.Fprintf(w, "the %d tasks that miss results are in the queue\n", len(status.Unfinished))
	case f.dryRun:
		fmt.Fprintf(w, "\n%s:\n%s\ncommand:\nsh %s\n", out.ScriptPath(), out.Script(), slurm.Words(send))
	default:
		fmt.Fprintf(w, "%sstatus   miglab status %s\n", jobs, slurm.Word(s.dir))
	}
	return nil
}

// submission returns how the flags submit tasks of a sweep.
func (f *submitFlags) submission(s *openSweep) (*slurm.Submission, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("sbatch"); err != nil && !f.dryRun {
		return nil, errors.New("no sbatch on the PATH: miglab submit slurm works where jobs are submitted, as on a " +
			"login node; miglab run needs no Slurm")
	}
	out := slurm.Submission{
		Name: s.jobName(), Program: program, Sweep: s.dir, Dir: s.plan.Dir, Limit: f.arrayLimit,
	}
	if f.partition != "" {
		out.Args = append(out.Args, "--partition="+f.partition)
	}
	if f.time != "" {
		out.Args = append(out.Args, "--time="+f.time)
	}
	for _, extra := range f.extra {
		out.Args = append(out.Args, strings.Fields(extra)...)
	}
	return &out, nil
}

// open finds the sweep that is to be submitted or plans it.
func (f *submitFlags) open(c *cobra.Command, args []string) (s *openSweep, fresh bool, err error) {
	if f.missing != "" {
		for _, flag := range []string{"tasks", "sweep"} {
			if c.Flags().Changed(flag) {
				return nil, false, fmt.Errorf("--%s has no meaning with --missing: the sweep is there", flag)
			}
		}
		if len(args) > 0 {
			return nil, false, fmt.Errorf("--missing submits the command of the sweep and cannot use %q, too", args[0])
		}
		if s, err = readSweep(c, f.missing); err != nil {
			return nil, false, err
		}
		return s, false, s.sameProgram()
	}
	if s, err = f.plan(c, args); err != nil {
		return nil, false, err
	}
	old, err := sweep.ReadPlan(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if entries, err := os.ReadDir(s.dir); err == nil && len(entries) > 0 {
			return nil, false, fmt.Errorf("%s holds other things than a sweep; choose another folder with --sweep",
				s.dir)
		}
		return s, true, nil
	case err != nil:
		return nil, false, err
	case old.Hash != s.plan.Hash:
		return nil, false, fmt.Errorf("%s holds another sweep, of miglab %s; choose another folder with --sweep", s.dir,
			slurm.Words(old.Args))
	case c.Flags().Changed("tasks") && s.plan.Tasks != old.Tasks:
		return nil, false, fmt.Errorf("--tasks %d: the sweep is there, with %d tasks, in %s", f.tasks, old.Tasks, s.dir)
	}
	s.plan = old
	return s, false, s.sameProgram()
}

// plan spreads the work of a command over tasks.
func (f *submitFlags) plan(c *cobra.Command, args []string) (*openSweep, error) {
	w, err := readAssignment(args)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	program, err := figures.Program()
	if err != nil {
		return nil, err
	}
	s := &openSweep{assignment: w, job: w.job(c)}
	s.plan = sweep.New(args, dir, program, s.job, f.tasks)
	s.dir = f.sweep
	if s.dir == "" {
		s.dir = filepath.Join(w.results, "sweeps", s.plan.Name())
	}
	s.dir, err = filepath.Abs(s.dir)
	return s, err
}

// prepare makes the sweep's folder, if it does not exist, and writes the script.
func (s *openSweep) prepare(out *slurm.Submission, fresh bool) error {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return err
	}
	err := os.Mkdir(filepath.Join(s.dir, "logs"), 0o777) // for what the tasks print
	switch {
	case fresh && errors.Is(err, fs.ErrExist): // only one process can make the folder of a new sweep
		return fmt.Errorf("another process submits %s at this moment", s.dir)
	case err != nil && !errors.Is(err, fs.ErrExist):
		return err
	case fresh:
		err = s.plan.Write(s.dir)
	default:
		err = nil
	}
	if err == nil {
		err = atomicfile.Write(out.ScriptPath(), []byte(out.Script()))
	}
	if err != nil && fresh {
		s.discard(out)
	}
	return err
}

// discard removes the files that prepare made, but no files of others.
func (s *openSweep) discard(out *slurm.Submission) {
	logs, plan := filepath.Join(s.dir, "logs"), filepath.Join(s.dir, "plan.json")
	for _, name := range []string{logs, out.ScriptPath(), plan, s.dir} {
		_ = os.Remove(name) // it does not exist, or others' files are in it
	}
}
