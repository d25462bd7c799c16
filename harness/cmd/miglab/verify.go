package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/spf13/cobra"

	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/reports/leaderboard"
)

type verifyFlags struct {
	leaderboard.Verification
	results string
}

func newVerify() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify",
		Short: "Compute results again, and say whether they are the same",
		RunE:  f.run,
	}
	cli.AddFolder(c, &f.results, "results", "results", "folder with the results")
	c.Flags().StringVar(&f.Algorithm, "algorithm", "", "only this algorithm")
	cli.AddFlag(c, &f.Instances, "instances", "5", cli.AtLeast(0), "instances of each series; 0 means all")
	c.Flags().Uint64Var(&f.Seed, "seed", 0, "seed that the instances are drawn from (default: another one each time)")
	c.Flags().BoolVar(&f.Partial, "partial", false, "accept series that lack instances")
	cli.AddFlag(c, &f.Workers, "workers", "0", cli.AtLeast(0), "cells computed at a time; 0 means one a processor")
	return c
}

func (f *verifyFlags) run(c *cobra.Command, _ []string) error {
	if !c.Flags().Changed("seed") {
		f.Seed = rand.Uint64()
	}
	db, err := run.Open(f.results, &f.Models)
	if err != nil {
		return err
	}
	defer db.Close()
	if a, err := algo.Parse(f.Algorithm); err == nil {
		f.Algorithm = a.ID
	}
	var found *leaderboard.Verified
	if err := cli.RunUnits(c, "cells", func(p *cli.Progress) (err error) {
		f.Progress = p.Set
		if found, err = f.Run(c.Context(), db); errors.Is(err, context.Canceled) {
			err = cli.InterruptedError{Kept: "nothing was written"}
		}
		return err
	}); err != nil {
		return err
	}
	if found.Series == 0 {
		what := "results"
		if f.Algorithm != "" {
			what = fmt.Sprintf("results of %q", f.Algorithm)
		}
		return fmt.Errorf("%s has no %s to verify; miglab export --results %[1]s shows what it has", f.results, what)
	}
	lines := slices.Concat(found.Different, found.Unknown, found.Lacking)
	for _, line := range lines {
		fmt.Fprintln(c.OutOrStdout(), line)
	}
	again := ""
	if found.Computed < found.Total {
		again = fmt.Sprintf("; --seed %d takes these cells again", f.Seed)
	}
	if len(lines) > 0 {
		return cli.FailedError{Err: fmt.Errorf("%d of %d cells that were computed again are different, of %d cells of "+
			"%d series; %d series cannot be computed here and %d lack instances%s",
			len(found.Different), found.Computed, found.Total, found.Series, len(found.Unknown),
			len(found.Lacking), again)}
	}
	fmt.Fprintf(c.OutOrStdout(), "ok: %d of %d cells of %d series were computed again and are the same%s\n",
		found.Computed, found.Total, found.Series, again)
	return nil
}
