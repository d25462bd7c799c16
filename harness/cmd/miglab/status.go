package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/sweep"
	"miglab/harness/sweep/slurm"
)

func newStatus() *cobra.Command {
	var results string
	c := &cobra.Command{
		Use:   "status [SWEEP]",
		Short: "Say what of a sweep is done, running, failed and missing",
		Args:  cli.Arguments(0, 1, "the folder of a sweep"),
		RunE: func(c *cobra.Command, args []string) error {
			var dir string
			var err error
			if len(args) > 0 {
				dir = args[0]
			} else if dir, err = sweep.Newest(filepath.Join(results, "sweeps")); err != nil {
				return err
			}
			s, err := readSweep(c.Context(), dir)
			if err != nil {
				return err
			}
			status, err := s.status()
			if err != nil {
				return err
			}
			s.print(c.OutOrStdout(), &status)
			return nil
		},
	}
	c.Flags().StringVar(&results, "results", "results", "folder for results, where no sweep is named")
	return c
}

// print writes a line for each thing to know, and one for each task that is not done.
func (s *openSweep) print(w io.Writer, status *sweep.Status) {
	fmt.Fprintf(w, "sweep    %s\ncommand  miglab %s\n", s.dir, shellLine(s.plan.Args))
	fmt.Fprintf(w, "%-8s %d of %d done, %d of them failed, %d missing\n", s.unitName(), status.Done, status.Cells,
		status.Failed, status.Missing)
	done, running := 0, 0
	for _, t := range status.Tasks {
		switch {
		case t.Done == t.Total:
			done++
		case t.Running:
			running++
		}
	}
	fmt.Fprintf(w, "tasks    %d of %d done, %d running, %d missing\n", done, len(status.Tasks), running,
		len(status.Tasks)-done-running)
	for _, t := range status.Tasks {
		if t.Done < t.Total {
			fmt.Fprintf(w, "task %-3d %d of %d done, %s\n", t.Task, t.Done, t.Total, t.State())
		}
	}
	for _, d := range status.Damaged {
		fmt.Fprintf(w, "damaged  %s: %s\n", d.File, d.Reason)
	}
	switch {
	case status.Missing == 0:
		fmt.Fprintf(w, "merge    miglab merge %s\n", slurm.Word(s.dir))
	case running == 0:
		fmt.Fprintf(w, "go on    miglab submit --missing %s\n", slurm.Word(s.dir))
	}
}
