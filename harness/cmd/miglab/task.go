package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/harness/sweep"
	"miglab/harness/sweep/slurm"
)

func newTask() *cobra.Command {
	var index, workers int
	c := &cobra.Command{
		Use:    "task SWEEP",
		Short:  "Compute a task of a sweep",
		Hidden: true,
		Args:   cli.Arguments(1, 1, "the folder of a sweep"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := readSweep(c.Context(), args[0])
			if err != nil {
				return err
			}
			if err := s.sameProgram(); err != nil {
				return err
			}
			return s.compute(c, index, cmp.Or(s.workers, workers))
		},
	}
	c.Flags().IntVar(&index, "index", 0, "which task, counted from 0")
	cli.AddFlag(c, &workers, "workers", "0", cli.AtLeast(0),
		"cells computed at a time where the sweep's command does not say; 0 means one a processor")
	requireFlags(c, "index")
	return c
}

// compute computes a task. Under Slurm it goes back into the queue at its time limit, but only if it
// got on in this run: computed a cell, ended a training or wrote a checkpoint of one.
func (s *openSweep) compute(c *cobra.Command, task, workers int) error {
	var err error
	advanced, limit := false, make(chan os.Signal, 1)
	signal.Notify(limit, syscall.SIGHUP) // which ends the context, too; the script has Slurm send it
	if s.trainings != nil {
		err = sweep.WorkUnits(c.Context(), s.dir, s.plan, task, runName(),
			func(ctx context.Context, unit string) error {
				t, err := s.training(unit)
				if err != nil {
					return err
				}
				if s.workers == 0 && workers > 0 {
					t.options.Workers = workers
				}
				before := t.checkpointed()
				result, err := t.do(ctx, c)
				advanced = advanced || err == nil || !t.checkpointed().Equal(before)
				if err == nil {
					t.print(c, result)
				}
				return err
			})
	} else {
		before := -1
		err = cli.RunUnits(c, "cells", func(p *cli.Progress) error {
			e := run.Engine{Workers: workers, Share: p.SetShare, Progress: func(done, total int) {
				if before < 0 {
					before = done
				}
				advanced = done > before
				p.Set(done, total)
			}}
			return sweep.Work(c.Context(), s.dir, s.plan, task, runName(), s.cells, e)
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

func (s *openSweep) training(name string) (training, error) {
	for _, t := range s.trainings {
		if t.name() == name {
			return t, nil
		}
	}
	return training{}, fmt.Errorf("the sweep's command trains no %s", name)
}

// runName names this run of a task, as no other run is named.
func runName() string {
	return cmp.Or(slurm.RunName(), fmt.Sprintf("local-%d-%s", os.Getpid(), rand.Text()[:6]))
}
