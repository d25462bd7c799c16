package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

func newLeaderboard() *cobra.Command {
	var at conditions
	var format, results string
	c := &cobra.Command{
		Use:   "leaderboard",
		Short: "Rank the algorithms in the results database, dataset by dataset",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := at.check(c); err != nil {
				return err
			}
			db, err := run.Open(results)
			if err != nil {
				return err
			}
			defer db.Close()
			debug.SetGCPercent(400) // the command lives shortly and reads much; it stays below 100 MB
			standings, err := leaderboard.Standings(db, at.leaderboard())
			if err != nil {
				return rankingError(err)
			}
			if len(standings) == 0 {
				return fmt.Errorf("no results of the %s track on %s can be ranked in %s; make some, and their bounds, "+
					"with miglab run", at.track.Name, at.where(), db.Dir())
			}
			if format == "text" {
				return leaderboard.WriteText(c.OutOrStdout(), standings)
			}
			table := leaderboard.Table(standings)
			return table.Encode(c.OutOrStdout(), format)
		},
	}
	at.register(c)
	formats := reports.TableFormats
	cli.AddFlag(c, &format, "format", "text", cli.OneOf("format", formats), strings.Join(formats, ", "))
	c.Flags().StringVar(&results, "results", "results", "folder with the results")
	return c
}

// where says what the results are for.
func (at *conditions) where() string {
	if !at.track.Reconfigures {
		return at.gpu.Name
	}
	return fmt.Sprintf("%d x %s, %s reconfiguration", at.gpus, at.gpu, at.model)
}

func (at *conditions) leaderboard() leaderboard.Conditions {
	return leaderboard.Conditions{Track: at.track, GPU: at.gpu.Name, Count: at.gpus, Model: at.model}
}

// rankingError makes a schedule that beats a certified bound a failed check: a bound or
// the referee is wrong, not the user.
func rankingError(err error) error {
	if _, ok := errors.AsType[*leaderboard.BoundError](err); ok {
		return cli.FailedError{Err: err}
	}
	return err
}
