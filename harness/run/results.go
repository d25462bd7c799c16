package run

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"miglab/harness/store"
)

// A Failure is cells that ended with an error of one kind.
type Failure struct {
	Kind  string
	Cells int
	// Errors are the first few that differ, each after the name of a cell that ended with it.
	Errors []string
}

// Failures returns what the cells of the engine's shard failed with, by kind. Errors are those of
// [store.DB.Rows].
func (e *Engine) Failures(spans []Span) (out []Failure, err error) {
	const few = 3
	seen := map[[2]string]bool{}
	for row, span := range e.rows(spans, &err) {
		if row.Kind == "" || !span.Has(row.Instance) || !e.Shard.holds(span.Series, row.Instance) {
			continue
		}
		i, ok := slices.BinarySearchFunc(out, row.Kind, func(f Failure, kind string) int {
			return cmp.Compare(f.Kind, kind)
		})
		if !ok {
			out = slices.Insert(out, i, Failure{Kind: row.Kind})
		}
		f := &out[i]
		f.Cells++
		if text := [2]string{row.Kind, row.Error}; !seen[text] && len(f.Errors) < few {
			seen[text] = true
			f.Errors = append(f.Errors, fmt.Sprintf("%v, instance %d: %s", span.Series, row.Instance, row.Error))
		}
	}
	return out, err
}

// rows yields the rows of spans until there is an error.
func (e *Engine) rows(spans []Span, err *error) iter.Seq2[store.Row, Span] {
	return func(yield func(store.Row, Span) bool) {
		for _, span := range spans {
			var rows []store.Row
			if rows, *err = e.Store.Rows(span.Series, span.From, span.To); *err != nil {
				return
			}
			for _, row := range rows {
				if !yield(row, span) {
					return
				}
			}
		}
	}
}

// Values returns a metric of each instance. The first cell without it is an error. Other errors are
// those of [store.DB.Rows].
func (s Span) Values(db *store.DB, metric string) ([]float64, error) {
	out := make([]float64, 0, s.To-s.From)
	err := s.eachRow(db, func(row *store.Row) error {
		v, ok := row.Metrics.Get(metric)
		if !ok {
			return fmt.Errorf("%v, instance %d, has no metric %q", s.Series, row.Instance, metric)
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// Microseconds returns how long the algorithm took on the instances. It is not a result: it differs
// from run to run. Unknown times are left out. Errors are those of [Span.Values].
func (s Span) Microseconds(db *store.DB) (out []float64, err error) {
	err = s.eachRow(db, func(row *store.Row) error {
		if row.Micros > 0 {
			out = append(out, row.Micros)
		}
		return nil
	})
	return out, err
}

// eachRow calls a function for the row of each instance. A cell without metrics is an error.
func (s Span) eachRow(db *store.DB, use func(*store.Row) error) error {
	rows, err := db.Rows(s.Series, s.From, s.To)
	if err != nil {
		return err
	}
	for i := range s.To - s.From {
		switch {
		case i >= len(rows) || rows[i].Instance != s.From+i:
			return fmt.Errorf("%v, instance %d, has no result; it was not run, or belongs to another shard",
				s.Series, s.From+i)
		case rows[i].Kind != "":
			return fmt.Errorf("%v, instance %d: %s: %s", s.Series, s.From+i, rows[i].Kind, rows[i].Error)
		}
		if err := use(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}
