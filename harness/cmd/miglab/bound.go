package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/algo"
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
		Long: "bound prints the area bound (FAR 6.4, proven), l_bound as published (DRL 5.2, not a valid bound) and the\n" +
			"certified bound (proven under the chosen reconfiguration model), in seconds.\n" +
			"With --exact it prints the best schedule that it finds and what proves that none is better, or how much better\n" +
			"one can be: the optimum for at most " + strconv.Itoa(bounds.MaxSearched) + " tasks on one GPU, and often for more. As JSON this is a certificate, which\n" +
			"miglab check --certificate verifies. With --budget it goes on looking for better schedules for that long, unless\n" +
			"one is proven to be optimal before. How far it comes then depends on the machine.\n" +
			"With --dataset it prints how many requests of an instance any placement scheduler can accept at most. As JSON\n" +
			"this is a certificate, which miglab check --certificate --dataset verifies.",
		Example: "  miglab bound --gpu A100 --tasks tasks.csv\n  miglab bound --gpu A30 --tasks tasks.csv --format json\n" +
			"  miglab bound --gpu A100 --tasks tasks.csv --exact\n  miglab bound --gpu A100 --tasks tasks.csv --exact --format json\n" +
			"  miglab bound --gpu A100 --tasks tasks.csv --exact --budget 30s\n" +
			"  miglab bound --dataset 'openb?pods=shared&gpus=14' --instance 3 --format json",
		RunE: func(c *cobra.Command, _ []string) error {
			placement, err := rf.chosen(c, "exact", "budget")
			if err != nil {
				return err
			}
			if placement {
				return writeAccepted(c, &rf, pf.gpu, format)
			}
			p, err := pf.problem()
			if err != nil {
				return err
			}
			if exact {
				return writeExact(c, p, budget, format)
			}
			if c.Flags().Changed("budget") {
				return errors.New("--budget has a meaning with --exact only")
			}
			return writeBounds(c, p, format)
		},
	}
	pf.add(c)
	rf.register(c)
	addFlag(c, &format, "format", "text", oneOf("format", []string{"json", "text"}), "text or json")
	c.Flags().BoolVar(&exact, "exact", false, "find the best schedule and prove how good it is")
	addFlag(c, &budget, "budget", "", duration, "time to look for better schedules with --exact, for example 30s (default: one search)")
	return c
}

// writeBounds prints the bounds of a problem.
func writeBounds(c *cobra.Command, p schedule.Problem, format string) error {
	area, err := bounds.Area(p)
	if err != nil {
		return err
	}
	published, err := bounds.LBound(p)
	if err != nil {
		return err
	}
	certified, err := bounds.Certified(p)
	if err != nil {
		return err
	}
	if format == "json" {
		return emitJSON(c, struct {
			Area      float64 `json:"area_s"`
			LBound    float64 `json:"l_bound_as_published_s"`
			Certified float64 `json:"certified_s"`
		}{float64(area), float64(published), float64(certified)})
	}
	t := reports.Table{
		Columns: reports.Left("bound").Right("seconds").Left("proven", "source"),
		Rows: [][]string{
			{"area", fmt.Sprintf("%.6f", area), "yes", "FAR 6.4"},
			{"l_bound", fmt.Sprintf("%.6f", published), "no, it can exceed the optimum", "DRL 5.2"},
			{"certified", fmt.Sprintf("%.6f", certified), "yes", "package bounds"},
		},
	}
	return t.Text(c.OutOrStdout())
}

// writeExact prints the best schedule of a problem, or what is to be said about it, and
// what proves how good it is.
func writeExact(c *cobra.Command, p schedule.Problem, budget time.Duration, format string) error {
	r, err := exactWithin(c.Context(), p, budget)
	if err != nil {
		return err
	}
	claim := certificate.New(r.Best, r.Witness)
	if format == "json" {
		return certificate.Encode(c.OutOrStdout(), p, claim)
	}
	proven := "no"
	if claim.Proven {
		proven = "yes"
	}
	t := reports.Table{
		Columns: reports.Left("what").Right("value").Left("by"),
		Rows: [][]string{
			{"lower bound", fmt.Sprintf("%.6f s", claim.Lower), claim.Witness.Kind},
			{"best schedule", fmt.Sprintf("%.6f s", claim.Makespan), claim.Schedule.Algorithm},
			{"gap", fmt.Sprintf("%.4f %%", claim.Gap), ""},
			{"proven optimal", proven, ""},
		},
	}
	return t.Text(c.OutOrStdout())
}

// exactWithin takes the schedule of treedp, or of lns if the batch is too large for it. Until the
// budget is spent or a schedule is proven to be optimal, it runs lns with ever more iterations.
func exactWithin(ctx context.Context, p schedule.Problem, budget time.Duration) (r bounds.Result, err error) {
	searching, stop := context.WithTimeout(ctx, budget)
	defer stop()
	const first = 1000 // iterations, as lns has by default
	known, err := algo.MustParse("treedp").Schedule(ctx, p)
	iterations := first
	if _, many := errors.AsType[*algo.InfeasibleError](err); many {
		known, err = algo.MustParse("lns").Schedule(ctx, p)
		iterations *= 2
	}
	if err != nil {
		return r, err
	}
	if r, err = bounds.Exact(ctx, p, known); err != nil {
		return r, err
	}
	for ; !r.Proven && searching.Err() == nil; iterations *= 2 {
		next, err := algo.MustParse(fmt.Sprintf("lns?iterations=%d", iterations)).Schedule(searching, p)
		if searching.Err() != nil && ctx.Err() == nil {
			return r, nil // the time is spent, and the search that was cut off gave no schedule
		}
		if err != nil {
			return r, err
		}
		if next.Makespan() >= r.Best.Makespan() {
			continue
		}
		if r, err = bounds.Exact(ctx, p, next); err != nil {
			return r, err
		}
	}
	return r, nil
}
