package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/reports"
)

func newLeaderboard() *cobra.Command {
	var track, gpu, format, results string
	var gpus int
	c := &cobra.Command{
		Use:   "leaderboard",
		Short: "Rank the algorithms in the result store, dataset by dataset",
		Long: "leaderboard ranks over the instances that all algorithms of a dataset were run on: batch and stream by the mean\n" +
			"gap to the certified lower bound under sequential reconfiguration, placement by acceptance, dispatch by the share\n" +
			"of late jobs. miglab run fills the store.",
		Example: "  miglab leaderboard\n  miglab leaderboard --track stream --format csv",
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := parseTrack(track)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("gpu") {
				gpu = usualGPU(t)
			}
			g, err := mig.Lookup(gpu)
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
			metric := boards[t]
			entries, err := collect(st, t, metric, g.Name, gpus)
			if err != nil {
				return err
			}
			if len(entries) == 0 {
				return fmt.Errorf("no results of the %s track on %s in %s; make some with miglab run", t, g, st.Dir())
			}
			standings, err := reports.Leaderboard(entries, metric)
			if err != nil {
				return err
			}
			table := reports.LeaderboardTable(standings)
			return table.Encode(c.OutOrStdout(), format)
		},
	}
	c.Flags().StringVar(&track, "track", "batch", "batch, stream, placement or dispatch")
	c.Flags().StringVar(&gpu, "gpu", "A100", "GPU model; for placement A100-80GB unless given")
	c.Flags().IntVar(&gpus, "gpus", 1, "number of GPUs; placement datasets have their own")
	c.Flags().StringVar(&format, "format", "text", "text, csv, markdown or latex")
	c.Flags().StringVar(&results, "results", "results", "folder with the results")
	return c
}

// storedCell is the part of a stored cell that a leaderboard reads.
type storedCell struct {
	Track, Dataset, Content, GPU, Algorithm, Model string
	Count, Version, Instance                       int
}

// boards is what each track is ranked by.
var boards = map[algo.Track]reports.Metric{
	algo.TrackBatch:     {Name: run.MetricMakespan, Bounded: true},
	algo.TrackStream:    {Name: run.MetricMakespan, Bounded: true},
	algo.TrackPlacement: {Name: "acceptance", Higher: true},
	algo.TrackDispatch:  {Name: "late_percent"},
}

// collect gathers a track's results under sequential reconfiguration, each with
// the certified bound of its instance where the metric is bounded; instances whose
// bound is not in the store are then left out.
func collect(st *store.Store, track algo.Track, metric reports.Metric, gpu string, gpus int) ([]reports.Entry, error) {
	timings, err := st.Timings()
	if err != nil {
		return nil, err
	}
	type instance struct {
		dataset, content string
		number           int
	}
	bounds := map[instance]float64{}
	var entries []reports.Entry
	var instances []instance
	for row := range st.Rows() {
		var cell storedCell
		if err := json.Unmarshal([]byte(row.Cell), &cell); err != nil {
			return nil, fmt.Errorf("cell %s: %w", row.Cell, err)
		}
		if cell.GPU != gpu || cell.Model != mig.Sequential.String() || metric.Bounded && cell.Count != gpus {
			continue
		}
		at := instance{cell.Dataset, cell.Content, cell.Instance}
		if cell.Algorithm == "certified" {
			if b, ok := row.Metrics.Get(run.MetricBound); ok {
				bounds[at] = b
			}
		}
		if cell.Track != string(track) {
			continue
		}
		e := reports.Entry{
			Track: string(track), Dataset: cell.Dataset, Algorithm: cell.Algorithm, Version: cell.Version, Instance: cell.Instance,
			Value: math.NaN(), Micros: math.NaN(),
		}
		if m, ok := row.Metrics.Get(metric.Name); ok {
			e.Value = m
		}
		if us, ok := timings[row.Key()]; ok {
			e.Micros = float64(us)
		}
		entries, instances = append(entries, e), append(instances, at)
	}
	if !metric.Bounded {
		return entries, nil
	}
	bounded := entries[:0]
	for i, e := range entries {
		if b, ok := bounds[instances[i]]; ok {
			e.Bound = b
			bounded = append(bounded, e)
		}
	}
	return bounded, nil
}
