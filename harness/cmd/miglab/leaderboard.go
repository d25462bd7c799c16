package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

func newLeaderboard() *cobra.Command {
	var at conditions
	var format, results string
	var models, specs []string
	var chart output
	c := &cobra.Command{
		Use:   "leaderboard",
		Short: "Rank the algorithms in the results database, dataset by dataset",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := at.check(c); err != nil {
				return err
			}
			if chart.path != "" && models == nil {
				return errors.New("--chart draws the places of --across; name the GPU models")
			}
			db, err := run.Open(results)
			if err != nil {
				return err
			}
			defer db.Close()
			debug.SetGCPercent(400) // the command lives shortly and reads much; it stays below 100 MB
			if models != nil {
				return at.across(c, db, models, specs, format, &chart)
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
	formats := reports.TableFormats
	cli.AddFlag(c, &format, "format", "text", cli.OneOf("format", formats), strings.Join(formats, ", "))
	c.Flags().StringVar(&results, "results", "results", "folder with the results")
	c.Flags().StringSliceVar(&models, "across", nil,
		"GPU models, separated by commas, in place of --gpu: one table of the places on each of them and of --datasets")
	c.Flags().StringSliceVar(&specs, "datasets", nil, "the datasets of --across, separated by commas")
	chart.register(c, "chart", "file to draw the places of --across in, .svg or .png", reports.FigureFormats...)
	c.MarkFlagsRequiredTogether("across", "datasets")
	c.MarkFlagsMutuallyExclusive("across", "gpu")
	return c
}

// across prints the places of the algorithms on several GPU models and datasets, and draws them if a file is named.
func (at *conditions) across(
	c *cobra.Command, db *store.DB, models, specs []string, format string, chart *output,
) (err error) {
	var out leaderboard.Across
	for _, model := range models {
		if at.gpu, err = mig.LookupOrRead(model); err != nil {
			return fmt.Errorf("--across %s: %w", model, err)
		}
		for _, text := range specs {
			dataset, err := datasets.Parse(text)
			if err != nil {
				return err
			}
			board := at.leaderboard()
			board.Datasets = []string{dataset.ID()}
			standings, err := leaderboard.Standings(db, board)
			if err != nil {
				return rankingError(err)
			}
			if len(standings) == 0 {
				return fmt.Errorf("no results on %s, %s can be ranked in %s; make some with miglab run", dataset.ID(),
					at.where(), db.Dir())
			}
			out = append(out, standings)
		}
	}
	table := out.Table()
	if err := table.Encode(c.OutOrStdout(), format); err != nil || chart.path == "" {
		return err
	}
	return chart.emit(c, func(w io.Writer) error { return reports.Encode(w, chart.format, out.Figure()) })
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
