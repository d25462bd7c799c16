package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"miglab/bounds/certificate"
	"miglab/harness/schedule"
)

func newCheck() *cobra.Command {
	var pf problemFlags
	var certified bool
	c := &cobra.Command{
		Use:   "check schedule.json",
		Short: "Referee a schedule: every task once, no overlaps, enough time to reconfigure",
		Long: "check reads a schedule and lists everything that is wrong with it. An instance exists from the end of\n" +
			"its creation to the start of its destruction and its tasks run within; instances never share a slice;\n" +
			"under sequential reconfiguration one operation runs at a time. Exit code 1 when a rule is broken.\n" +
			"With --certificate it reads what miglab bound --exact --format json prints and verifies all of it: the\n" +
			"schedule, and that none is shorter than the lower bound. It shares no code with what computed the bound,\n" +
			"and takes some seconds for 17 or 18 tasks.",
		Example: "  miglab check --gpu A100 --tasks tasks.csv schedule.json\n" +
			"  miglab check --gpu A100 --tasks tasks.csv --certificate certificate.json",
		Args: arguments(1, 1, "one schedule.json"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := pf.problem()
			if err != nil {
				return err
			}
			if certified {
				return checkCertificate(c, p, args[0])
			}
			s, err := readFile(args[0], p, schedule.Decode)
			if err != nil {
				return err
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
	c.Flags().BoolVar(&certified, "certificate", false, "the file is a certificate (miglab bound --exact --format json)")
	return c
}

func checkCertificate(c *cobra.Command, p schedule.Problem, path string) error {
	claim, err := readFile(path, p, certificate.Decode)
	if err != nil {
		return err
	}
	if err := certificate.Verify(p, claim); err != nil {
		return failedError{fmt.Errorf("%s is refused: %w", path, err)}
	}
	what := fmt.Sprintf("no schedule is more than %.4g %% shorter", claim.Gap)
	if claim.Proven {
		what = "optimal"
	}
	fmt.Fprintf(c.OutOrStdout(), "ok: %d tasks, makespan %.6g s, lower bound %.6g s (%s), %s\n",
		len(claim.Schedule.Placements), claim.Makespan, claim.Lower, claim.Witness.Kind, what)
	return nil
}
