package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/store"
	"miglab/reports"
)

func newLeaderboard() *cobra.Command {
	var track, gpu, model, format, results string
	var gpus int
	c := &cobra.Command{
		Use:   "leaderboard",
		Short: "Rank the algorithms in the result store, dataset by dataset",
		Long: "leaderboard ranks over the instances that all algorithms of a dataset were run on: batch and stream by the mean\n" +
			"gap to the certified lower bound, placement by acceptance, dispatch by the share of late jobs, corun by the mean\n" +
			"gap to the exact optimum, or the total time of windows too large for it. Algorithms that their paired differences\n" +
			"do not tell apart share a rank; those that left an instance without a valid answer come last. miglab run fills\n" +
			"the store.",
		Example: "  miglab leaderboard\n  miglab leaderboard --track stream --format csv\n  miglab leaderboard --reconfiguration parallel\n  miglab leaderboard --track corun",
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := parseTrack(track)
			if err != nil {
				return err
			}
			if err := refusePointless(c, t); err != nil {
				return err
			}
			if !c.Flags().Changed("gpu") {
				gpu = usualGPU(t)
			}
			g, err := mig.Lookup(gpu)
			if err != nil {
				return err
			}
			m, err := mig.ParseReconfiguration(model)
			if err != nil {
				return err
			}
			known := reports.TableFormats
			if !slices.Contains(known, format) {
				return nearest.Unknown("format", format, known)
			}
			st, err := store.Open(filepath.Join(results, "store"))
			if err != nil {
				return err
			}
			all, err := collect(st)
			if err != nil {
				return err
			}
			standings, err := all.standings(t, g.Name, gpus, m)
			if err != nil {
				return rankingError(err)
			}
			if len(standings) == 0 {
				return fmt.Errorf("no results of the %s track on %d x %s, %s reconfiguration, can be ranked in %s; make some, and their bounds, with miglab run", t, gpus, g, m, st.Dir())
			}
			if format == "text" {
				return reports.LeaderboardText(c.OutOrStdout(), standings)
			}
			table := reports.LeaderboardTable(standings)
			return table.Encode(c.OutOrStdout(), format)
		},
	}
	c.Flags().StringVar(&track, "track", "batch", "batch, stream, placement, dispatch or corun")
	c.Flags().StringVar(&gpu, "gpu", "A100", "GPU model; for placement A100-80GB unless given")
	c.Flags().IntVar(&gpus, "gpus", 1, "number of GPUs; placement datasets have their own")
	c.Flags().StringVar(&model, "reconfiguration", "sequential", "sequential, parallel or free")
	c.Flags().StringVar(&format, "format", "text", "text, csv, markdown or latex")
	c.Flags().StringVar(&results, "results", "results", "folder with the results")
	return c
}

// rankingError makes a schedule that beats a certified bound a failed check: a bound or
// the referee is wrong, not the user.
func rankingError(err error) error {
	if _, ok := errors.AsType[*reports.BoundError](err); ok {
		return failedError{err}
	}
	return err
}
