package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	jobs, err := sweep.Jobs(s.dir)
	if err != nil {
		return err
	}
	status, err := s.status()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	// Other folders may have a sweep of the same name.
	suffix := make([]byte, 2)
	if !f.dryRun {
		_, _ = rand.Read(suffix) // never fails
	}
	out := slurm.Submission{
		Name:    fmt.Sprintf("miglab-%s-%d-%s", s.plan.Name(), len(jobs)+1, hex.EncodeToString(suffix)),
		Program: program, Sweep: s.dir, Dir: s.plan.Dir, Tasks: status.Unfinished(), Limit: f.arrayLimit,
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
	return f.slurm(c, s, out, fresh)
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
func (s *openSweep) submit(ctx context.Context, out *slurm.Submission, fresh bool) (job sweep.Job, err error) {
	made, err := s.makeFolder(fresh)
	if err == nil {
		err = atomicfile.Write(out.ScriptPath(), []byte(out.Script()))
	}
	if err == nil {
		job.Array, job.Merge, err = out.Submit(ctx)
	}
	if err != nil {
		for _, path := range slices.Backward(made) {
			_ = os.Remove(path) // not there, or others' files are in it
		}
		return job, err
	}
	job.Name, job.Tasks, job.Submitted = out.Name, out.Tasks, time.Now().UTC()
	if err := sweep.AddJob(s.dir, job); err != nil {
		return job, fmt.Errorf("%s is submitted, as %s %s, but not noted: %w", job.Name, job.Array, job.Merge, err)
	}
	return job, nil
}

// makeFolder makes the folders and the plan of a new sweep and returns what to remove, last first,
// where it is not submitted.
func (s *openSweep) makeFolder(fresh bool) (made []string, err error) {
	log := filepath.Join(s.dir, logs)
	if !fresh {
		return nil, os.MkdirAll(log, 0o777)
	}
	for dir := s.dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, dir)
	}
	slices.Reverse(made)
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return made, err
	}
	// Only one process can make this one.
	if err := os.Mkdir(log, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("another process submits %s at this moment", s.dir)
		}
		return made, err
	}
	made = append(made, log, filepath.Join(s.dir, "plan.json"), filepath.Join(s.dir, "script.sh"))
	return made, s.plan.Write(s.dir)
}

// logs is the folder of a sweep for what its tasks print.
const logs = "logs"

// describe says what is submitted.
func (s *openSweep) describe(c *cobra.Command, out *slurm.Submission) {
	fmt.Fprintf(c.OutOrStdout(), "sweep    %s\n", s.dir)
	fmt.Fprintf(c.OutOrStdout(), "work     %s in %s, %d of which are submitted\n",
		cli.Count(s.plan.Count, s.unitName()), cli.Count(s.plan.Tasks, "tasks"), len(out.Tasks))
}
