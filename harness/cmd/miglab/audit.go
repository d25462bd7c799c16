package main

import (
	"cmp"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/harness/strictcsv"
	"miglab/reports/leaderboard"
)

func newAudit() *cobra.Command {
	var f cellFlags
	var minutes float64
	c := &cobra.Command{
		Use:   "audit",
		Short: "Compare every result in the results database with the certified bound of its instance",
		RunE: func(c *cobra.Command, _ []string) error {
			return f.runCells(c, "bounds", func(e *run.Engine) error {
				workers := cmp.Or(f.workers, runtime.GOMAXPROCS(0))
				within := time.Duration(minutes * float64(time.Minute) / float64(workers))
				found, err := leaderboard.Audit(c.Context(), e, within)
				if err != nil {
					return err
				}
				out := c.OutOrStdout()
				fmt.Fprintf(out, "ok: %d results of %d instances, none on the wrong side of its certified bound\n",
					found.Answers, found.Instances)
				if found.Left > 0 {
					fmt.Fprintf(out, "%d bounds are left; the same command computes others, and --minutes 0 all\n",
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
	cli.AddFlag(c, &minutes, "minutes", "8", readMinutes,
		"processor minutes, all workers together, for bounds that are missing; 0 means as many as it takes")
	return c
}

func readMinutes(text string) (float64, error) {
	v, err := strictcsv.Float(text)
	if err != nil || v < 0 || v > maxMinutes {
		return 0, fmt.Errorf("a number of minutes from 0 to %d, for example 8", maxMinutes)
	}
	return v, nil
}

// maxMinutes is a year.
const maxMinutes = 525600
