package main

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

type runFlags struct {
	conditions
	cellFlags
	shard             run.Shard
	algorithms, specs []string
	instances         int
	ranked            bool
	timeline          figureFile
}

func newRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Run algorithms on datasets; results are kept and never computed twice",
		RunE:  f.run,
	}
	f.conditions.register(c, &f.catalog, &f.results)
	f.cellFlags.register(c, "folder for results", "cells")
	c.Flags().StringSliceVar(&f.algorithms, "algorithms", nil,
		"algorithms, separated by commas (miglab list algorithms), or exec: and a program")
	c.Flags().StringSliceVar(&f.specs, "datasets", nil, "datasets, separated by commas (miglab list datasets)")
	cli.AddFlag(c, &f.instances, "instances", "1000", cli.AtLeast(1), "instances of each dataset")
	addShard(c, &f.shard)
	c.Flags().BoolVar(&f.ranked, "leaderboard", false, "then print the leaderboards of the datasets")
	f.timeline.registerTimeline(c, "instance 0 of the dataset")
	cli.RequireFlags(c, "algorithms", "datasets")
	return c
}

// cells lists the cells that the flags ask for. It computes none.
func (f *runFlags) cells(c *cobra.Command) ([]run.Span, error) {
	if err := f.check(c); err != nil {
		return nil, err
	}
	base := store.Series{Track: f.track.Name, GPU: f.gpu.Name, Count: f.gpus, Model: f.model.String()}
	spans, err := run.Competition(&f.catalog, base, f.algorithms, f.specs, f.instances)
	if err == nil && f.timeline.Path != "" && (len(f.specs) > 1 || len(f.algorithms) > reports.MaxSeries) {
		err = fmt.Errorf("--timeline draws at most %d algorithms on one dataset; there are %d on %d",
			reports.MaxSeries, len(f.algorithms), len(f.specs))
	}
	return spans, err
}

func (f *runFlags) run(c *cobra.Command, _ []string) error {
	cells, err := f.cells(c)
	if err != nil {
		return err
	}
	return f.runCells(c, "cells", func(e *run.Engine) error { return f.compute(c, e, cells) })
}

func (f *runFlags) compute(c *cobra.Command, e *run.Engine, cells []run.Span) error {
	ofShard := 0 // the number of cells of the shard
	show := e.Progress
	e.Shard = f.shard
	e.Progress = func(done, total int) {
		ofShard = total
		show(done, total)
	}
	failures, err := computeCells(c, e, cells)
	if err != nil {
		return err
	}
	f.summarize(c, ofShard, failures)
	if f.ranked {
		if err := f.rank(c, e.Store, cells); err != nil {
			return err
		}
	}
	if f.timeline.Path != "" {
		if err := f.draw(c, cells); err != nil {
			return err
		}
	}
	requested, err := e.Failures(slices.DeleteFunc(cells, f.isReference))
	if err != nil {
		return err
	}
	// A reference may fail, for example on an instance too large for it. But a panic is always a mistake in the
	// program.
	return failedCells(countCells(failures, true) + countCells(requested, false))
}

// computeCells computes cells and returns their failures by kind. It prints the first failure at once, with what the
// results do not keep, such as the standard error of a program.
func computeCells(c *cobra.Command, e *run.Engine, cells []run.Span) ([]run.Failure, error) {
	var first sync.Once
	e.Failed = func(failure algo.Failure) {
		first.Do(func() { fmt.Fprintln(c.ErrOrStderr(), "miglab: a failed cell:", failure) })
	}
	if err := e.Run(c.Context(), cells); err != nil {
		return nil, err
	}
	return e.Failures(cells)
}

// failedCells returns the error for a number of failed cells; nil for 0.
func failedCells(n int) error {
	if n == 0 {
		return nil
	}
	return cli.FailedError{
		Err: fmt.Errorf("cells of the algorithms that failed: %d; all others have their results", n),
	}
}

// draw draws the timelines of the algorithms on instance 0.
func (f *runFlags) draw(c *cobra.Command, cells []run.Span) error {
	var chart reports.Timeline
	for _, span := range cells {
		if f.isReference(span) {
			continue
		}
		a, err := span.Answer(c.Context(), 0)
		if err != nil {
			return err
		}
		chart.Title = span.Series.Dataset + ", instance 0"
		if a.History == nil {
			return fmt.Errorf("--timeline: on %s nothing waits", chart.Title)
		}
		chart.Lines = append(chart.Lines, reports.TimelineLine{Name: span.Series.Algorithm, History: a.History()})
	}
	return f.timeline.draw(c, chart)
}

// countCells returns the number of cells that ended with a panic, or the number that ended with another error.
func countCells(failures []run.Failure, panics bool) (n int) {
	for _, f := range failures {
		if (f.Kind == store.KindPanic) == panics {
			n += f.Cells
		}
	}
	return n
}

// isReference reports whether the flags do not name the algorithm of the cells: the track adds them for comparison.
func (f *runFlags) isReference(s run.Span) bool {
	return slices.ContainsFunc(f.track.Beside, func(r track.Reference) bool {
		return s.Series.Track == r.Track && s.Series.Algorithm == r.Algorithm &&
			!(r.Track == f.track.Name && slices.Contains(f.algorithms, r.Algorithm))
	})
}

// summarize prints the number of cells of the shard, where the results are, and the failures.
func (f *runFlags) summarize(c *cobra.Command, ofShard int, failures []run.Failure) {
	export := []string{"miglab", "export"}
	if c.Flags().Changed("results") {
		export = append(export, "--results", f.results)
	}
	cells := cli.Count(ofShard, "cells")
	if c.Flags().Changed("shard") {
		cells += " of shard " + c.Flags().Lookup("shard").Value.String()
	}
	fmt.Fprintf(c.OutOrStdout(), "%s; all results in %s; to export them: %s\n", cells, f.results, cli.Words(export))
	printFailures(c.OutOrStdout(), failures)
}

// printFailures prints how many cells failed, and some of their errors.
func printFailures(w io.Writer, failures []run.Failure) {
	for _, failed := range failures {
		fmt.Fprintf(w, "%d failed as %q; the export's column error has what each ended with, such as\n",
			failed.Cells, failed.Kind)
		for _, text := range failed.Errors {
			fmt.Fprintf(w, "  %s\n", text)
		}
	}
	if len(failures) > 0 {
		fmt.Fprintf(w, "such results stay until an algorithm's version is raised or its program changes; "+
			"only %q and %q are tried again\n", store.KindTimeout, store.KindPanic)
	}
}

// rank prints the leaderboards of the cells' datasets.
func (f *runFlags) rank(c *cobra.Command, db *store.DB, cells []run.Span) error {
	ranking := f.leaderboard()
	for _, span := range cells {
		if !slices.Contains(ranking.Datasets, span.Series.Dataset) {
			ranking.Datasets = append(ranking.Datasets, span.Series.Dataset)
		}
	}
	standings, err := leaderboard.Standings(db, ranking)
	if err != nil {
		return err
	}
	for _, dataset := range ranking.Datasets {
		if !slices.ContainsFunc(standings, func(s leaderboard.Standing) bool { return s.Dataset == dataset }) {
			fmt.Fprintf(c.OutOrStdout(),
				"%s has no leaderboard: no instance has the bound that gaps are measured from\n", dataset)
		}
	}
	if len(standings) == 0 {
		return nil
	}
	fmt.Fprintf(c.OutOrStdout(), "ranked are all results in %s, also of earlier runs\n", f.results)
	return leaderboard.WriteText(c.OutOrStdout(), standings, nil)
}
