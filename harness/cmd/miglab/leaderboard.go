package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

// boardFlags are the flags of leaderboard.
type boardFlags struct {
	conditions
	catalog                mig.Catalog
	format, results        string
	models, specs, columns []string
	algorithms             []string
	top                    int
}

func newLeaderboard() *cobra.Command {
	var f boardFlags
	c := &cobra.Command{
		Use:   "leaderboard",
		Short: "Say which algorithms lead in each track, or rank them dataset by dataset",
		RunE:  f.run,
	}
	f.register(c, &f.catalog, &f.results)
	f.addRankBy(c)
	cli.AddFlag(c, &f.format, "format", "text", cli.OneOf("format", reports.TableFormats),
		strings.Join(reports.TableFormats, ", "))
	cli.AddFolder(c, &f.results, "results", "results", "folder with the results")
	c.Flags().StringSliceVar(&f.models, "across", nil,
		"GPU models, separated by commas, in place of --gpu: one table of the places on each of them and of --datasets")
	c.Flags().StringSliceVar(&f.specs, "datasets", nil, "only these datasets, separated by commas")
	c.Flags().StringSliceVar(&f.algorithms, "algorithms", nil,
		"rank only these algorithms, separated by commas; by default, all with results")
	c.Flags().StringSliceVar(&f.columns, "columns", nil, "only these columns, in this order, separated by commas")
	cli.CheckArgs(c, f.parseAlgorithms)
	cli.AddFlag(c, &f.top, "top", "", cli.AtLeast(1),
		"only so many algorithms of each dataset, the best ones")
	for _, flag := range []string{"gpu", "columns", "top"} {
		c.MarkFlagsMutuallyExclusive("across", flag)
	}
	return c
}

// parseAlgorithms gives the algorithms the names that results have.
func (f *boardFlags) parseAlgorithms() error {
	for i, text := range f.algorithms {
		a, err := algo.Parse(text)
		if err != nil {
			return err
		}
		f.algorithms[i] = a.ID
	}
	return nil
}

func (f *boardFlags) run(c *cobra.Command, _ []string) error {
	if err := f.check(c); err != nil {
		return err
	}
	if f.models != nil && f.specs == nil {
		return errors.New("--across compares the places on --datasets; name some")
	}
	ids, err := datasetIDs(f.specs)
	if err != nil {
		return err
	}
	db, err := run.Open(f.results, &f.catalog)
	if err != nil {
		return err
	}
	defer db.Close()
	if f.models != nil {
		return f.across(c, db, ids)
	}
	if err := f.checkRankBy(); err != nil {
		return err
	}
	if c.Flags().NFlag() == 0 || c.Flags().NFlag() == 1 && c.Flags().Changed("results") {
		return f.summarize(c.OutOrStdout(), db)
	}
	ranking := f.leaderboard()
	ranking.Datasets, ranking.Algorithms = ids, f.algorithms
	standings, err := leaderboard.Standings(db, ranking)
	if err != nil {
		return rankingError(err)
	}
	if len(standings) == 0 {
		return fmt.Errorf("no results of the %s track on %s can be ranked in %s; make some, and their bounds, "+
			"with miglab run", f.track.Name, f.where(), db.Dir())
	}
	for _, id := range ids {
		if !slices.ContainsFunc(standings, func(s leaderboard.Standing) bool { return s.Dataset == id }) {
			return f.noResults(id, db)
		}
	}
	if f.top > 0 {
		standings = leaderboard.Top(standings, f.top)
	}
	return leaderboard.Encode(c.OutOrStdout(), f.format, standings, f.columns)
}

// fewBoards is the largest number of boards that are printed in place of a summary.
const fewBoards = 3

// leading is the number of algorithms of each track in a summary.
const leading = 5

// summarize prints the leading algorithms of each track on its usual GPU, or all boards if there are few.
func (f *boardFlags) summarize(w io.Writer, db *store.DB) error {
	var all [][]leaderboard.Standing
	boards := 0
	for _, name := range track.Names() {
		t := track.MustLookup(name)
		usual := conditions{track: t, gpu: mig.MustLookup(t.GPU), gpus: 1, model: mig.Sequential}
		ranking := usual.leaderboard()
		var err error
		if ranking.Datasets, err = leaderboard.Datasets(db, ranking); err != nil {
			return err
		}
		if len(ranking.Datasets) == 0 {
			continue
		}
		standings, err := leaderboard.Standings(db, ranking)
		if err != nil {
			return rankingError(err)
		}
		for range leaderboard.ByDataset(standings) {
			boards++
		}
		if len(standings) > 0 {
			all = append(all, standings)
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("no results of a track on its usual GPU can be ranked in %s; make some, and their bounds, "+
			"with miglab run, or name --track and --gpu", db.Dir())
	}
	if boards <= fewBoards {
		for i, standings := range all {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := leaderboard.WriteText(w, standings, nil); err != nil {
				return err
			}
		}
		return nil
	}
	t, err := leaderboard.Summary(all, leading)
	if err != nil {
		return err
	}
	t.Notes = append(t.Notes,
		"miglab leaderboard --track batch prints the boards of a track, and --datasets some of them.")
	return t.TextWithin(w, cli.TerminalWidth(w))
}

// datasetIDs returns the canonical names of datasets; nil without datasets.
func datasetIDs(specs []string) (ids []string, err error) {
	for _, text := range specs {
		dataset, err := datasets.Parse(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, dataset.ID())
	}
	return ids, nil
}

// noResults returns the error for a dataset without a board.
func (f *boardFlags) noResults(dataset string, db *store.DB) error {
	return fmt.Errorf("no results on %s, %s can be ranked in %s; make some with miglab run", dataset, f.where(),
		db.Dir())
}

// across prints the places of the algorithms on several GPU models and datasets.
func (f *boardFlags) across(c *cobra.Command, db *store.DB, ids []string) (err error) {
	var out leaderboard.Across
	for _, model := range f.models {
		if f.gpu, err = f.catalog.LookupOrRead(model); err != nil {
			return fmt.Errorf("--across %s: %w", model, err)
		}
		if err := f.checkRankBy(); err != nil {
			return err
		}
		for _, id := range ids {
			ranking := f.leaderboard()
			ranking.Datasets, ranking.Algorithms = []string{id}, f.algorithms
			standings, err := leaderboard.Standings(db, ranking)
			if err != nil {
				return rankingError(err)
			}
			if len(standings) == 0 {
				return f.noResults(id, db)
			}
			out = append(out, standings)
		}
	}
	table := out.Table()
	return table.Encode(c.OutOrStdout(), f.format)
}

// rankingError returns a schedule that beats a certified bound as a failed check: the bound or the referee is wrong,
// not the user.
func rankingError(err error) error {
	if _, ok := errors.AsType[*leaderboard.BoundError](err); ok {
		return cli.FailedError{Err: err}
	}
	return err
}
