package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"miglab/harness/schedule"
)

func newCheck() *cobra.Command {
	var pf problemFlags
	c := &cobra.Command{
		Use:   "check schedule.json",
		Short: "Referee a schedule: every task once, no overlaps, enough time to reconfigure",
		Long: "check reads a schedule and lists everything that is wrong with it. An instance exists from the end of\n" +
			"its creation to the start of its destruction and its tasks run within; instances never share a slice;\n" +
			"under sequential reconfiguration one operation runs at a time. Exit code 1 when a rule is broken.",
		Example: "  miglab check --gpu A100 --tasks tasks.csv schedule.json",
		Args:    arguments(1, 1, "one schedule.json"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := pf.problem()
			if err != nil {
				return err
			}
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			s, err := schedule.Decode(file, p)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if v := schedule.Check(p, s); len(v) > 0 {
				return violationsError(args[0], v)
			}
			m, err := schedule.Measure(p, s)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "ok: %d tasks, makespan %.6g s, utilisation %.1f %%, %d reconfigurations\n",
				len(s.Placements), m.Makespan, 100*m.Utilisation, m.Reconfigurations)
			return nil
		},
	}
	pf.register(c)
	return c
}
