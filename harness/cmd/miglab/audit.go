package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"miglab/harness/run"
	"miglab/reports/leaderboard"
)

func newAudit() *cobra.Command {
	var f cellFlags
	c := &cobra.Command{
		Use:   "audit",
		Short: "Compare every result in the results database with the certified bound of its instance",
		RunE: func(c *cobra.Command, _ []string) error {
			return f.runCells(c, "bounds", func(e *run.Engine) error {
				found, err := leaderboard.Audit(c.Context(), e)
				if err != nil {
					return err
				}
				out := c.OutOrStdout()
				fmt.Fprintf(out, "ok: %d results of %d instances, none on the wrong side of its certified bound\n",
					found.Answers, found.Instances)
				if found.PassedOver > 0 {
					fmt.Fprintf(out, "%d results were passed over: their datasets have changed or no longer exist\n",
						found.PassedOver)
				}
				if found.NoBound > 0 {
					fmt.Fprintf(out, "%d placement results are on instances without a bound; "+
						"miglab run --track placement computes it\n", found.NoBound)
				}
				return nil
			})
		},
	}
	f.register(c, "folder with the results", "bounds")
	return c
}
