package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"miglab/bounds/certificate"
	"miglab/harness/cli"
	"miglab/harness/schedule"
)

func newCheck() *cobra.Command {
	var pf problemFlags
	var rf requestFlags
	var certified bool
	var format, layouts string
	// The subject is the layouts of --layout, a certificate of --dataset, or a file of --tasks.
	c := &cobra.Command{
		Use:   "check schedule.json",
		Short: "Referee a schedule: every task once, no overlaps, enough time to reconfigure",
		Args: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("layout") {
				return cli.Arguments(0, 0, "")(c, args)
			}
			return cli.Arguments(1, 1, "one schedule.json")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("layout") {
				for _, name := range []string{"tasks", "dataset", "instance", "certificate", "reconfiguration"} {
					if c.Flags().Changed(name) {
						return fmt.Errorf("--%s has no meaning with --layout", name)
					}
				}
				return checkLayout(c, layouts, pf.gpu, pf.count, format)
			}
			if c.Flags().Changed("format") {
				return fmt.Errorf("--format %s has a meaning with --layout only", format)
			}
			placement, err := rf.given(c)
			switch {
			case err != nil:
				return err
			case placement && !certified:
				return errors.New("--dataset has a meaning with --certificate only")
			case placement:
				return checkAcceptance(c, &rf, pf.gpu, args[0])
			}
			p, err := pf.problem(c.Context())
			if err != nil {
				return err
			}
			if certified {
				return checkCertificate(c, p, args[0])
			}
			return checkSchedule(c, p, args[0])
		},
	}
	pf.register(c)
	rf.register(c)
	cli.AddFlag(c, &format, "format", "text", cli.OneOf("format", layoutFormats),
		"with --layout: text, or mig-parted or gres, the files of these tools")
	c.Flags().StringVar(&layouts, "layout", "",
		"profiles of a GPU, as in 3g,4g or 1g.10gb:4,3g.40gb; or a file of mig-parted (.yaml) or Slurm's gres.conf; "+
			"- is either from standard input")
	c.Flags().BoolVar(&certified, "certificate", false,
		"the file is a certificate (miglab bound --exact --format json)")
	return c
}

// checkSchedule checks a schedule with the referee.
func checkSchedule(c *cobra.Command, p schedule.Problem, path string) error {
	s, err := cli.Interruptible(c.Context(), func() (schedule.Schedule, error) {
		return readFile(path, func(r io.Reader) (schedule.Schedule, error) { return schedule.Decode(r, p) })
	})
	if err != nil {
		return err
	}
	m, err := schedule.Measure(p, s)
	if invalid, broken := errors.AsType[*schedule.InvalidError](err); broken {
		return cli.FailedError{Err: invalid.List(path)}
	}
	if err != nil {
		return err
	}
	energy := ""
	if p.GPU.Power != nil {
		energy = fmt.Sprintf(", energy %.6g J", m.Energy)
	}
	fmt.Fprintf(c.OutOrStdout(), "ok: %s, makespan %.6g s, utilisation %.1f %%, %s%s\n",
		cli.Count(len(s.Placements), "tasks"), m.Makespan, 100*m.Utilisation,
		cli.Count(m.Reconfigurations, "reconfigurations"), energy)
	return nil
}

// checkCertificate verifies a certificate of miglab bound --exact.
func checkCertificate(c *cobra.Command, p schedule.Problem, path string) error {
	claim, err := cli.Interruptible(c.Context(), func() (certificate.Certificate, error) {
		read := func(r io.Reader) (certificate.Certificate, error) { return certificate.Decode(r, p) }
		claim, err := readFile(path, read)
		if err != nil {
			return claim, err
		}
		if err := certificate.Verify(p, claim); err != nil {
			return claim, cli.FailedError{Err: fmt.Errorf("%s is refused: %w", path, err)}
		}
		return claim, nil
	})
	if err != nil {
		return err
	}
	quality := fmt.Sprintf("no schedule is more than %.4g %% shorter", claim.Gap)
	if claim.Proven {
		quality = "optimal"
	}
	fmt.Fprintf(c.OutOrStdout(), "ok: %s, makespan %.6g s, lower bound %.6g s (%s), %s\n",
		cli.Count(len(claim.Schedule.Placements), "tasks"), claim.Makespan, claim.Lower, claim.Witness.Kind, quality)
	return nil
}
