package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/reports"
)

func newBound() *cobra.Command {
	var pf problemFlags
	var rf requestFlags
	var format string
	var exact bool
	var budget time.Duration
	c := &cobra.Command{
		Use:   "bound",
		Short: "Lower bounds on the makespan of a batch, or the upper bound on accepted requests",
		RunE: func(c *cobra.Command, _ []string) error {
			placement, err := rf.given(c, "exact", "budget")
			if err != nil {
				return err
			}
			if placement {
				return writeAcceptance(c, &rf, pf.gpu, format)
			}
			p, err := pf.problem(c.Context())
			if err != nil {
				return err
			}
			if exact {
				return writeExact(c, p, budget, format)
			}
			if c.Flags().Changed("budget") {
				return errors.New("--budget has a meaning with --exact only")
			}
			if format == "json" {
				return errors.New("--format json writes a certificate, which is of --exact or --dataset")
			}
			return writeBounds(c, p)
		},
	}
	pf.register(c)
	rf.register(c)
	cli.AddFlag(c, &format, "format", "text", cli.OneOf("format", []string{"json", "text"}),
		"text, or json for the certificate of --exact or --dataset")
	c.Flags().BoolVar(&exact, "exact", false, "find the best schedule and prove how good it is")
	cli.AddFlag(c, &budget, "budget", "", cli.ReadDuration,
		"time to look for better schedules with --exact, for example 30s (default: one search)")
	return c
}

// A shownBound is a row of the table of bounds. name is the registered name, and label the name in the table.
type shownBound struct {
	name, label, proven, source string
	seconds                     mig.Seconds
}

// knownBounds are the first rows of the table, in this order.
var knownBounds = []shownBound{
	{name: "area", label: "area", proven: "yes", source: "FAR 6.4"},
	{name: "l-bound", label: "l_bound", proven: "no, it can exceed the optimum", source: "DRL 5.2"},
	{name: "certified", label: "certified", proven: "yes", source: "package bounds"},
}

// computeBounds returns the known bounds, and after them the other proven bounds in ascending order.
func computeBounds(ctx context.Context, p schedule.Problem) ([]shownBound, error) {
	all := slices.Clone(knownBounds)
	for _, s := range algo.All(algo.TrackBound) {
		if s.Proven && !slices.ContainsFunc(knownBounds, func(b shownBound) bool { return b.name == s.Name }) {
			all = append(all, shownBound{
				name: s.Name, label: s.Name, proven: "yes, without a certificate", source: s.Cite,
			})
		}
	}
	for i := range all {
		b, err := algo.Make[algo.Bound](algo.MustParse(all[i].name))
		if err != nil {
			return nil, err
		}
		if all[i].seconds, err = b.Bound(ctx, p); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all[len(knownBounds):], func(a, b shownBound) int {
		return cmp.Compare(a.seconds, b.seconds)
	})
	return all, nil
}

// writeBounds prints the bounds of a problem, and the least energy if the model has a power.
func writeBounds(c *cobra.Command, p schedule.Problem) error {
	all, err := computeBounds(c.Context(), p)
	if err != nil {
		return err
	}
	// The table says that the certified bound is proven, so its witness is verified first.
	w, err := bounds.Prove(c.Context(), p, mig.Seconds(math.Inf(1)))
	if err == nil {
		err = certificate.VerifyWitness(p, w)
	}
	if err != nil {
		return err
	}
	t := reports.Table{Columns: reports.Left("bound").Right("seconds").Left("proven", "source")}
	for _, b := range all {
		t.Row(b.label, fmt.Sprintf("%.6f", b.seconds), b.proven, b.source)
	}
	if p.GPU.Power != nil {
		energy, err := bounds.EnergyAtLeast(c.Context(), p)
		if err != nil {
			return err
		}
		t.Notes = []string{fmt.Sprintf("no schedule draws less than %.6g J", energy)}
	}
	return t.Text(c.OutOrStdout())
}

// writeExact finds the best schedule that it can in the budget, and a witness of a lower bound. It verifies both, and
// fails if another proven bound exceeds the makespan. It prints both as JSON, or a table of their numbers.
func writeExact(c *cobra.Command, p schedule.Problem, budget time.Duration, format string) error {
	claim, err := bounds.Best(c.Context(), p, budget)
	if err == nil {
		err = certificate.Verify(p, claim)
	}
	if err != nil {
		return err
	}
	all, err := computeBounds(c.Context(), p)
	if err != nil {
		return err
	}
	others := all[len(knownBounds):]
	for _, b := range others {
		if err := certificate.CheckKnown(b.seconds, claim.Makespan); err != nil {
			return cli.FailedError{Err: fmt.Errorf("%s: %w", b.name, err)}
		}
	}
	if format == "json" {
		return certificate.Encode(c.OutOrStdout(), p, claim)
	}
	proven := "no"
	if claim.Proven {
		proven = "yes"
	}
	t := reports.Table{Columns: reports.Left("what").Right("value").Left("by")}
	t.Row("lower bound", fmt.Sprintf("%.6f s", claim.Lower), claim.Witness.Kind)
	t.Row("best schedule", fmt.Sprintf("%.6f s", claim.Makespan), claim.Schedule.Algorithm)
	t.Row("gap", fmt.Sprintf("%.4f %%", claim.Gap), "")
	t.Row("proven optimal", proven, "")
	for _, b := range others {
		if b.seconds > claim.Lower {
			t.Row("larger bound", fmt.Sprintf("%.6f s", b.seconds), b.name+", without a certificate")
		}
	}
	return t.Text(c.OutOrStdout())
}
