package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/sweep"
	"miglab/harness/sweep/slurm"
	"miglab/harness/work"
	figures "miglab/paper-figures"
)

// An assignment is the work of a command line: cells, or trainings.
type assignment struct {
	cells     []run.Span
	trainings []training
	// results is the folder for sweeps, and store the folder of the results database.
	results, store string
	// workers is the command's number of workers; 0 if it names no number.
	workers int
}

// A spreadable is a command that a sweep can spread.
type spreadable interface {
	command() *cobra.Command
	// assignment lists the work that the parsed flags ask for, without doing it.
	assignment(c *cobra.Command) (*assignment, error)
}

// newSpreadable returns the command of a name, or nil if a sweep cannot spread it.
func newSpreadable(name string) spreadable {
	switch name {
	case "run":
		return new(runFlags)
	case "reproduce":
		return new(reproduceFlags)
	case "train":
		return new(trainFlags)
	}
	return nil
}

// readAssignment lists the work of a command line, without doing it.
func readAssignment(args []string) (w *assignment, err error) {
	if len(args) == 0 {
		return nil, errors.New("submit needs a command, as in " +
			"miglab submit slurm -- run --algorithms far --datasets WIDETIMES")
	}
	s := newSpreadable(args[0])
	if s == nil {
		return nil, fmt.Errorf("submit takes run, reproduce or train and cannot spread %q", args[0])
	}
	c := s.command()
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		w, err = s.assignment(c)
		return err
	}
	root := cli.NewRoot("", "", c)
	root.SetArgs(args)
	root.SetOut(io.Discard) // of --help
	if err := root.Execute(); err != nil {
		return nil, err
	}
	if w == nil || len(w.cells)+len(w.trainings) == 0 {
		return nil, fmt.Errorf("miglab %s computes no cells: there is nothing to submit", slurm.Words(args))
	}
	return w, nil
}

// job returns the work of a sweep.
func (w *assignment) job(c *cobra.Command) sweep.Job {
	j := sweep.Job{Spans: w.cells}
	for i := range w.trainings {
		j.Units = append(j.Units, w.trainings[i].unit(c))
	}
	return j
}

// unitName names what a sweep counts.
func (w *assignment) unitName() string {
	if w.trainings != nil {
		return "trainings"
	}
	return "cells"
}

// An openSweep is a sweep with the work of its command.
type openSweep struct {
	// dir is the absolute path of its folder.
	dir  string
	plan *sweep.Plan
	*assignment
	job sweep.Job
}

// readSweep opens a sweep and goes to the folder in which its command was given, which the
// command's paths may be relative to.
func readSweep(c *cobra.Command, dir string) (*openSweep, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p, err := sweep.ReadPlan(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no sweep that this machine sees: it has no plan.json", dir)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chdir(p.Dir); err != nil {
		return nil, fmt.Errorf("the folder that the sweep was submitted in: %w", err)
	}
	w, err := readAssignment(p.Args)
	if err != nil {
		return nil, err
	}
	return &openSweep{dir: dir, plan: p, assignment: w, job: w.job(c)}, nil
}

// sweepCommand returns a command that works on a sweep.
func sweepCommand(name, short string, do func(c *cobra.Command, s *openSweep) error) *cobra.Command {
	return &cobra.Command{
		Use:   name + " SWEEP",
		Short: short,
		Args:  cli.Arguments(1, 1, "the folder of a sweep"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := readSweep(c, args[0])
			if err != nil {
				return err
			}
			return do(c, s)
		},
	}
}

// sameProgram refuses a program that is not the one that planned the sweep: together they might
// compute what neither would alone.
func (s *openSweep) sameProgram() error {
	program, err := figures.Program()
	if err == nil && program != s.plan.Program {
		err = fmt.Errorf("another build of miglab planned %s: use that one, or submit the command again with "+
			"--sweep and another folder", s.dir)
	}
	return err
}

func newStatus() *cobra.Command {
	return sweepCommand("status", "Say which tasks of a sweep are done, queued and missing", printStatus)
}

// printStatus writes how much of a sweep is done, and a line for each task that is not.
func printStatus(c *cobra.Command, s *openSweep) error {
	status, err := sweep.ReadStatus(s.dir, s.plan, s.job)
	if err != nil {
		return err
	}
	w, missing := c.OutOrStdout(), status.Total-status.Done
	fmt.Fprintf(w, "sweep    %s\ncommand  miglab %s\n", s.dir, slurm.Words(s.plan.Args))
	fmt.Fprintf(w, "%-8s %d of %d done, %d of them failed, %d missing\n", s.unitName(), status.Done, status.Total,
		status.Failed, missing)
	for _, d := range status.Damaged {
		fmt.Fprintf(w, "damaged  %s: %s\n", d.File, d.Reason)
	}
	if missing == 0 {
		fmt.Fprintf(w, "merge    miglab merge %s\n", slurm.Word(s.dir))
		return nil
	}
	queue, err := slurm.Queue(c.Context(), s.jobName())
	if err != nil {
		fmt.Fprintf(w, "queue    unknown: %v\n", err)
	}
	for _, task := range status.Unfinished {
		fmt.Fprintf(w, "task %-3d %s\n", task, cmp.Or(queue[task], "not in the queue"))
	}
	if len(queue) == 0 {
		fmt.Fprintf(w, "go on    miglab submit slurm --missing %s\n", slurm.Word(s.dir))
	}
	return nil
}

func newMerge() *cobra.Command {
	return sweepCommand("merge", "Merge the results of a sweep's tasks, as if one machine had computed them", merge)
}

func merge(c *cobra.Command, s *openSweep) error {
	db, err := store.Open(s.store)
	if err != nil {
		return err
	}
	status, err := sweep.Merge(s.dir, s.plan, s.job, db)
	err = cmp.Or(err, db.Close())
	for _, d := range status.Damaged {
		fmt.Fprintf(c.ErrOrStderr(), "miglab: damaged, and left out: %s: %s\n", d.File, d.Reason)
	}
	if err != nil {
		return err
	}
	if status.Unfinished != nil {
		return cli.FailedError{Err: fmt.Errorf("%s: %s; to go on: miglab submit slurm --missing %s", s.unitName(),
			status.Lack(), slurm.Word(s.dir))}
	}
	root := newRoot()
	root.SetArgs(s.plan.Args)
	root.SetOut(c.OutOrStdout())
	root.SetErr(c.ErrOrStderr())
	err = root.ExecuteContext(c.Context())
	if _, ok := errors.AsType[failedCellsError](err); ok {
		// Everything is merged. The command itself would end with exit code 1.
		fmt.Fprintln(c.ErrOrStderr(), "miglab:", err)
		return nil
	}
	return err
}

func newTask() *cobra.Command {
	var index, workers int
	c := sweepCommand("task", "Compute a task of a sweep", func(c *cobra.Command, s *openSweep) error {
		if err := s.sameProgram(); err != nil {
			return err
		}
		if s.workers == 0 && workers > 0 {
			s.workers = workers
			for i := range s.trainings {
				s.trainings[i].options.Workers = workers
			}
		}
		return s.compute(c, index)
	})
	c.Hidden = true
	c.Flags().IntVar(&index, "index", 0, "which task, counted from 0")
	cli.AddFlag(c, &workers, "workers", "0", cli.AtLeast(0),
		"cells computed at a time where the sweep's command does not say; 0 means one a processor")
	requireFlags(c, "index")
	return c
}

// compute computes a task. Under Slurm it goes back into the queue at its time limit, but only if it
// got on in this run: computed a cell, ended a training or wrote a checkpoint of one.
func (s *openSweep) compute(c *cobra.Command, task int) error {
	advanced, limit := false, make(chan os.Signal, 1)
	signal.Notify(limit, syscall.SIGHUP) // which ends the context, too; the script has Slurm send it
	for i := range s.job.Units {
		watchCheckpoint(&s.job.Units[i], &s.trainings[i], &advanced)
	}
	// No other run has the name.
	name := cmp.Or(slurm.RunName(), fmt.Sprintf("local-%d-%s", os.Getpid(), rand.Text()[:6]))
	compute := func(e run.Engine) error { return sweep.Work(c.Context(), s.dir, s.plan, task, name, s.job, e) }
	var err error
	if s.trainings != nil {
		err = compute(run.Engine{}) // each training shows its own progress
	} else {
		before := -1
		err = cli.RunUnits(c, "cells", func(p *cli.Progress) error {
			return compute(run.Engine{Workers: s.workers, Share: p.SetShare, Progress: func(done, total int) {
				if before < 0 {
					before = done
				}
				advanced = done > before
				p.Set(done, total)
			}})
		})
	}
	signal.Stop(limit)
	if !errors.Is(err, context.Canceled) || !advanced || len(limit) == 0 {
		return err // where nothing was computed before the time limit, it would be so again
	}
	if again, failed := slurm.Requeue(context.WithoutCancel(c.Context())); failed != nil || again {
		return failed
	}
	return err
}

// watchCheckpoint makes a unit set advanced if its training writes a checkpoint.
func watchCheckpoint(u *work.Unit, t *training, advanced *bool) {
	do := u.Do
	u.Do = func(ctx context.Context) (any, error) {
		before := t.checkpointed()
		record, err := do(ctx)
		*advanced = *advanced || !t.checkpointed().Equal(before)
		return record, err
	}
}

// jobName returns the name of the sweep's jobs, which depends on the folder: another may have the same sweep.
func (s *openSweep) jobName() string {
	return fmt.Sprintf("miglab-%s-%08x", s.plan.Name(), crc32.ChecksumIEEE([]byte(s.dir)))
}
