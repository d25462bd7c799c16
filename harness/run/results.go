package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/store"
)

// Open opens a folder as [store.Open] does and adds the GPU models of its results to a catalog. It is an error if the
// catalog already has a different model of the same name; the error names both files.
func Open(dir string, models *mig.Catalog) (*store.DB, error) {
	db, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	kept, err := db.Models()
	for _, model := range kept {
		if _, err = models.Parse([]byte(model.JSON), model.File); err != nil {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// A Failure counts the cells that ended with an error of one kind.
type Failure struct {
	Kind   string
	Cells  int
	Errors []string // the first few different texts, each after the name of its first cell
}

// Failures returns the errors of the cells of the engine's shard, grouped and sorted by kind. It passes on the
// errors of [store.DB.Rows].
func (e *Engine) Failures(spans []Span) (out []Failure, err error) {
	const few = 3
	seen := map[[2]string]bool{} // by kind and text
	for _, span := range spans {
		rows, err := e.Store.Rows(span.Series, span.From, span.To)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
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
			text := [2]string{row.Kind, row.Error}
			if !seen[text] && len(f.Errors) < few {
				seen[text] = true
				f.Errors = append(f.Errors, fmt.Sprintf("%v, instance %d: %s", span.Series, row.Instance, row.Error))
			}
		}
	}
	return out, nil
}

// Values returns a metric of each instance. It returns an error for the first cell without the metric, and passes
// on the errors of [store.DB.Rows].
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

// Microseconds returns the algorithm's times on the instances, except times that were not measured. They are not
// results: they differ from run to run. A cell without a result is an error, as in [Span.Values].
func (s Span) Microseconds(db *store.DB) (out []float64, err error) {
	err = s.eachRow(db, func(row *store.Row) error {
		if row.Micros > 0 {
			out = append(out, row.Micros)
		}
		return nil
	})
	return out, err
}

// eachRow calls a function for the row of each instance. A cell that was not run or that failed is an error.
func (s Span) eachRow(db *store.DB, use func(*store.Row) error) error {
	rows, err := db.Rows(s.Series, s.From, s.To)
	if err != nil {
		return err
	}
	for i := s.From; i < s.To; i++ {
		if !s.Has(i) {
			continue
		}
		k, ok := slices.BinarySearchFunc(rows, i, func(r store.Row, i int) int { return cmp.Compare(r.Instance, i) })
		switch {
		case !ok:
			return fmt.Errorf("%v, instance %d, has no result; it was not run, or belongs to another shard",
				s.Series, i)
		case rows[k].Kind != "":
			return fmt.Errorf("%v, instance %d: %s: %s", s.Series, i, rows[k].Kind, rows[k].Error)
		}
		if err := use(&rows[k]); err != nil {
			return err
		}
	}
	return nil
}
