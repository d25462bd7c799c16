package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
)

// verification are the flags of verify, and what it has found.
type verification struct {
	results, algorithm string
	instances, workers int

	cells     []run.Cell
	rows      []store.Row
	cannot    []string
	different []string
}

func newVerify() *cobra.Command {
	v := new(verification)
	c := &cobra.Command{
		Use:   "verify",
		Short: "Compute results again, and say whether they are the same",
		Long: "verify computes cells of a results database again, in a database of its own, and compares them: every metric\n" +
			"must be the same number, and a cell that failed must fail again. It takes the first instances of each algorithm\n" +
			"on each dataset. The results are those of somebody else, for example, who wants to be on a leaderboard. Exit code\n" +
			"1 means that a result is different, or that this program or the files beside it cannot compute it.",
		Example: "  miglab verify --results submission\n" +
			"  miglab verify --results submission --algorithm 'exec:python3 mine.py' --instances 0",
		RunE: v.run,
	}
	c.Flags().StringVar(&v.results, "results", "results", "folder with the results")
	c.Flags().StringVar(&v.algorithm, "algorithm", "", "only this algorithm")
	completeFlag(c, "algorithm", algo.Complete)
	addFlag(c, &v.instances, "instances", "5", atLeast(0), "instances of each series; 0 means all")
	addFlag(c, &v.workers, "workers", "0", atLeast(0), "cells computed at a time; 0 means one a processor")
	return c
}

func (v *verification) run(c *cobra.Command, _ []string) error {
	db, err := store.Open(v.results)
	if err != nil {
		return err
	}
	defer db.Close()
	if a, err := algo.Parse(v.algorithm); err == nil {
		v.algorithm = a.ID
	}
	all, err := db.Series(store.Filter{Algorithm: v.algorithm})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s has no results to verify; miglab export --results %[1]s shows what it has", v.results)
	}
	for _, s := range all {
		if err := v.add(db, s); err != nil {
			return err
		}
	}
	if err := v.compare(c); err != nil {
		return err
	}
	for _, line := range slices.Concat(v.different, v.cannot) {
		fmt.Fprintln(c.OutOrStdout(), line)
	}
	if len(v.different)+len(v.cannot) > 0 {
		return failedError{fmt.Errorf("%d of %d cells are different, and %d series cannot be computed here", len(v.different), len(v.cells), len(v.cannot))}
	}
	fmt.Fprintf(c.OutOrStdout(), "ok: %d cells of %d series are the same\n", len(v.cells), len(all))
	return nil
}

// add puts the first rows of a series on the list, or notes why they cannot be computed here.
func (v *verification) add(db *store.DB, s store.Series) error {
	cells, err := presentCells(s)
	if err != nil {
		v.cannot = append(v.cannot, fmt.Sprintf("%v: %v", s, err))
		return nil
	}
	rows, err := db.Rows(s, 0, math.MaxInt)
	if err != nil {
		return err
	}
	if v.instances > 0 {
		rows = rows[:min(v.instances, len(rows))]
	}
	for _, r := range rows {
		cell := cells
		cell.Instance = r.Instance
		v.cells, v.rows = append(v.cells, cell), append(v.rows, r)
	}
	return nil
}

// presentCells returns the first cell of the series as this program has it, or says how it differs.
func presentCells(s store.Series) (none run.Cell, err error) {
	model, err := mig.ParseReconfiguration(s.Model)
	if err != nil {
		return none, err
	}
	now, err := run.Series{
		Track: algo.Track(s.Track), Dataset: s.Dataset, GPU: s.GPU, Count: s.Count, Model: model, Algorithm: s.Algorithm,
	}.Cells(1)
	if err != nil {
		return none, err
	}
	switch present := now[0].Stored(now[0].Version); {
	case present.Version != s.Version:
		return none, fmt.Errorf("the algorithm has version %d here", present.Version)
	case present.Weights != s.Weights:
		return none, errors.New("the program or its weights are different here")
	case present != s:
		return none, errors.New("the dataset or the GPU's model is different here")
	}
	return now[0], nil
}

// compare computes the cells again and notes which are different.
func (v *verification) compare(c *cobra.Command) error {
	dir, err := os.MkdirTemp("", "miglab-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh, err := store.Open(dir)
	if err != nil {
		return err
	}
	defer fresh.Close()
	progress := newProgress(c.ErrOrStderr(), "cells")
	e := run.Engine{Store: fresh, Workers: v.workers, Progress: progress.set}
	again, err := e.Run(c.Context(), v.cells)
	progress.done()
	if errors.Is(err, context.Canceled) {
		return interruptedError{"nothing was written"}
	}
	if err != nil {
		return err
	}
	for i, cell := range v.cells {
		row, _, err := again.Get(cell)
		if err != nil {
			return err
		}
		if was := &v.rows[i]; row.Kind != was.Kind || row.Metrics != was.Metrics {
			v.different = append(v.different, fmt.Sprintf("%v: %s in the results, %s when computed again", cell, wording(was), wording(&row)))
		}
	}
	return nil
}

// wording words a row.
func wording(r *store.Row) string {
	if r.Kind != "" {
		return r.Kind + " (" + r.Error + ")"
	}
	return r.Metrics.String()
}
