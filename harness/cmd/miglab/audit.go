package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/reports"
)

func newAudit() *cobra.Command {
	var results string
	var workers int
	c := &cobra.Command{
		Use:   "audit",
		Short: "Compare every schedule in the result store with the certified bound of its instance",
		Long: "audit computes the certified bound of every batch and stream in the store, where it is not there yet, and checks\n" +
			"that no makespan lies below: exit code 1 if one does, as then a bound or the referee is wrong. With all bounds\n" +
			"there, every batch and stream has a leaderboard. It can be interrupted; the same command goes on where it was.",
		Example: "  miglab audit\n  miglab audit --results results/quick",
		RunE: func(c *cobra.Command, _ []string) error {
			if workers < 0 {
				return fmt.Errorf("--workers %d: at least 0", workers)
			}
			st, err := store.Open(filepath.Join(results, "store"))
			if err != nil {
				return err
			}
			progress := newProgress(c.ErrOrStderr(), "bounds")
			defer progress.done()
			found, err := audit(c.Context(), &run.Engine{Store: st, Workers: workers, Progress: progress.set})
			if err != nil {
				return rankingError(err)
			}
			progress.done()
			fmt.Fprintf(c.OutOrStdout(), "ok: %d schedules of %d instances, none below its certified bound\n", found.schedules, found.instances)
			if found.passedOver > 0 {
				fmt.Fprintf(c.OutOrStdout(), "%d results are of datasets that have changed or are gone, and were passed over\n", found.passedOver)
			}
			return nil
		},
	}
	c.Flags().StringVar(&results, "results", "results", "folder with the results")
	c.Flags().IntVar(&workers, "workers", 0, "bounds computed at a time; 0 means one a processor")
	return c
}

// audited is what became of an audit.
type audited struct {
	// schedules is how many were compared with the bound of their instance, and instances
	// of how many.
	schedules, instances int
	// passed over are results of datasets that have changed or are not there any more.
	passedOver int
}

// audit computes the certified bound of every batch and stream in the engine's store,
// where it is not there yet, and compares all makespans with it. The first that lies below
// is the error, a [*reports.BoundError].
func audit(ctx context.Context, e *run.Engine) (audited, error) {
	type problem struct {
		series   run.Series // of the bound
		instance int
	}
	type answer struct {
		algorithm string
		version   int
		makespan  float64
	}
	var found audited
	answers := map[problem][]answer{}
	canonical := map[run.Series]run.Series{}
	for row := range e.Store.Rows() {
		var cell storedCell
		if err := json.Unmarshal([]byte(row.Cell), &cell); err != nil {
			return found, fmt.Errorf("cell %s: %w", row.Cell, err)
		}
		makespan, ok := row.Metrics.Get(run.MetricMakespan)
		if !ok || cell.Track != algo.TrackBatch && cell.Track != algo.TrackStream {
			continue
		}
		model, err := mig.ParseReconfiguration(cell.Model)
		if err != nil {
			return found, fmt.Errorf("cell %s: %w", row.Cell, err)
		}
		of := run.Series{Track: algo.TrackBound, Dataset: cell.Dataset, GPU: cell.GPU, Count: cell.Count, Model: model, Algorithm: certified.algorithm}
		s, ok := canonical[of]
		if !ok {
			// It is an error where the dataset is unknown by now, or its file is gone.
			s, _ = of.Canonical()
			canonical[of] = s
		}
		if s.Content != cell.Content {
			found.passedOver++
			continue
		}
		p := problem{s, cell.Instance}
		answers[p] = append(answers[p], answer{cell.Algorithm, cell.Version, makespan})
	}
	if len(answers) == 0 {
		return found, fmt.Errorf("no batches or streams in %s; run some with miglab run or miglab reproduce", e.Store.Dir())
	}

	last := map[run.Series]int{}
	for p := range answers {
		last[p.series] = max(last[p.series], p.instance)
	}
	problems := slices.SortedFunc(maps.Keys(answers), func(a, b problem) int {
		x, y := a.series, b.series
		if d := strings.Compare(x.Dataset+" "+x.GPU+" "+x.Model.String(), y.Dataset+" "+y.GPU+" "+y.Model.String()); d != 0 {
			return d
		}
		return (x.Count-y.Count)<<32 + a.instance - b.instance
	})
	all := map[run.Series][]run.Cell{}
	for _, p := range problems { // in order, so that of several errors it is always the same one
		if all[p.series] != nil {
			continue
		}
		cells, err := p.series.Cells(last[p.series] + 1)
		if err != nil {
			return found, err
		}
		all[p.series] = cells
	}
	cells := make([]run.Cell, len(problems))
	for i, p := range problems {
		cells[i] = all[p.series][p.instance]
	}
	r, err := e.Run(ctx, cells)
	if err != nil {
		return found, err
	}
	for i, p := range problems {
		row, ok := r.Get(cells[i])
		bound, has := row.Metrics.Get(run.MetricBound)
		if !ok || !has {
			return found, fmt.Errorf("%v has no bound: %s %s", cells[i], row.Kind, row.Error)
		}
		found.instances++
		for _, a := range answers[p] {
			found.schedules++
			if a.makespan < bound*(1-1e-9) {
				c := cells[i]
				return found, &reports.BoundError{Metric: run.MetricMakespan, Entry: reports.Entry{
					Dataset: c.Dataset, GPU: c.GPU, Model: c.Model.String(), Algorithm: a.algorithm, Version: a.version,
					Content: c.Content, Instance: c.Instance, Value: a.makespan, Bound: bound,
				}}
			}
		}
	}
	return found, nil
}
