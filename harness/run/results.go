package run

import (
	"fmt"
	"sync"

	"miglab/harness/store"
)

// Results looks up what became of cells. It sees all of the store, that is, other
// shards' results too, as far as they were there when the store was opened.
type Results struct {
	store   *store.Store
	timings func() (map[store.Key]store.Microseconds, error)
}

func newResults(s *store.Store) Results { return Results{s, sync.OnceValues(s.Timings)} }

// MissingError says that a cell has no result yet.
type MissingError struct {
	Cell Cell
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%v has no result; it was not run, or belongs to another shard", e.Cell)
}

// RowError says that a cell's result is an error, so that there is nothing to
// measure.
type RowError struct {
	Cell Cell
	// Kind and Text are the row's.
	Kind, Text string
}

func (e *RowError) Error() string { return fmt.Sprintf("%v: %s: %s", e.Cell, e.Kind, e.Text) }

// MetricError says that a cell's result has no metric of a name.
type MetricError struct {
	Cell   Cell
	Metric string
}

func (e *MetricError) Error() string {
	return fmt.Sprintf("%v has no metric %q", e.Cell, e.Metric)
}

// Get returns a cell's row and whether there is one.
func (r Results) Get(c Cell) (store.Row, bool) { return r.store.Get(c.Key()) }

// Values returns a metric of instances first to first+n-1 of a series at the
// algorithm's present version. The first cell without it is the error: a [*MissingError], a
// [*RowError] or a [*MetricError]. Other errors are those of [Series.Cells].
func (r Results) Values(s Series, first, n int, metric string) ([]float64, error) {
	out := make([]float64, 0, n)
	err := r.each(s, first, n, func(c Cell, _ store.Key, row store.Row) error {
		v, ok := row.Metrics.Get(metric)
		if !ok {
			return &MetricError{c, metric}
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// Microseconds returns how long the algorithm took on instances first to
// first+n-1 of a series. It is no result: it differs from run to run, and a power cut may have
// lost some, which are left out. Errors are those of [Results.Values] and
// [store.Store.Timings]. Timings are read once, at the first call.
func (r Results) Microseconds(s Series, first, n int) ([]store.Microseconds, error) {
	timings, err := r.timings()
	if err != nil {
		return nil, err
	}
	var out []store.Microseconds
	err = r.each(s, first, n, func(_ Cell, k store.Key, _ store.Row) error {
		if us, ok := timings[k]; ok {
			out = append(out, us)
		}
		return nil
	})
	return out, err
}

// each hands over the rows of instances first to first+n-1, up to the first that is missing
// or an error.
func (r Results) each(s Series, first, n int, use func(Cell, store.Key, store.Row) error) error {
	known, err := resolve(s)
	if err != nil {
		return err
	}
	version := known.algorithm.Spec.Version
	json := known.series.appendJSON(nil)
	var buf []byte
	for i := first; i < first+n; i++ {
		buf = appendCell(append(buf[:0], json...), version, i)
		key := store.KeyOf(buf)
		c := Cell{known.series, version, i}
		row, ok := r.store.Get(key)
		if !ok {
			return &MissingError{c}
		}
		if row.Kind != "" {
			return &RowError{c, row.Kind, row.Error}
		}
		if err := use(c, key, row); err != nil {
			return err
		}
	}
	return nil
}
