package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/sweep"
	"miglab/harness/sweep/slurm"
)

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

// slurm submits tasks as a job array with a merge after it.
func (f *submitFlags) slurm(c *cobra.Command, s *openSweep, n submission) error {
	if !f.dryRun {
		if err := slurm.FindCommands(); err != nil {
			return err
		}
	}
	unasked := "" // what Slurm could not be asked
	if !n.fresh {
		queued, err := s.queued(c.Context())
		if err != nil && !f.dryRun {
			return err
		}
		if err != nil {
			unasked = fmt.Sprintf("# squeue could not be asked (%v); tasks that are in the queue are among these\n",
				err)
		}
		missing := len(n.tasks)
		n.tasks = slices.DeleteFunc(n.tasks, func(task int) bool { return slices.Contains(queued, task) })
		if len(n.tasks) == 0 {
			return f.nothingToSubmit(c, s, n, missing)
		}
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	out := f.slurmSubmission(s, n, program)
	if f.dryRun {
		s.describe(c, n)
		fmt.Fprintf(c.OutOrStdout(), "\n%s:\n%s\ncommands:\n%s", out.ScriptPath(), out.Script(), unasked+out.Commands())
		return nil
	}
	var job sweep.Job
	if err := s.submit(n, func() (sweep.Job, error) {
		if err := atomicfile.Write(out.ScriptPath(), []byte(out.Script())); err != nil {
			return job, err
		}
		array, merge, err := out.Submit(c.Context())
		job = sweep.Job{Engine: sweep.Slurm, IDs: []string{array}, Merge: merge}
		return job, err
	}); err != nil {
		return err
	}
	s.describe(c, n)
	fmt.Fprintf(c.OutOrStdout(),
		"job      %s: tasks\njob      %s: merge, after them\nwatch    miglab status --watch %s\n",
		strings.Join(job.IDs, ", "), job.Merge, slurm.Word(s.dir))
	if f.watch {
		return s.watch(c)
	}
	return nil
}

// nothingToSubmit says why no task has to be submitted.
func (f *submitFlags) nothingToSubmit(c *cobra.Command, s *openSweep, n submission, missing int) error {
	s.describe(c, n)
	if missing == 0 {
		fmt.Fprintf(c.OutOrStdout(), "nothing is missing; merge with: miglab merge %s\n", slurm.Word(s.dir))
	} else {
		fmt.Fprintf(c.OutOrStdout(), "the %d tasks that miss results are in the queue\n", missing)
	}
	if f.watch && !f.dryRun {
		return s.watch(c)
	}
	return nil
}

// slurmSubmission returns what the flags ask Slurm for.
func (f *submitFlags) slurmSubmission(s *openSweep, n submission, program string) slurm.Submission {
	out := slurm.Submission{
		Name: n.name, Program: program, Sweep: s.dir, Dir: s.plan.Dir, Tasks: n.tasks,
		Limit: f.arrayLimit,
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
	return out
}

// queued returns the tasks that wait or run in Slurm's queue.
func (s *openSweep) queued(ctx context.Context) ([]int, error) {
	jobs, err := s.slurmJobs()
	if err != nil {
		return nil, err
	}
	var arrays []string
	for _, j := range jobs {
		arrays = append(arrays, j.IDs...)
	}
	return slurm.Queued(ctx, arrays)
}

// slurmJobs returns what of the sweep was submitted to Slurm: earlier versions of miglab knew other engines.
func (s *openSweep) slurmJobs() ([]sweep.Job, error) {
	jobs, err := sweep.Jobs(s.dir)
	return slices.DeleteFunc(jobs, func(j sweep.Job) bool { return j.Engine != sweep.Slurm }), err
}
