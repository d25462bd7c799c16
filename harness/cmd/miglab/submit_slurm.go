package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/nearest"
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
func (f *submitFlags) slurm(c *cobra.Command, s *openSweep, out slurm.Submission, fresh bool) error {
	unasked := "" // what Slurm could not be asked
	if !fresh {
		queued, err := s.queued(c.Context())
		if err != nil && !f.dryRun {
			return err
		}
		if err != nil {
			unasked = fmt.Sprintf("# squeue could not be asked (%v); tasks that are in the queue are among these\n",
				err)
		}
		missing := len(out.Tasks)
		out.Tasks = slices.DeleteFunc(out.Tasks, func(task int) bool { return slices.Contains(queued, task) })
		if len(out.Tasks) == 0 {
			s.describe(c, &out)
			s.sayNothingToSubmit(c, missing)
			return nil
		}
	}
	if f.dryRun {
		s.describe(c, &out)
		fmt.Fprintf(c.OutOrStdout(), "\n%s:\n%s\ncommands:\n%s", out.ScriptPath(), out.Script(), unasked+out.Commands())
		return nil
	}
	job, err := s.submit(c.Context(), &out, fresh)
	if err != nil {
		return err
	}
	s.describe(c, &out)
	fmt.Fprintf(c.OutOrStdout(), "job      %s: tasks\njob      %s: merge, after them\nstatus   miglab status %s\n",
		job.Array, job.Merge, slurm.Word(s.dir))
	return nil
}

// sayNothingToSubmit says why no task has to be submitted.
func (s *openSweep) sayNothingToSubmit(c *cobra.Command, missing int) {
	if missing == 0 {
		fmt.Fprintf(c.OutOrStdout(), "nothing is missing; merge with: miglab merge %s\n", slurm.Word(s.dir))
		return
	}
	fmt.Fprintf(c.OutOrStdout(), "the %d tasks that miss results are in the queue\n", missing)
}

// queued returns the tasks that wait or run in Slurm's queue.
func (s *openSweep) queued(ctx context.Context) ([]int, error) {
	jobs, err := sweep.Jobs(s.dir)
	if err != nil {
		return nil, err
	}
	return slurm.Queued(ctx, nearest.Names(jobs, func(j sweep.Job) string { return j.Array }))
}
