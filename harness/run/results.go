package run

import (
	"fmt"
	"maps"
	"slices"

	"miglab/harness/store"
)

// Results looks up the outcome of cells in all of the store, other shards' included.
type Results struct {
	store *store.DB
	shard Shard
}

// Get returns a cell's row and whether there is one. Errors are those of [store.DB.Rows].
func (r Results) Get(c Cell) (store.Row, bool, error) {
	rows, err := r.store.Rows(c.Stored(c.Version), c.Instance, c.Instance+1)
	if err != nil || len(rows) == 0 {
		return store.Row{}, false, err
	}
	return rows[0], true, nil
}

// A Failure is cells that ended with an error of one kind.
type Failure struct {
	Kind  string
	Cells int
	// Errors are the first few that differ, each after the name of a cell that ended with it.
	Errors []string
}

// Failures returns what the cells of the engine's shard failed with, by kind. Errors are those of
// [store.DB.Rows].
func (r Results) Failures(cells []Cell) ([]Failure, error) {
	const few = 3
	byKind, seen := map[string]*Failure{}, map[[2]string]bool{}
	for span := range Spans(cells) {
		rows, err := r.store.Rows(span.Stored(), span.From, span.To)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if row.Kind == "" || !r.shard.holds(span.Series.Group(), row.Instance) {
				continue
			}
			f := byKind[row.Kind]
			if f == nil {
				f = &Failure{Kind: row.Kind}
				byKind[row.Kind] = f
			}
			f.Cells++
			if text := [2]string{row.Kind, row.Error}; !seen[text] && len(f.Errors) < few {
				seen[text] = true
				f.Errors = append(f.Errors, fmt.Sprintf("%v: %s", span.Cell(row.Instance), row.Error))
			}
		}
	}
	var out []Failure
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		out = append(out, *byKind[kind])
	}
	return out, nil
}

// Values returns a metric of instances first to first+n-1 of a series at the
// algorithm's present version. The first cell without it is an error. Other errors are those of
// [Series.Cells] and [store.DB.Rows].
func (r Results) Values(s Series, first, n int, metric string) ([]float64, error) {
	known, rows, err := r.part(s, first, n)
	if err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i := range out {
		ok := i < len(rows) && rows[i].Instance == first+i
		if ok {
			out[i], ok = rows[i].Metrics.Get(metric)
		}
		if !ok {
			return nil, r.why(Cell{known.series, known.algorithm.Spec.Version, first + i}, metric)
		}
	}
	return out, nil
}

// Microseconds returns how long the algorithm took on instances first to
// first+n-1 of a series. It is no result: it differs from run to run, and some may be unknown,
// which are left out. Errors are those of [Results.Values].
func (r Results) Microseconds(s Series, first, n int) ([]float64, error) {
	known, rows, err := r.part(s, first, n)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, n)
	for i := range n {
		if i < len(rows) && rows[i].Instance == first+i && rows[i].Micros > 0 {
			out = append(out, rows[i].Micros)
		} else if err := r.why(Cell{known.series, known.algorithm.Spec.Version, first + i}, ""); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// part reads the rows of those instances that have a result.
func (r Results) part(s Series, first, n int) (*resolved, []store.Row, error) {
	known, err := resolve(s)
	if err != nil {
		return known, nil, err
	}
	rows, err := r.store.Rows(known.series.Stored(known.algorithm.Spec.Version), first, first+n)
	return known, rows, err
}

// why says why a cell does not have a metric; nil if it has metrics and none is named.
func (r Results) why(c Cell, metric string) error {
	row, ok, err := r.Get(c)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("%v has no result; it was not run, or belongs to another shard", c)
	case row.Kind != "":
		return fmt.Errorf("%v: %s: %s", c, row.Kind, row.Error)
	case metric != "":
		return fmt.Errorf("%v has no metric %q", c, metric)
	}
	return nil
}
