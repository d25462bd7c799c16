package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

func newLeaderboard() *cobra.Command {
	var at conditions
	var format, results, tradeoff string
	c := &cobra.Command{
		Use:   "leaderboard",
		Short: "Rank the algorithms in the results database, dataset by dataset",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := at.check(c); err != nil {
				return err
			}
			if _, format := extension(tradeoff); format != "" {
				return fmt.Errorf("--tradeoff %s: leave the extension out; each file gets its own", tradeoff)
			}
			db, err := run.Open(results)
			if err != nil {
				return err
			}
			defer db.Close()
			debug.SetGCPercent(400) // the command lives shortly and reads much; it stays below 100 MB
			if tradeoff != "" {
				return saveTradeoffs(db, at.leaderboard(), tradeoff)
			}
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
	cli.AddFlag(c, &format, "format", "text", cli.OneOf("format", reports.TableFormats), strings.Join(reports.TableFormats, ", "))
	c.Flags().StringVar(&tradeoff, "tradeoff", "", "write what moves gain over mfi instead, as a table and a figure with "+
		"this path but for the extension; needs --track placement and results with several budgets")
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

// saveTradeoffs writes what moves gain over mfi.
func saveTradeoffs(db *store.DB, c leaderboard.Conditions, base string) error {
	const baseline = "mfi"
	all, err := leaderboard.Tradeoffs(db, c, baseline)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("--tradeoff: no results of the %s track on %s in %s have moves; run %s and schedulers that move "+
			"on datasets with moves=..., two instances or more", c.Track.Name, c.GPU, db.Dir(), baseline)
	}
	if err := leaderboard.TradeoffTable(all, baseline).Save(base); err != nil {
		return err
	}
	return reports.SaveFigure(base, leaderboard.TradeoffFigure(all, baseline))
}

// rankingError makes a schedule that beats a certified bound a failed check: a bound or
// the referee is wrong, not the user.
func rankingError(err error) error {
	if _, ok := errors.AsType[*leaderboard.BoundError](err); ok {
		return cli.FailedError{Err: err}
	}
	return err
}
