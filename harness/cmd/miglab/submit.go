package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/nearest"
	"miglab/harness/sweep"
	"miglab/harness/sweep/slurm"
)

type submitFlags struct {
	missing, sweep, partition, time string
	extra                           []string
	tasks, arrayLimit               int
	dryRun                          bool
}

func newSubmit() *cobra.Command {
	var f submitFlags
	c := &cobra.Command{
		Use:   "submit slurm [flags] -- run|reproduce|train ...",
		Short: "Spread a command over a cluster with Slurm",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.missing != "":
				return f.run(c, args)
			case len(args) > 0 && !slices.Contains(spreadable, args[0]):
				return nearest.Unknown("engine", args[0], []string{"slurm"})
			}
			return errors.New("submit needs an engine, as in miglab submit slurm -- run --algorithms far " +
				"--datasets WIDETIMES")
		},
	}
	f.add(c)
	c.AddCommand(newSubmitSlurm())
	return c
}

func newSubmitSlurm() *cobra.Command {
	var f submitFlags
	c := &cobra.Command{
		Use:   "slurm [flags] -- run|reproduce|train ...",
		Short: "Submit tasks to Slurm",
		RunE:  f.run,
	}
	f.add(c)
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

// add adds the flags that go without saying slurm, too.
func (f *submitFlags) add(c *cobra.Command) {
	c.Args = cobra.ArbitraryArgs
	c.Flags().SetInterspersed(false) // what follows the command's name is the command's
	c.Flags().StringVar(&f.missing, "missing", "", "folder of a sweep: submit its tasks that miss results")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be submitted, and write nothing")
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
	status, err := s.status()
	if err != nil {
		return err
	}
	out, err := f.submission(s, status.Unfinished())
	if err != nil {
		return err
	}
	missing := len(out.Tasks)
	if !fresh && missing > 0 {
		queued, err := slurm.Queued(c.Context(), out.Name)
		if err != nil {
			return err
		}
		out.Tasks = slices.DeleteFunc(out.Tasks, func(task int) bool { return slices.Contains(queued, task) })
	}
	var array, merge string
	if len(out.Tasks) > 0 && !f.dryRun {
		if array, merge, err = s.submit(c.Context(), out, fresh); err != nil {
			return err
		}
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "sweep    %s\nwork     %s in %s, %d of which are submitted\n", s.dir,
		cli.Count(s.plan.Count, s.unitName()), cli.Count(s.plan.Tasks, "tasks"), len(out.Tasks))
	switch {
	case missing == 0:
		fmt.Fprintf(w, "nothing is missing; merge with: miglab merge %s\n", slurm.Word(s.dir))
	case len(out.Tasks) == 0:
		fmt.Fprintf(w, "the %d tasks that miss results are in the queue\n", missing)
	case f.dryRun:
		fmt.Fprintf(w, "\n%s:\n%s\ncommands:\n%s", out.ScriptPath(), out.Script(), out.Commands())
	default:
		fmt.Fprintf(w, "job      %s: tasks\njob      %s: merge, after them\nstatus   miglab status %s\n",
			array, merge, slurm.Word(s.dir))
	}
	return nil
}

// submission returns what the flags ask for of a sweep's tasks.
func (f *submitFlags) submission(s *openSweep, tasks []int) (*slurm.Submission, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	out := slurm.Submission{
		// Other folders may have a sweep of the same name.
		Name:    fmt.Sprintf("miglab-%s-%08x", s.plan.Name(), crc32.ChecksumIEEE([]byte(s.dir))),
		Program: program, Sweep: s.dir, Dir: s.plan.Dir, Tasks: tasks, Limit: f.arrayLimit,
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
		s, err = readSweep(c.Context(), f.missing)
		if err != nil {
			return nil, false, err
		}
		return s, false, s.sameProgram()
	}
	w, err := readAssignment(c.Context(), args)
	if err != nil {
		return nil, false, err
	}
	p, err := w.plan(args, f.tasks)
	if err != nil {
		return nil, false, err
	}
	dir := f.sweep
	if dir == "" {
		dir = filepath.Join(w.results, "sweeps", p.Name())
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, false, err
	}
	old, err := sweep.ReadPlan(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			return nil, false, fmt.Errorf("%s holds other things than a sweep; choose another folder with --sweep", dir)
		}
		return &openSweep{dir, p, w}, true, nil
	case err != nil:
		return nil, false, err
	case old.Hash != p.Hash:
		return nil, false, fmt.Errorf("%s holds another sweep, of miglab %s; choose another folder with --sweep", dir,
			shellLine(old.Args))
	case c.Flags().Changed("tasks") && p.Tasks != old.Tasks:
		return nil, false, fmt.Errorf("--tasks %d: the sweep is there, with %d tasks, in %s", f.tasks, old.Tasks, dir)
	}
	s = &openSweep{dir, old, w}
	return s, false, s.sameProgram()
}

// submit makes the sweep's folder, if it does not exist, and submits from it. After an error it removes what it
// made, but no files of others.
func (s *openSweep) submit(ctx context.Context, out *slurm.Submission, fresh bool) (array, merge string, err error) {
	logs := filepath.Join(s.dir, "logs") // for what the tasks print
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return "", "", err
	}
	// Only one process can make the folder of a new sweep.
	if err := os.Mkdir(logs, 0o777); fresh && errors.Is(err, fs.ErrExist) {
		return "", "", fmt.Errorf("another process submits %s at this moment", s.dir)
	} else if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", "", err
	}
	if fresh {
		defer func() {
			for _, name := range []string{logs, out.ScriptPath(), filepath.Join(s.dir, "plan.json"), s.dir} {
				if err != nil {
					_ = os.Remove(name) // not there, or others' files are in it
				}
			}
		}()
		if err := s.plan.Write(s.dir); err != nil {
			return "", "", err
		}
	}
	if err := atomicfile.Write(out.ScriptPath(), []byte(out.Script())); err != nil {
		return "", "", err
	}
	return out.Submit(ctx)
}
