package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

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
			"of late jobs, corun by the mean gap to the exact optimum, or the total time of windows too large for it. miglab run\n" +
			"fills the store.",
		Example: "  miglab leaderboard\n  miglab leaderboard --track stream --format csv\n  miglab leaderboard --track corun",
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
			var standings []reports.Standing
			for _, b := range boards[t] {
				entries, err := collect(st, t, b, g.Name, gpus)
				if err != nil {
					return err
				}
				own, err := b.rank(entries)
				if err != nil {
					return err
				}
				standings = append(standings, own...)
			}
			if len(standings) == 0 {
				return fmt.Errorf("no results of the %s track on %s in %s; make some with miglab run", t, g, st.Dir())
			}
			table := reports.LeaderboardTable(standings)
			return table.Encode(c.OutOrStdout(), format)
		},
	}
	c.Flags().StringVar(&track, "track", "batch", "batch, stream, placement, dispatch or corun")
	c.Flags().StringVar(&gpu, "gpu", "A100", "GPU model; for placement A100-80GB unless given")
	c.Flags().IntVar(&gpus, "gpus", 1, "number of GPUs; placement datasets have their own")
	c.Flags().StringVar(&format, "format", "text", "text, csv, markdown or latex")
	c.Flags().StringVar(&results, "results", "results", "folder with the results")
	return c
}

// storedCell is the part of a stored cell that a leaderboard reads.
type storedCell struct {
	Track, Dataset, Content, GPU, Algorithm, Weights, Model string
	Count, Version, Instance                                int
}

// outdated reports whether a cell is of an algorithm that has learned other things
// since.
func (c *storedCell) outdated() bool {
	if c.Weights == "" {
		return false
	}
	a, err := algo.Parse(c.Algorithm)
	return err == nil && a.Weights() != c.Weights
}

// board is what datasets of a track are ranked by.
type board struct {
	reports.Metric
	// holds reports whether the board is for a dataset.
	holds func(dataset string) bool
	// bound is the algorithm whose result bounds the metric, where it is bounded, and of
	// the name boundMetric.
	bound, boundMetric string
	// unbounded says that datasets of which no instance has a bound are ranked by the
	// metric itself; otherwise they have no board.
	unbounded bool
}

// rank ranks the algorithms on every dataset. Instances without a bound are left out
// where there are others with one.
func (b board) rank(entries []reports.Entry) ([]reports.Standing, error) {
	if !b.Bounded {
		return reports.Leaderboard(entries, b.Metric)
	}
	bounded := map[string]bool{}
	for _, e := range entries {
		bounded[e.Dataset] = bounded[e.Dataset] || !math.IsNaN(e.Bound)
	}
	var with, without []reports.Entry
	for _, e := range entries {
		switch {
		case !math.IsNaN(e.Bound):
			with = append(with, e)
		case b.unbounded && !bounded[e.Dataset]:
			without = append(without, e)
		}
	}
	standings, err := reports.Leaderboard(with, b.Metric)
	if err != nil {
		return nil, err
	}
	own, err := reports.Leaderboard(without, reports.Metric{Name: b.Name, Higher: b.Higher})
	return append(standings, own...), err
}

// boards are those of each track. Requests in a steady state are counted once the
// cluster is full, all others from the first.
var boards = func() map[algo.Track][]board {
	all := func(string) bool { return true }
	steady := func(dataset string) bool { return strings.Contains(dataset, "lifespan=steady") }
	bounded := reports.Metric{Name: run.MetricMakespan, Bounded: true}
	makespan := board{Metric: bounded, holds: all, bound: "certified", boundMetric: run.MetricBound}
	return map[algo.Track][]board{
		algo.TrackBatch:  {makespan},
		algo.TrackStream: {makespan},
		algo.TrackPlacement: {
			{Metric: reports.Metric{Name: "acceptance", Higher: true}, holds: func(d string) bool { return !steady(d) }},
			{Metric: reports.Metric{Name: "acceptance_steady", Higher: true}, holds: steady},
		},
		algo.TrackDispatch: {{Metric: reports.Metric{Name: "late_percent"}, holds: all}},
		algo.TrackCorun:    {{Metric: bounded, holds: all, bound: "exact", boundMetric: run.MetricMakespan, unbounded: true}},
	}
}()

// collect gathers a track's results under sequential reconfiguration, each with the
// bound of its instance where the metric is bounded; NaN if it is not in the store.
func collect(st *store.Store, track algo.Track, b board, gpu string, gpus int) ([]reports.Entry, error) {
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
		if cell.GPU != gpu || cell.Model != mig.Sequential.String() || b.Bounded && cell.Count != gpus {
			continue
		}
		at := instance{cell.Dataset, cell.Content, cell.Instance}
		if b.Bounded && cell.Algorithm == b.bound {
			if v, ok := row.Metrics.Get(b.boundMetric); ok {
				bounds[at] = v
			}
		}
		if cell.Track != string(track) || !b.holds(cell.Dataset) || cell.outdated() {
			continue
		}
		e := reports.Entry{
			Track: string(track), Dataset: cell.Dataset, Algorithm: cell.Algorithm, Version: cell.Version, Content: cell.Content, Instance: cell.Instance,
			Value: math.NaN(), Micros: math.NaN(),
		}
		if m, ok := row.Metrics.Get(b.Name); ok {
			e.Value = m
		}
		if us, ok := timings[row.Key()]; ok {
			e.Micros = float64(us)
		}
		entries, instances = append(entries, e), append(instances, at)
	}
	for i := range entries {
		entries[i].Bound = math.NaN()
		if v, ok := bounds[instances[i]]; ok {
			entries[i].Bound = v
		}
	}
	return entries, nil
}
