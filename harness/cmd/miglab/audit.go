package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/reports/leaderboard"
)

func newAudit() *cobra.Command {
	var results string
	var workers int
	c := &cobra.Command{
		Use:   "audit",
		Short: "Compare every result in the results database with the certified bound of its instance",
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := run.Open(results)
			if err != nil {
				return err
			}
			defer db.Close()
			progress := cli.NewProgress(c.ErrOrStderr(), "bounds")
			found, err := leaderboard.Audit(c.Context(), &run.Engine{Store: db, Workers: workers, Progress: progress.Set})
			progress.Done()
			if err != nil {
				return rankingError(err)
			}
			out := c.OutOrStdout()
			fmt.Fprintf(out, "ok: %d results of %d instances, none on the wrong side of its certified bound\n",
				found.Answers, found.Instances)
			if found.PassedOver > 0 {
				fmt.Fprintf(out, "%d results were passed over: their datasets have changed or no longer exist\n", found.PassedOver)
			}
			if found.NoBound > 0 {
				fmt.Fprintf(out, "%d placement results are on instances without a bound; "+
					"miglab run --track placement computes it\n", found.NoBound)
			}
			return nil
		},
	}
	c.Flags().StringVar(&results, "results", "results", "folder with the results")
	cli.AddFlag(c, &workers, "workers", "0", cli.AtLeast(0), "bounds computed at a time; 0 means one a processor")
	return c
}
