package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/harness/sweep"
)

func newMerge() *cobra.Command {
	return &cobra.Command{
		Use:   "merge SWEEP",
		Short: "Put what the tasks of a sweep computed together, as if one machine had done it",
		Args:  cli.Arguments(1, 1, "the folder of a sweep"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := readSweep(c.Context(), args[0])
			if err != nil {
				return err
			}
			return s.merge(c)
		},
	}
}

func (s *openSweep) merge(c *cobra.Command) error {
	status, err := s.collect()
	for _, d := range status.Damaged {
		fmt.Fprintf(c.ErrOrStderr(), "miglab: damaged, and left out: %s: %s\n", d.File, d.Reason)
	}
	if err != nil {
		return err
	}
	if status.Missing > 0 {
		return s.missing(&status)
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

// collect merges the results. Trainings have none in databases: their files are where they
// belong.
func (s *openSweep) collect() (sweep.Status, error) {
	if s.trainings != nil {
		return s.status()
	}
	st, err := run.Open(s.store)
	if err != nil {
		return sweep.Status{}, err
	}
	defer st.Close()
	return sweep.Merge(s.dir, s.plan, s.cells, st)
}
