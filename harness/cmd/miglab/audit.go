package main

import (
	"cmp"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/reports/leaderboard"
)

func newAudit() *cobra.Command {
	var f cellFlags
	var within time.Duration
	var whole bool
	c := &cobra.Command{
		Use:   "audit",
		Short: "Compare every result in the results database with the certified bound of its instance",
		RunE: func(c *cobra.Command, _ []string) error {
			return f.runCells(c, "bounds", func(e *run.Engine) error {
				within = max(1, within/time.Duration(cmp.Or(f.workers, runtime.GOMAXPROCS(0))))
				if whole {
					within = 0
				}
				found, err := leaderboard.Audit(c.Context(), e, &f.catalog, within)
				if err != nil {
					return err
				}
				out := c.OutOrStdout()
				fmt.Fprintf(out, "ok: %d results of %d instances, none on the wrong side of its certified bound\n",
					found.Answers, found.Instances)
				if found.Left > 0 {
					fmt.Fprintf(out, "%d bounds are left; the same command computes others, and --all all\n",
						found.Left)
				}
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
	cli.AddFlag(c, &within, "within", "8m", cli.ReadDuration,
		"processor time for bounds that are missing, of all workers together")
	c.Flags().BoolVar(&whole, "all", false, "compute all bounds that are missing, however long it takes")
	return c
}
