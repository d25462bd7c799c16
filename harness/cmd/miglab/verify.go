package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
)

// verification are the flags of verify, and what it has found.
type verification struct {
	results, algorithm string
	instances, workers int
	partial            bool
	// seed is what the instances are drawn from.
	seed uint64

	// total is how many cells the series have; cells are those that are computed again, and rows what
	// the database has of them.
	total int
	cells []run.Cell
	rows  []store.Row
	// different are cells, and the others series: those that cannot be computed here, and those that
	// lack instances.
	different, cannot, lacking []string
}

func newVerify() *cobra.Command {
	v := new(verification)
	c := &cobra.Command{
		Use:   "verify",
		Short: "Compute results again, and say whether they are the same",
		Long: `verify computes cells of a results database again, in a database of its own, and compares them: every metric
must be the same number, and a cell that failed must fail again. It draws the instances of each algorithm on each
dataset at random: nobody can foresee which, and --seed draws the same again. The results are those of somebody
else, for example, who wants to be on a leaderboard. Exit code 1 means that a result is different, that this
program or the files beside it cannot compute it, or that a series lacks instances: each should have all from 0 to
the largest that the results have of its dataset, lest somebody leaves out what does not suit. --partial accepts
that, as in results of reproduce, where some artefacts need few instances.`,
		Example: `  miglab verify --results submission
  miglab verify --results submission --algorithm 'exec:python3 mine.py' --instances 0`,
		RunE: v.run,
	}
	c.Flags().StringVar(&v.results, "results", "results", "folder with the results")
	c.Flags().StringVar(&v.algorithm, "algorithm", "", "only this algorithm")
	completeFlag(c, "algorithm", algo.Complete)
	addFlag(c, &v.instances, "instances", "5", atLeast(0), "instances of each series; 0 means all")
	addFlag(c, &v.seed, "seed", "", func(text string) (uint64, error) {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			err = fmt.Errorf("not a whole number from 0 to %d", uint64(math.MaxUint64))
		}
		return seed, err
	}, "seed that the instances are drawn from (default: another one each time)")
	c.Flags().BoolVar(&v.partial, "partial", false, "accept series that lack instances")
	addFlag(c, &v.workers, "workers", "0", atLeast(0), "cells computed at a time; 0 means one a processor")
	return c
}

func (v *verification) run(c *cobra.Command, _ []string) error {
	if !c.Flags().Changed("seed") {
		v.seed = rand.Uint64()
	}
	db, err := run.Open(v.results)
	if err != nil {
		return err
	}
	defer db.Close()
	if a, err := algo.Parse(v.algorithm); err == nil {
		v.algorithm = a.ID
	}
	all, err := v.complete(db)
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
	for _, line := range slices.Concat(v.different, v.cannot, v.lacking) {
		fmt.Fprintln(c.OutOrStdout(), line)
	}
	again := ""
	if len(v.cells) < v.total {
		again = fmt.Sprintf("; --seed %d takes these cells again", v.seed)
	}
	if len(v.different)+len(v.cannot)+len(v.lacking) > 0 {
		return failedError{fmt.Errorf("%d of %d cells that were computed again are different, of %d cells of %d series; "+
			"%d series cannot be computed here and %d lack instances%s",
			len(v.different), len(v.cells), v.total, len(all), len(v.cannot), len(v.lacking), again)}
	}
	fmt.Fprintf(c.OutOrStdout(), "ok: %d of %d cells of %d series were computed again and are the same%s\n",
		len(v.cells), v.total, len(all), again)
	return nil
}

// complete returns the series to verify and notes which of them lack instances.
func (v *verification) complete(db *store.DB) (out []store.Series, err error) {
	all, err := db.Series(store.Filter{})
	if err != nil {
		return nil, err
	}
	instances, ends := make([][]int, len(all)), map[store.Series]int{}
	for i, s := range all {
		if instances[i], err = db.Instances(s, math.MinInt); err != nil {
			return nil, err
		}
		ends[datasetOf(s)] = max(ends[datasetOf(s)], instances[i][len(instances[i])-1]+1)
	}
	for i, s := range all {
		if v.algorithm != "" && s.Algorithm != v.algorithm {
			continue
		}
		out = append(out, s)
		have, end := instances[i], ends[datasetOf(s)]
		v.total += len(have)
		if have[0] < 0 {
			return nil, failedError{fmt.Errorf("%v has instance %d; instances count from 0, so miglab run did not write it",
				s, have[0])}
		}
		_, err := track.Parse(s.Track)
		if n := end - len(have); n > 0 && err == nil && !v.partial { // bounds may be of some instances only
			v.lacking = append(v.lacking, fmt.Sprintf("%v lacks %d of the instances 0 to %d that the results have of this "+
				"dataset: %s; miglab run computes them", s, n, end-1, gaps(have, end)))
		}
	}
	return out, nil
}

// gaps lists the numbers from 0 to end-1 that are not among ascending ones: 0, 3-4, 7.
func gaps(have []int, end int) string {
	var out []string
	next := 0
	for _, n := range append(have, end) {
		switch n - next {
		case 0:
		case 1:
			out = append(out, strconv.Itoa(next))
		default:
			out = append(out, fmt.Sprintf("%d-%d", next, n-1))
		}
		next = n + 1
	}
	return strings.Join(out, ", ")
}

// datasetOf is what the series of a dataset under the same conditions have in common.
func datasetOf(s store.Series) store.Series {
	s.Algorithm, s.Version, s.Weights = "", 0, ""
	return s
}

// add puts some rows of a series on the list, or notes why they cannot be computed here.
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
	if v.instances > 0 && v.instances < len(rows) {
		name := fnv.New64a()
		fmt.Fprintf(name, "%+v", s)
		rand.New(rand.NewPCG(v.seed, name.Sum64())).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		rows = rows[:v.instances]
		slices.SortFunc(rows, func(a, b store.Row) int { return a.Instance - b.Instance })
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
			v.different = append(v.different,
				fmt.Sprintf("%v: %s in the results, %s when computed again", cell, wording(was), wording(&row)))
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
