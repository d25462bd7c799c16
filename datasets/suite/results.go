package suite

import (
	"context"
	"fmt"
	"math"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
	"miglab/harness/work"
)

// Cell returns the cell of an algorithm on an instance.
func (in *Instance) Cell(algorithm string) (run.Span, error) { return in.cell(in.Track, algorithm) }

func (in *Instance) cell(track, algorithm string) (run.Span, error) {
	t, err := run.Resolve(new(mig.Catalog), store.Series{
		Track: track, Dataset: in.Dataset, GPU: in.GPU, Count: in.GPUs, Model: in.Model, Algorithm: algorithm,
	})
	if err != nil {
		return run.Span{}, err
	}
	return t.Span(in.Index, in.Index+1)
}

// bound returns the cell of the proven bound with which the track's board compares results, and its metric. The metric
// is "" if the board compares with no bound, or with the result of an algorithm, which proves nothing.
func (in *Instance) bound() (cell run.Span, metric string, err error) {
	t := track.MustLookup(in.Track)
	bound := t.Boards[t.BoardOf(datasets.RegimeOf(in.Dataset), "")].Bound
	if bound.Track == "" || bound.Track == in.Track {
		return cell, "", nil
	}
	cell, err = in.cell(bound.Track, bound.Algorithm)
	return cell, bound.Metric, err
}

// A MissingError says that the database has no result of a cell.
type MissingError struct {
	Series   store.Series
	Instance int
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%v, instance %d, has no result; miglab suite run computes it", e.Series, e.Instance)
}

// readRow returns the row of a cell, or a [*MissingError].
func readRow(db *store.DB, cell run.Span) (store.Row, error) {
	rows, err := db.Rows(cell.Series, cell.From, cell.To)
	if err != nil {
		return store.Row{}, err
	}
	if len(rows) == 0 {
		return store.Row{}, &MissingError{Series: cell.Series, Instance: cell.From}
	}
	return rows[0], nil
}

// result returns the result of an algorithm on an instance, and the bound that is computed beside it; 0 if the track
// has none.
func (in *Instance) result(db *store.DB, algorithm string) (value, bound float64, err error) {
	cell, err := in.Cell(algorithm)
	if err != nil {
		return 0, 0, err
	}
	row, err := readRow(db, cell)
	if err != nil {
		return 0, 0, err
	}
	value, ok := row.Metrics.Get(in.Metric())
	if !ok {
		return 0, 0, fmt.Errorf("%s has no result of %s: %s", in.ID, algorithm, row.Error)
	}
	cell, metric, err := in.bound()
	if err != nil || metric == "" {
		return value, 0, err
	}
	if row, err = readRow(db, cell); err != nil {
		return value, 0, err
	}
	if bound, ok = row.Metrics.Get(metric); !ok {
		return value, 0, fmt.Errorf("%s has no bound: %s", in.ID, row.Error)
	}
	return value, bound, nil
}

// Check verifies the best known results and bounds of all instances ([Archive.Verify]). The engine first computes the
// results and bounds that no schedule in the archive shows.
func (a *Archive) Check(ctx context.Context, e *run.Engine) error {
	var cells []run.Span
	for i := range a.Instances {
		in := &a.Instances[i]
		if in.isBatch() {
			continue
		}
		cell, err := in.Cell(a.Best[i].Algorithm)
		if err != nil {
			return err
		}
		cells = append(cells, cell)
		bound, metric, err := in.bound()
		if err != nil {
			return err
		}
		if metric != "" {
			cells = append(cells, bound)
		}
	}
	if err := e.Run(ctx, cells); err != nil {
		return err
	}
	return work.Each(ctx, 0, len(a.Instances), func(ctx context.Context, i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return a.Verify(a.Instances[i].ID, e.Store)
	})
}

// A Result is the result of an algorithm for an instance.
type Result struct {
	*Instance
	Known *Best
	// Value is the metric of the objective. Solved is false if the algorithm failed on the instance.
	Value  float64
	Solved bool
}

// Results returns the results of an algorithm. cells has its cells on all instances of one track, in their order.
// Results returns a [*MissingError] if the database lacks one of them.
func (a *Archive) Results(db *store.DB, cells []run.Span) ([]Result, error) {
	out := make([]Result, 0, len(cells))
	for i := range a.Instances {
		in := &a.Instances[i]
		if in.Track != cells[0].Series.Track {
			continue
		}
		row, err := readRow(db, cells[len(out)])
		if err != nil {
			return nil, err
		}
		r := Result{Instance: in, Known: &a.Best[i]}
		r.Value, r.Solved = row.Metrics.Get(in.Metric())
		out = append(out, r)
	}
	return out, nil
}

// FromBest returns the [Instance.Excess] of a result to the best known one; +Inf if the algorithm failed.
func (r *Result) FromBest() float64 {
	if !r.Solved {
		return math.Inf(1)
	}
	return r.Excess(r.Value, r.Known.Value)
}
